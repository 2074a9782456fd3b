// The dataset preview. It shows the extension's messages and requests rows, but reads no files and composes no sentences.
import type {
  PreviewCard,
  PreviewFailure,
  PreviewFilter,
  PreviewList,
  PreviewMemory,
  PreviewMessage,
  PreviewRequest,
  PreviewRow,
  PreviewStart,
} from '../../src/ui/datasets/protocol.ts';
import { Client } from '../shared/client.ts';
import { button, element } from '../shared/dom.ts';
import { morph } from '../shared/morph.ts';
import { RowFeed } from '../shared/rowFeed.ts';
import { drawCard } from './card.ts';
import { drawRow, RAW } from './rowView.ts';
import { createToolbar, type Toolbar } from './toolbar.ts';

type PreviewClient = Client<{ message: PreviewMessage; request: PreviewRequest; memory: PreviewMemory }>;

/** Owns everything on the page until the next start message. */
class Page {
  readonly #client: PreviewClient;
  readonly #start: PreviewStart;
  readonly #feed: RowFeed<PreviewRow>;
  readonly #toolbar: Toolbar;
  readonly #notice = element('div', { class: 'notice', attributes: { role: 'status' } });
  readonly #noMatch: HTMLElement;
  readonly #details: HTMLElement;
  readonly #cardContent = element('div');
  #card: PreviewCard | undefined;
  readonly #highlighter = new Highlighter();
  #filter: PreviewFilter;
  #focusRow = false;

  /** @param left the top row when the page was closed, to which the extension will scroll */
  constructor(client: PreviewClient, start: PreviewStart, left: number | undefined) {
    const state = client.remembered;
    const { words } = start;
    this.#client = client;
    this.#start = start;
    this.#filter = state?.filter ?? { text: '', matchCase: false, problems: undefined };
    const onGoTo = (row: number) => {
      this.#focusRow = true;
      client.send({ type: 'goTo', row });
    };
    this.#feed = new RowFeed(
      {
        words,
        draw: (row, titleId, parts) =>
          drawRow(row, titleId, {
            ...start,
            ...parts,
            onGoTo,
            onOpenSource: (problem) => client.send({ type: 'openSource', row: row.row, problem }),
          }),
        sizeOf: ({ text }) => text.length,
        enterPart: RAW,
        need: (range) => client.send({ type: 'need', ...range }),
        onScroll: () => this.#didScroll(),
      },
      state?.switched.map((row) => `${row}/${RAW}`),
      left,
    );
    this.#toolbar = createToolbar(words, {
      onFilter: (filter) => client.send({ type: 'filter', filter }),
      onGoTo,
      onMore: () => client.send({ type: 'more' }),
      onDetails: () => {
        this.#details.hidden = !this.#details.hidden;
        this.#toolbar.showDetails(this.#details.hasAttribute('hidden'));
        this.#remember();
      },
    });
    this.#noMatch = element('p', { class: 'noMatch', text: words.noMatch });
    this.#noMatch.hidden = true;
    this.#notice.hidden = true;
    const attributes = { id: 'details', 'aria-label': words.details, tabindex: '0' };
    this.#details = element('aside', { class: 'card', attributes }, [this.#cardContent]);
    this.#details.addEventListener('click', ({ target }) => {
      const choice = target instanceof Element ? target.closest('button')?.dataset['key'] : undefined;
      if (choice === 'stop') client.send({ type: 'stop' });
      // Pressing the same choice again shows all rows.
      else if (choice !== undefined)
        this.#toolbar.choose(this.#filter.problems === choice ? undefined : choice);
    });
    // In a narrow window, show only the rows at first.
    this.#details.hidden = state === undefined ? window.innerWidth < 700 : state.detailsHidden;
    this.#toolbar.showDetails(this.#details.hasAttribute('hidden'));
    document.body.replaceChildren(
      this.#toolbar.root,
      this.#notice,
      element('main', {}, [
        element('h1', { class: 'spoken', text: start.fileName }),
        element('p', { class: 'spoken', text: words.keyboard }),
        this.#noMatch,
        this.#feed.root,
      ]),
      this.#details,
    );
  }

  focusSearch(): void {
    this.#toolbar.focusSearch();
  }

  take(message: Exclude<PreviewMessage, PreviewStart>): void {
    if (message.type === 'list') this.#showList(message);
    else if (message.type === 'rows') this.#feed.take(message);
    else if (message.type === 'stale') this.#feed.requestAgain();
    else if (message.type === 'follow') this.#reload();
    else if (message.type === 'card') {
      this.#card = message;
      this.#drawCard();
      this.#toolbar.showProblems(message);
    } else if (message.type === 'notice') this.#showNotice(message.text, message.canReload);
    else if (message.type === 'goTo') {
      this.#feed.goTo(message.position, this.#focusRow);
      this.#focusRow = false;
    } else this.#showFailure(message);
  }

  /** Replaces everything but the notice. */
  #showFailure({ text, action }: PreviewFailure): void {
    const failure = element('main', { class: 'failure' }, [
      element('h1', { class: 'spoken', text: this.#start.fileName }),
      element('p', { text }),
    ]);
    const onAct = () => this.#client.send({ type: 'act' });
    if (action !== undefined) failure.append(button(action, onAct, { class: 'secondary' }));
    document.body.replaceChildren(this.#notice, failure);
  }

  #showList(list: PreviewList): void {
    this.#filter = list.filter;
    this.#drawCard();
    this.#toolbar.show(list);
    this.#feed.show(list);
    this.#noMatch.hidden = list.length > 0 || list.busy;
    this.#remember();
  }

  #drawCard(): void {
    if (this.#card === undefined) return;
    const drawn = drawCard(this.#card, this.#start.fileName, this.#filter.problems);
    morph(this.#cardContent, element('div', {}, drawn));
  }

  #showNotice(text: string | undefined, canReload: boolean): void {
    this.#notice.hidden = text === undefined;
    this.#notice.replaceChildren(element('span', { text: text ?? '' }));
    if (!canReload) return;
    this.#notice.append(button(this.#start.words.reload, () => this.#reload(), { class: 'secondary' }));
  }

  #reload(): void {
    this.#client.send({ type: 'reload', row: this.#feed.topRow });
  }

  #didScroll(): void {
    this.#highlighter.mark(this.#feed.root, this.#filter);
    this.#remember();
  }

  #remember(): void {
    this.#client.remember(() => ({
      // Leave out the text: a search may contain a secret, and the memory is stored on disk.
      filter: { ...this.#filter, text: '' },
      row: this.#feed.topRow,
      detailsHidden: this.#details.hasAttribute('hidden'),
      switched: this.#feed.open
        .filter((part) => part.endsWith(`/${RAW}`))
        .slice(-200)
        .map((part) => parseInt(part, 10)),
    }));
  }
}

function main(): void {
  const client: PreviewClient = new Client();
  const row = client.remembered?.row;
  let page: Page | undefined;
  client.connect((message) => {
    if (message.type === 'start') page = new Page(client, message, page === undefined ? row : undefined);
    else page?.take(message);
  });
  window.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== 'f') return;
    page?.focusSearch();
    event.preventDefault();
  });
}

const MOST_RANGES = 500;

/** Highlights the search text in the drawn rows, at most once per frame. */
class Highlighter {
  #pending: number | undefined;

  mark(root: HTMLElement, { text, matchCase }: PreviewFilter): void {
    this.#pending ??= requestAnimationFrame(() => {
      this.#pending = undefined;
      if (text === '') CSS.highlights.delete('search');
      else CSS.highlights.set('search', new Highlight(...rangesOf(root, text, matchCase)));
    });
  }
}

function rangesOf(root: HTMLElement, text: string, matchCase: boolean): Range[] {
  const ranges: Range[] = [];
  const wanted = matchCase ? text : text.toLowerCase();
  const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node !== null && ranges.length < MOST_RANGES; node = nodes.nextNode()) {
    const parent = node.parentElement;
    if (parent?.closest('.text') == null || parent.matches('.spoken')) continue;
    const value = node.textContent ?? '';
    const searched = matchCase ? value : value.toLowerCase();
    // Skip texts whose lower case has another length, because the offsets would be wrong.
    if (searched.length !== value.length) continue;
    for (let at = searched.indexOf(wanted); at !== -1; at = searched.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  return ranges;
}

main();
