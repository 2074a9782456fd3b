// The run page. It shows the state it receives, and sends which button was pressed.
import type {
  RunPageDownload,
  RunPageEntry,
  RunPageFact,
  RunPageFile,
  RunPageHeading,
  RunPageMemory,
  RunPageRequest,
  RunPageSection,
  RunPageState,
} from '../../src/ui/runs/protocol.ts';
import { Client } from '../shared/client.ts';
import { drawButton, drawButtons, drawNote, drawSection, drawTop, showDocument } from '../shared/document.ts';
import { element } from '../shared/dom.ts';

function drawPage({ heading, notices, actions, sections, actionsName }: RunPageState): HTMLElement[] {
  const drawn = sections.map((one) => drawSection(one.key, one.title, drawContent(one), one.kind));
  return [
    drawHeading(heading),
    ...drawTop(actionsName, actions, notices),
    element('div', { class: 'sections', attributes: { 'data-key': 'sections' } }, drawn),
  ];
}

function drawHeading({ title, phase, status, lines }: RunPageHeading): HTMLElement {
  return element('header', { attributes: { 'data-key': 'heading' } }, [
    element('h1', { text: title }),
    // Announced when it changes.
    element('p', { class: `status ${phase}`, text: status, attributes: { role: 'status' } }),
    ...lines.map(drawNote),
  ]);
}

function drawContent(section: RunPageSection): HTMLElement[] {
  switch (section.kind) {
    case 'timeline':
      return [element('ol', {}, section.entries.map(drawEntry))];
    case 'facts':
      return [drawFacts(section.facts), ...(section.note === undefined ? [] : [drawNote(section.note)])];
    case 'adapter':
      return [
        element('p', { text: section.text }),
        ...(section.facts.length === 0 ? [] : [drawFacts(section.facts)]),
        ...section.downloads.map(drawDownload),
        ...section.files.map(drawFile),
      ];
  }
}

function drawEntry({ key, state, name, when, iso, notes }: RunPageEntry): HTMLElement {
  return element('li', { class: state, attributes: { 'data-key': key } }, [
    element('span', { class: 'name', text: name }),
    iso === undefined
      ? element('span', { text: when })
      : element('time', { text: when, attributes: { datetime: iso } }),
    ...notes.map((text) => element('span', { class: 'note', text })),
  ]);
}

function drawFacts(facts: readonly RunPageFact[]): HTMLElement {
  return element('dl', {}, facts.flatMap(drawFact));
}

function drawFact({ key, name, value, buttons }: RunPageFact): HTMLElement[] {
  return [
    element('dt', { text: name, attributes: { 'data-key': `name ${key}` } }),
    element('dd', { attributes: { 'data-key': `value ${key}` } }, [
      element('span', { text: value }),
      ...buttons.flatMap((one) => [element('span', { class: 'gap' }), drawButton(one, 'link')]),
    ]),
  ];
}

function drawDownload({ key, name, text, fraction, isBusy, buttons }: RunPageDownload): HTMLElement {
  const attributes = { max: '1', value: fraction?.toString(), 'aria-label': name };
  return element('div', { class: 'file', attributes: { 'data-key': `download ${key}` } }, [
    element('p', { class: 'name', text: name }),
    ...(isBusy || fraction !== undefined ? [element('progress', { attributes })] : []),
    drawNote(text),
    drawButtons(buttons),
  ]);
}

function drawFile({ key, name, lines, path, isGone, buttons }: RunPageFile): HTMLElement {
  const attributes = { 'data-key': `file ${key}`, 'data-gone': isGone ? '' : undefined };
  return element('div', { class: 'file', attributes }, [
    element('p', { class: 'name', text: name }),
    element('p', { class: 'path', text: path }),
    ...lines.map(drawNote),
    drawButtons(buttons),
  ]);
}

showDocument(
  new Client<{ message: RunPageState; request: RunPageRequest; memory: RunPageMemory }>(),
  drawPage,
);
