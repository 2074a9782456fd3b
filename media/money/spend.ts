// The spend page of an account. It shows the state it receives, and sends clicks, searches and sort orders.
import type {
  SpendGroups,
  SpendMemory,
  SpendRequest,
  SpendRow,
  SpendRuns,
  SpendState,
  SpendView,
} from '../../src/ui/money/protocol.ts';
import { Client } from '../shared/client.ts';
import { drawButton, drawNote, drawSection, drawTop, showDocument } from '../shared/document.ts';
import { drawBar, drawScroller, drawTable, element, header } from '../shared/dom.ts';

const TYPING_MS = 150;

function drawPage(state: SpendState): HTMLElement[] {
  const { memory, title, status, actions, actionsName, notices, facts, groups, runs } = state;
  return [
    element('header', { attributes: { 'data-key': 'heading' } }, [
      element('h1', { text: title }),
      element('p', { class: 'note', text: status, attributes: { role: 'status' } }),
    ]),
    ...drawTop(actionsName, actions, notices),
    element(
      'dl',
      { class: 'facts', attributes: { 'data-key': 'facts' } },
      facts.map(({ key, name, value }) =>
        element('div', { attributes: { 'data-key': key } }, [
          element('dt', { text: name }),
          element('dd', { text: value }),
        ]),
      ),
    ),
    ...(groups === undefined ? [] : [drawGroups(groups)]),
    ...(runs === undefined ? [] : [drawRuns(runs, memory.view?.search)]),
  ];
}

function drawGroups({ title, choices, columns, rows }: SpendGroups): HTMLElement {
  const buttons = choices.map(({ groupBy, words, isChosen }) =>
    element('button', {
      class: 'toggle',
      text: words,
      attributes: {
        type: 'button',
        'data-key': `by ${groupBy}`,
        'data-group': groupBy,
        'aria-pressed': String(isChosen),
      },
    }),
  );
  const body = rows.map(({ key, name, runs, spent, share }) =>
    element('tr', { attributes: { 'data-key': key } }, [
      header(name, 'row'),
      element('td', { class: 'number', text: runs }),
      element('td', { class: 'number' }, [element('span', { text: spent }), drawBar(share)]),
    ]),
  );
  return drawSection('groups', title, [
    element(
      'div',
      { class: 'choices', attributes: { role: 'group', 'aria-labelledby': 'title-groups' } },
      buttons,
    ),
    drawScroller(title, drawTable(headsOf(columns), body)),
  ]);
}

function drawRuns(
  { title, searchWords, columns, rows, same, count, more, note }: SpendRuns,
  searched: string | undefined,
): HTMLElement {
  const search = element('input', {
    attributes: {
      type: 'search',
      'data-key': 'search',
      // After the user typed, the input ignores this attribute, and its text is newer.
      value: searched,
      placeholder: searchWords,
      'aria-label': searchWords,
      spellcheck: 'false',
    },
  });
  const isNumber = columns.map(({ column }) => column === 'price' || column === 'balance');
  const heads = columns.map(({ column, words, sort }, at) => {
    const sorter = element(
      'button',
      {
        class: 'sorter',
        attributes: { type: 'button', 'data-key': `sort ${column}`, 'data-sort': column },
      },
      [
        element('span', { text: words }),
        element('span', { class: `arrow ${sort}`, attributes: { 'aria-hidden': 'true' } }),
      ],
    );
    const attributes = { scope: 'col', 'aria-sort': sort };
    return element('th', { class: classOf(isNumber[at]), attributes }, [sorter]);
  });
  return drawSection('runs', title, [
    element('div', { class: 'toolbar', attributes: { 'data-key': 'toolbar' } }, [
      search,
      element('span', { class: 'note', text: count, attributes: { role: 'status' } }),
    ]),
    ...(same === undefined ? [] : [drawNote(same)]),
    drawScroller(
      title,
      drawTable(
        heads,
        rows.map((row) => drawRow(row, isNumber)),
      ),
    ),
    ...(note === undefined ? [] : [drawNote(note)]),
    ...(more === undefined ? [] : [element('p', { attributes: { 'data-key': 'more' } }, [drawButton(more)])]),
  ]);
}

function drawRow({ key, cells, iso, show }: SpendRow, isNumber: readonly boolean[]): HTMLElement {
  const [, ...others] = cells;
  return element('tr', { attributes: { 'data-key': key } }, [
    element('th', { attributes: { scope: 'row' } }, [
      element('time', { attributes: { datetime: iso } }, [drawButton(show, 'link')]),
    ]),
    ...others.map((text, at) => element('td', { class: classOf(isNumber[at + 1]), text })),
  ]);
}

/** All columns except the first contain numbers. */
function headsOf(columns: readonly string[]): HTMLElement[] {
  return columns.map((words, at) => header(words, 'col', at > 0));
}

function classOf(isNumber: boolean | undefined): string | undefined {
  return isNumber === true ? 'number' : undefined;
}

function openPage(): void {
  const client = new Client<{ message: SpendState; request: SpendRequest; memory: SpendMemory }>();
  let view: SpendView | undefined;
  let typing: ReturnType<typeof setTimeout> | undefined;
  const show = (change: Partial<Record<keyof SpendView, unknown>>) => {
    if (view !== undefined) client.send({ type: 'view', ...view, ...(change as Partial<SpendView>) });
  };
  const main = showDocument(
    client,
    (state) => {
      ({ view } = state.memory);
      return drawPage(state);
    },
    ({ group, sort }) => {
      if (group !== undefined) show({ groupBy: group });
      else if (sort !== undefined) {
        // Start with descending order for dates and amounts, and ascending order for names.
        const isFirst = view?.sortBy !== sort;
        const isDescending = isFirst ? /^(date|price|balance)$/.test(sort) : !view?.isDescending;
        show({ sortBy: sort, isDescending });
      }
    },
  );
  main.addEventListener('input', ({ target }) => {
    clearTimeout(typing);
    typing = setTimeout(() => show({ search: (target as HTMLInputElement).value }), TYPING_MS);
  });
}

openPage();
