import type {
  AdapterFact,
  AdapterFiles,
  AdapterNote,
  AdapterPageState,
  AdapterVerdict,
} from '../../src/ui/adapters/protocol.ts';
import { button, copyButton, drawTable, element, fill, header, icon } from '../shared/dom.ts';

type Words = AdapterPageState['words'];

/** @param name what is copied; unique for each button */
export function copyOf(
  name: string,
  text: string,
  words: Words,
  look: 'link' | 'secondary',
): HTMLButtonElement {
  return copyButton(text, name, words.copy, fill(words.copyOf, name), look);
}

export function drawVerdict({ kind, title, sentences }: AdapterVerdict): HTMLElement {
  return element('div', { class: `verdict ${kind}` }, [
    icon(kind),
    element('div', {}, [
      element('p', { class: 'title', text: title }),
      ...sentences.map((text) => element('p', { text })),
    ]),
  ]);
}

/** Draws notes with their examples. */
export function drawNotes(notes: readonly AdapterNote[], words: Words): HTMLElement {
  return element(
    'ul',
    { class: 'notes' },
    notes.map(({ severity, text, examples = [], more }) => {
      const names = examples.map((name) => element('li', {}, [element('code', { text: name })]));
      if (more !== undefined) names.push(element('li', { class: 'note', text: more }));
      const isInfo = severity === 'info';
      const spoken = isInfo ? [] : [element('span', { class: 'spoken', text: `${words[severity]} ` })];
      return element('li', {}, [
        isInfo ? element('span', { class: 'bullet' }) : icon(severity),
        element('div', {}, [
          element('p', {}, [...spoken, document.createTextNode(text)]),
          ...(names.length === 0 ? [] : [element('ul', { class: 'names' }, names)]),
        ]),
      ]);
    }),
  );
}

/** Draws names and values, some with a Copy button. @param open shows a checkpoint */
export function drawFacts(
  facts: readonly AdapterFact[],
  words: Words,
  open: (checkpoint: string) => void,
): HTMLElement {
  return element(
    'dl',
    { class: 'facts' },
    facts.flatMap(({ name, value, hasCopy, opens, more = '' }) => {
      const shown = element('dd', opens === undefined ? { text: value } : {});
      for (const one of opens ?? [])
        shown.append(
          button(one, () => open(one), { class: 'link', key: one }),
          ' ',
        );
      shown.append(more);
      if (hasCopy === true) shown.append(' ', copyOf(name, value, words, 'link'));
      return [element('dt', { text: name }), shown];
    }),
  );
}

export function drawFiles({ nameHeader, sizeHeader, rows, more }: AdapterFiles): HTMLElement[] {
  const body = rows.map(({ name, size, note }) => {
    const cell = element('td', {}, [element('code', { text: name })]);
    if (note !== undefined) cell.append(' ', element('span', { class: 'note', text: note }));
    return element('tr', {}, [cell, element('td', { class: 'number', text: size })]);
  });
  const heads = [header(nameHeader), header(sizeHeader, 'col', true)];
  const table = drawTable(heads, body, { class: 'fileTable' });
  return more === undefined ? [table] : [table, element('p', { class: 'note', text: more })];
}
