import type {
  AdapterFact,
  AdapterFiles,
  AdapterNote,
  AdapterStart,
  AdapterVerdict,
} from '../../src/ui/adapters/protocol.ts';
import { button, element, fill, icon } from '../shared/dom.ts';

const CONFIRMED_MS = 2_000;

/** Makes Copy buttons, and shows on each that its text is on the clipboard. */
export class CopyButtons {
  readonly #words: AdapterStart['words'];
  readonly #onCopy: (id: string, text: string) => void;

  constructor(words: AdapterStart['words'], onCopy: (id: string, text: string) => void) {
    this.#words = words;
    this.#onCopy = onCopy;
  }

  /** @param name what it copies; each button has another */
  make(name: string, text: string, kind: 'link' | 'secondary'): HTMLButtonElement {
    const { copy, copyOf } = this.#words;
    return button(copy, () => this.#onCopy(name, text), {
      class: kind,
      key: name,
      attributes: { 'aria-label': fill(copyOf, name) },
    });
  }

  /** The text of that button is on the clipboard. */
  confirm(name: string): void {
    const found = document.querySelector(`[data-key="${CSS.escape(name)}"]`);
    if (found === null) return;
    found.textContent = this.#words.copied;
    setTimeout(() => (found.textContent = this.#words.copy), CONFIRMED_MS);
  }
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

/** Draws notes with the names that they are about. */
export function drawNotes(notes: readonly AdapterNote[], words: AdapterStart['words']): HTMLElement {
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

/** Draws names and values, with a Copy button where one is useful. */
export function drawFacts(facts: readonly AdapterFact[], copies: CopyButtons): HTMLElement {
  return element(
    'dl',
    { class: 'facts' },
    facts.flatMap(({ name, value, hasCopy }) => {
      const shown = element('dd', { text: value });
      if (hasCopy === true) shown.append(' ', copies.make(name, value, 'link'));
      return [element('dt', { text: name }), shown];
    }),
  );
}

export function drawFiles({ nameHeader, sizeHeader, rows, more }: AdapterFiles): HTMLElement[] {
  const header = (text: string, className?: string) =>
    element('th', { class: className, text, attributes: { scope: 'col' } });
  const table = element('table', { class: 'fileTable' }, [
    element('thead', {}, [element('tr', {}, [header(nameHeader), header(sizeHeader, 'number')])]),
    element(
      'tbody',
      {},
      rows.map(({ name, size, note }) => {
        const cell = element('td', {}, [element('code', { text: name })]);
        if (note !== undefined) cell.append(' ', element('span', { class: 'note', text: note }));
        return element('tr', {}, [cell, element('td', { class: 'number', text: size })]);
      }),
    ),
  ]);
  return more === undefined ? [table] : [table, element('p', { class: 'note', text: more })];
}
