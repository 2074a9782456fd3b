import type {
  AdapterFact,
  AdapterFiles,
  AdapterNote,
  AdapterOverview,
  AdapterVerdict,
  AdapterWord,
} from '../../src/ui/adapters/protocol.ts';
import { element, icon } from '../shared/dom.ts';
import type { CopyButtons } from './copyButtons.ts';

type Words = Readonly<Record<AdapterWord, string>>;

/** Draws what the file is. */
export function drawVerdict({ kind, title, sentences }: AdapterVerdict): HTMLElement[] {
  return [
    element('div', { class: `verdict ${kind}` }, [
      icon(kind),
      element('div', {}, [
        element('p', { class: 'title', text: title }),
        ...sentences.map((text) => element('p', { text })),
      ]),
    ]),
  ];
}

/** Draws what the headers tell. */
export function drawOverview(
  { facts, problems, toKnow, files }: AdapterOverview,
  words: Words,
  copies: CopyButtons,
): { overview: HTMLElement[]; files: HTMLElement[] } {
  const overview: HTMLElement[] = [];
  const section = (title: string, content: HTMLElement) =>
    overview.push(element('section', {}, [heading(title), content]));
  if (problems.length > 0) section(words.problems, drawNotes(problems, words));
  if (facts.length > 0) section(words.facts, drawFacts(facts, copies));
  if (toKnow.length > 0) section(words.toKnow, drawNotes(toKnow, words));
  return { overview, files: files === undefined ? [] : [heading(words.files), ...drawFiles(files)] };
}

/** Draws notes below each other, with the names that they are about. */
export function drawNotes(notes: readonly AdapterNote[], words: Words): HTMLElement {
  return element(
    'ul',
    { class: 'notes' },
    notes.map(({ severity, text, examples, more }) => {
      const spoken = severity === 'info' ? '' : `${words[severity]} `;
      const names = [
        ...examples.map((name) => element('li', {}, [element('code', { text: name })])),
        ...(more === undefined ? [] : [element('li', { class: 'note', text: more })]),
      ];
      return element('li', { class: severity }, [
        severity === 'info' ? element('span', { class: 'bullet' }) : icon(severity),
        element('div', {}, [
          element('p', {}, [
            element('span', { class: 'spoken', text: spoken }),
            document.createTextNode(text),
          ]),
          ...(names.length === 0 ? [] : [element('ul', { class: 'names' }, names)]),
        ]),
      ]);
    }),
  );
}

/** Draws names with their values, and a Copy button beside those that are wanted elsewhere. */
export function drawFacts(facts: readonly AdapterFact[], copies: CopyButtons): HTMLElement {
  return element(
    'dl',
    { class: 'facts' },
    facts.flatMap(({ name, value, copy }) => {
      const told = element('dd', { text: value });
      if (copy !== undefined) told.append(' ', copies.make(`fact ${name}`, name, copy, 'link'));
      return [element('dt', { text: name }), told];
    }),
  );
}

function drawFiles({ nameHeader, sizeHeader, rows, more }: AdapterFiles): HTMLElement[] {
  const table = element('table', { class: 'fileTable' }, [
    element('thead', {}, [
      element('tr', {}, [
        element('th', { text: nameHeader, attributes: { scope: 'col' } }),
        element('th', { class: 'number', text: sizeHeader, attributes: { scope: 'col' } }),
      ]),
    ]),
    element(
      'tbody',
      {},
      rows.map(({ name, size, note }) => {
        const named = element('td', {}, [element('code', { text: name })]);
        if (note !== undefined) named.append(' ', element('span', { class: 'note', text: note }));
        return element('tr', {}, [named, element('td', { class: 'number', text: size })]);
      }),
    ),
  ]);
  return more === undefined ? [table] : [table, element('p', { class: 'note', text: more })];
}

function heading(text: string): HTMLElement {
  return element('h2', { text, attributes: { tabindex: '-1' } });
}
