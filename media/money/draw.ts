import type {
  SpendBalance,
  SpendGroups,
  SpendRow,
  SpendRuns,
  SpendState,
} from '../../src/ui/money/protocol.ts';
import { drawButton, drawNote, drawSection, drawTop } from '../shared/document.ts';
import { element } from '../shared/dom.ts';
import { drawBalance, drawBar } from './chart.ts';

/** Draws the whole page. */
export function drawPage(state: SpendState): HTMLElement[] {
  const { memory, title, status, actions, actionsName, notices, facts, groups, balance, runs } = state;
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
    element('div', { class: 'charts', attributes: { 'data-key': 'charts' } }, [
      ...(groups === undefined ? [] : [drawGroups(groups)]),
      ...(balance === undefined ? [] : [drawBalances(balance)]),
    ]),
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
      element('th', { text: name, attributes: { scope: 'row' } }),
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
    table(title, [drawHead(columns.map((words, at) => header(words, at > 0)))], body),
  ]);
}

function drawBalances(balance: SpendBalance): HTMLElement {
  const { title, high, low, from, to, tableTitle, columns, rows } = balance;
  // The picture says all of this itself, in words.
  const side = (place: string, text: string) =>
    element('span', { class: `note ${place}`, text, attributes: { 'aria-hidden': 'true' } });
  const body = rows.map(([time, amount]) =>
    element('tr', {}, [element('td', { text: time }), element('td', { class: 'number', text: amount })]),
  );
  return drawSection('balance', title, [
    element('div', { class: 'picture' }, [
      side('high', high),
      side('low', low),
      drawBalance(balance),
      side('from', from),
      side('to', to),
    ]),
    element('details', { attributes: { 'data-key': 'balances' } }, [
      element('summary', { text: tableTitle }),
      table(tableTitle, [drawHead(columns.map((words, at) => header(words, at > 0)))], body),
    ]),
  ]);
}

function drawRuns(
  { title, searchWords, columns, rows, count, more, note }: SpendRuns,
  searched: string | undefined,
): HTMLElement {
  const search = element('input', {
    attributes: {
      type: 'search',
      'data-key': 'search',
      // Once something was typed, that stands in the box, and is newer than what comes.
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
    table(
      title,
      [drawHead(heads)],
      rows.map((row) => drawRow(row, isNumber)),
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

function header(words: string, isNumber: boolean): HTMLElement {
  const attributes = { scope: 'col' };
  return element('th', { class: classOf(isNumber), text: words, attributes });
}

function classOf(isNumber: boolean | undefined): string | undefined {
  return isNumber === true ? 'number' : undefined;
}

function drawHead(heads: readonly HTMLElement[]): HTMLElement {
  return element('thead', { attributes: { 'data-key': 'head' } }, [element('tr', {}, heads)]);
}

/** Wide tables scroll in their own place, also by the keyboard. */
function table(name: string, head: readonly HTMLElement[], body: readonly HTMLElement[]): HTMLElement {
  const attributes = { tabindex: '0', role: 'group', 'aria-label': name, 'data-key': `scroller ${name}` };
  return element('div', { class: 'scroller', attributes }, [
    element('table', {}, [...head, element('tbody', { attributes: { 'data-key': 'body' } }, body)]),
  ]);
}
