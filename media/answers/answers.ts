// The page that compares answers. It shows the extension's messages and requests rows, but reads no files and composes no sentences.
import type {
  AnswersHead,
  AnswersMessage,
  AnswersRequest,
  AnswersRow,
  AnswersStart,
  AnswersTable,
} from '../../src/ui/answers/protocol.ts';
import { Client } from '../shared/client.ts';
import { button, copyButton, drawTable, element, header, icon } from '../shared/dom.ts';
import { morph } from '../shared/morph.ts';
import { RowFeed, type OpenParts } from '../shared/rowFeed.ts';
import { PROMPT, Texts } from './texts.ts';

type AnswersClient = Client<{
  message: AnswersMessage;
  request: AnswersRequest;
  memory: AnswersStart['memory'];
}>;

/** Owns everything on the page: the comparison and its rows. */
class Page {
  readonly #client: AnswersClient;
  readonly #words: AnswersStart['words'];
  readonly #headContent = element('div');
  readonly #head = element('header', { class: 'top' }, [this.#headContent]);
  readonly #main: HTMLElement;
  readonly #noMatch: HTMLElement;
  readonly #feed: RowFeed<AnswersRow>;
  #length = 0;
  #shownHead: AnswersHead | undefined;
  #memory: AnswersStart['memory'];

  constructor(client: AnswersClient, { words, memory }: AnswersStart) {
    this.#client = client;
    this.#words = words;
    this.#memory = { ...memory, marksDifferences: client.remembered?.marksDifferences ?? false };
    client.remember(() => this.#memory);
    this.#feed = new RowFeed({
      words,
      draw: (row, titleId, parts) => this.#drawRow(row, titleId, parts),
      sizeOf: ({ texts }) => texts.reduce((sum, { pieces }) => sum + sizeOf(pieces), 0),
      enterPart: PROMPT,
      need: (range) => client.send({ type: 'need', ...range }),
      onScroll: () => undefined,
    });
    this.#noMatch = element('p', { class: 'noMatch', text: words.noMatch });
    this.#noMatch.hidden = true;
    this.#main = element('main', {}, [
      element('p', { class: 'spoken', text: words.keyboard }),
      this.#noMatch,
      this.#feed.root,
    ]);
    document.body.replaceChildren(this.#head, this.#main);
  }

  take(message: Exclude<AnswersMessage, AnswersStart>): void {
    if (message.type === 'head') this.#showHead(message);
    else if (message.type === 'list') {
      this.#feed.show(message);
      this.#length = message.length;
      this.#showNoMatch();
    } else this.#feed.take(message);
  }

  #showNoMatch(): void {
    this.#noMatch.hidden = this.#length > 0 || !this.#shownHead?.filters.length;
  }

  #showHead(head: AnswersHead): void {
    this.#shownHead = head;
    this.#showNoMatch();
    morph(this.#headContent, element('div', {}, this.#drawHead(head)));
  }

  #drawHead(head: AnswersHead): HTMLElement[] {
    const { title, notices, failure, leak, headline, tables, filters, summary } = head;
    const { compareWithOther } = this.#words;
    const compare = () => this.#client.send({ type: 'compareWithOther' });
    return [
      element('div', { class: 'title', attributes: { 'data-key': 'title' } }, [
        element('h1', { text: title }),
        ...(head.canCompareWithOther
          ? [button(compareWithOther, compare, { class: 'secondary', key: 'compareWithOther' })]
          : []),
        ...(summary === undefined
          ? []
          : [copyButton(summary, 'summary', this.#words.copySummary, undefined, 'secondary')]),
      ]),
      element(
        'div',
        { class: 'notices', attributes: { 'data-key': 'notices', role: 'status' } },
        notices.map((text) => element('p', { class: 'note', text })),
      ),
      ...(failure === undefined ? [] : [drawFailure(failure)]),
      element('div', { class: 'leak', attributes: { 'data-key': 'leak' } }, this.#drawLeak(leak)),
      element('div', { class: 'comparison', attributes: { 'data-key': 'comparison' } }, [
        element('div', { class: 'headline', attributes: { role: 'status' } }, drawHeadline(headline)),
        ...tables.map(drawNumbers),
      ]),
      ...(filters.length === 0 ? [] : [this.#drawFilters(filters)]),
    ];
  }

  #drawLeak(leak: AnswersHead['leak']): HTMLElement[] {
    const { text = '', action } = leak ?? {};
    const act = () =>
      this.#client.send(
        action?.kind === 'showRows' ? { type: 'filter', filter: 'trained' } : { type: 'chooseDataset' },
      );
    return [
      element('p', { text, attributes: { role: 'status' } }),
      ...(action === undefined ? [] : [button(action.words, act, { class: 'secondary', key: action.kind })]),
    ];
  }

  #drawFilters(filters: AnswersHead['filters']): HTMLElement {
    const attributes = { 'data-key': 'rows', role: 'group', 'aria-label': this.#words.rowsToShow };
    const buttons = filters.map(({ filter, words, isPressed }) =>
      button(words, () => this.#client.send({ type: 'filter', filter }), {
        class: 'toggle',
        key: filter,
        attributes: { 'aria-pressed': String(isPressed) },
      }),
    );
    const isOn = this.#memory.marksDifferences === true;
    return element('div', { class: 'filters', attributes: { 'data-key': 'filters' } }, [
      element('div', { class: 'filters', attributes }, buttons),
      button(this.#words.showDifferences, () => this.#toggleDifferences(), {
        class: 'toggle',
        key: 'differences',
        attributes: { 'aria-pressed': String(isOn) },
      }),
      ...(isOn ? [element('span', { class: 'note', text: this.#words.legend })] : []),
    ]);
  }

  #toggleDifferences(): void {
    this.#memory = { ...this.#memory, marksDifferences: this.#memory.marksDifferences !== true };
    if (this.#shownHead !== undefined) this.#showHead(this.#shownHead);
    this.#feed.redraw();
    this.#client.remember(() => this.#memory);
  }

  #drawRow(row: AnswersRow, titleId: string, parts: OpenParts): HTMLElement[] {
    const texts = new Texts(this.#words, parts, this.#memory.marksDifferences === true);
    const head = element('header', { class: 'rowHead' }, [
      element('h2', { text: row.title, attributes: { id: titleId } }),
      ...(row.note === undefined ? [] : [element('span', { class: 'note', text: row.note })]),
      texts.drawPrompt(row.prompt),
    ]);
    const onShow = () => this.#client.send({ type: 'showInHoldOut', row: row.row });
    if (row.hasHoldOut)
      head.append(button(this.#words.showInHoldOut, onShow, { class: 'link', key: 'holdOut' }));
    return [
      head,
      ...texts.drawOpenPrompt(row.prompt),
      element(
        'div',
        { class: 'texts' },
        row.texts.map((text) => texts.draw(text, 'answer')),
      ),
    ];
  }
}

function drawFailure(text: string): HTMLElement {
  const attributes = { 'data-key': 'failure', role: 'status' };
  return element('p', { class: 'failure', text, attributes });
}

function sizeOf(pieces: AnswersRow['texts'][number]['pieces']): number {
  return pieces.reduce((sum, { text }) => sum + text.length, 0);
}

function drawHeadline(headline: AnswersHead['headline']): HTMLElement[] {
  return (headline?.sentences ?? []).map((text, index) => {
    const sentence = element('span', { text });
    const isWarning = headline?.isWarning === true && index === 0;
    return element('p', {}, isWarning ? [icon('warning'), sentence] : [sentence]);
  });
}

function drawNumbers({ name, corner, columns, rows }: AnswersTable): HTMLElement {
  const first = corner === '' ? element('td') : header(corner);
  const heads = [first, ...columns.map((column) => header(column, 'col', true))];
  const drawn = rows.map((row) =>
    element('tr', {}, [
      header(row.name, 'row'),
      ...row.cells.map((text) => element('td', { class: 'number', text })),
    ]),
  );
  const table = drawTable(heads, drawn, { attributes: { 'data-key': name } });
  table.prepend(element('caption', { class: corner === '' ? 'spoken' : 'note', text: name }));
  return table;
}

function main(): void {
  const client: AnswersClient = new Client();
  let page: Page | undefined;
  client.connect((message) => {
    if (message.type === 'start') {
      page = new Page(client, message);
    } else page?.take(message);
  });
}

main();
