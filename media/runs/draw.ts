import type {
  RunPageButton,
  RunPageDownload,
  RunPageEntry,
  RunPageFact,
  RunPageFile,
  RunPageHeading,
  RunPageNotice,
  RunPageSection,
  RunPageState,
} from '../../src/ui/runs/protocol.ts';
import { copyButton, element, icon } from '../shared/dom.ts';

/** Draws the whole page. */
export function drawPage({ heading, notices, actions, sections, actionsName }: RunPageState): HTMLElement[] {
  const group = { 'data-key': 'actions', role: 'group', 'aria-label': actionsName };
  return [
    drawHeading(heading),
    element(
      'div',
      { class: 'actions', attributes: group },
      actions.map((one) => drawButton(one)),
    ),
    // Below the buttons, which would move when a notice comes or goes.
    element('div', { class: 'notices', attributes: { 'data-key': 'notices' } }, notices.map(drawNotice)),
    element('div', { class: 'sections', attributes: { 'data-key': 'sections' } }, sections.map(drawSection)),
  ];
}

function drawHeading({ title, phase, status, lines }: RunPageHeading): HTMLElement {
  return element('header', { attributes: { 'data-key': 'heading' } }, [
    element('h1', { text: title }),
    // Announced when it changes; nothing else is.
    element('p', { class: `status ${phase}`, text: status, attributes: { role: 'status' } }),
    ...lines.map(drawNote),
  ]);
}

function drawNotice({ kind, text, buttons }: RunPageNotice): HTMLElement {
  return element('div', { class: `notice ${kind}`, attributes: { role: 'status' } }, [
    ...(kind === 'info' ? [] : [icon(kind)]),
    element('span', { text }),
    ...buttons.map((one) => drawButton(one)),
  ]);
}

/** The page has one listener for all buttons, which goes by their attributes: elements are reused. */
function drawButton({ action, target, words, label, isFirst, isDisabled }: RunPageButton, isLink = false) {
  const look = isLink ? 'link' : 'secondary';
  const key = `${action} ${target}`;
  if (action === 'copy') return copyButton(target, key, words, label, look);
  return element('button', {
    class: isFirst === true ? 'primary' : look,
    text: words,
    attributes: {
      type: 'button',
      // The main button keeps the focus whatever its target.
      'data-key': isDisabled === undefined ? key : action,
      'data-action': action,
      'data-target': target,
      'aria-label': label,
      // Not `disabled`, which would take the focus away.
      'aria-disabled': isDisabled === true ? 'true' : undefined,
    },
  });
}

function drawButtons(buttons: readonly RunPageButton[]): HTMLElement {
  return element(
    'div',
    { class: 'actions' },
    buttons.map((one) => drawButton(one)),
  );
}

function drawSection(section: RunPageSection): HTMLElement {
  const { kind, key, title } = section;
  const attributes = { 'data-key': key, 'aria-labelledby': `title-${key}` };
  return element('section', { class: kind, attributes }, [
    element('h2', { text: title, attributes: { id: `title-${key}` } }),
    ...drawContent(section),
  ]);
}

function drawContent(section: RunPageSection): HTMLElement[] {
  switch (section.kind) {
    case 'timeline':
      return [element('ol', {}, section.entries.map(drawEntry))];
    case 'facts':
      return [
        element('dl', {}, section.facts.flatMap(drawFact)),
        ...(section.note === undefined ? [] : [drawNote(section.note)]),
      ];
    case 'adapter':
      return [
        element('p', { text: section.text }),
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

function drawFact({ key, name, value, buttons }: RunPageFact): HTMLElement[] {
  return [
    element('dt', { text: name, attributes: { 'data-key': `name ${key}` } }),
    element('dd', { attributes: { 'data-key': `value ${key}` } }, [
      element('span', { text: value }),
      ...buttons.flatMap((one) => [element('span', { class: 'gap' }), drawButton(one, true)]),
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

function drawNote(text: string): HTMLElement {
  return element('p', { class: 'note', text });
}
