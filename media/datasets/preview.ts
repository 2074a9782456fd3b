// The page of the dataset preview. It shows what the extension posts and requests the rows it needs: it reads no file, and
// makes no sentences.
import type {
  PreviewCard,
  PreviewFilter,
  PreviewMessage,
  PreviewStart,
} from '../../src/ui/datasets/protocol.ts';
import { button, element } from '../shared/dom.ts';
import { Client } from '../shared/client.ts';
import { drawCard } from './card.ts';
import { RowFeed, type PreviewClient } from './rowFeed.ts';
import { Toolbar } from './toolbar.ts';

/** Everything on the page, from one start to the next. */
class Page {
  readonly #client: PreviewClient;
  readonly #start: PreviewStart;
  readonly #feed: RowFeed;
  readonly #toolbar: Toolbar;
  readonly #notice = element('div', { class: 'notice', attributes: { role: 'status' } });
  readonly #noMatch: HTMLElement;
  readonly #details: HTMLElement;
  readonly #highlighter = new Highlighter();
  #filter: PreviewFilter;
  #detailsHidden: boolean;
  #focusRow = false;

  /** @param left the row at the top when the page was left, to which the extension will scroll */
  constructor(client: PreviewClient, start: PreviewStart, left: number | undefined) {
    const state = client.remembered;
    const { words } = start;
    this.#client = client;
    this.#start = start;
    this.#filter = state?.filter ?? { text: '', matchCase: false, problems: undefined };
    // Where there is little room, the rows come first.
    this.#detailsHidden = state?.detailsHidden ?? window.innerWidth < 700;
    this.#feed = new RowFeed(client, start, state?.switched ?? [], left, () => this.#didScroll());
    this.#toolbar = new Toolbar(words, this.#detailsHidden, {
      onFilter: (filter) => client.send({ type: 'filter', filter }),
      onGoTo: (row) => {
        this.#focusRow = true;
        client.send({ type: 'goTo', row });
      },
      onMore: () => client.send({ type: 'more' }),
      onDetails: (isHidden) => this.#showDetails(isHidden),
    });
    this.#noMatch = element('p', { class: 'noMatch', text: words.noMatch });
    this.#noMatch.hidden = true;
    this.#notice.hidden = true;
    this.#details = element('aside', {
      class: 'card',
      attributes: { id: 'details', 'aria-label': words.details, tabindex: '0' },
    });
    this.#details.hidden = this.#detailsHidden;
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

  take(message: PreviewMessage): void {
    switch (message.type) {
      case 'list':
        this.#filter = message.filter;
        this.#showChoice(message.filter.problems);
        this.#toolbar.show(message);
        this.#feed.show(message);
        this.#noMatch.hidden = message.length > 0 || message.busy;
        this.#remember();
        return;
      case 'rows':
        this.#feed.take(message);
        return;
      case 'stale':
        this.#feed.forget();
        return;
      case 'card':
        this.#showCard(message);
        return;
      case 'goTo':
        this.#feed.goTo(message.position, this.#focusRow);
        this.#focusRow = false;
        return;
      case 'notice':
        this.#showNotice(message.text, message.canReload);
        return;
      case 'failure':
        document.body.replaceChildren(
          this.#notice,
          element('main', { class: 'failure', text: message.text }),
        );
        return;
      case 'start':
        // It makes another page.
        return;
    }
  }

  #showCard(card: PreviewCard): void {
    const focused = document.activeElement;
    const key = this.#details.contains(focused) ? focused?.getAttribute('data-key') : undefined;
    this.#details.replaceChildren(
      ...drawCard(card, {
        words: this.#start.words,
        fileName: this.#start.fileName,
        chosen: () => this.#filter.problems,
        onChoose: (choice) => this.#choose(choice),
      }),
    );
    this.#toolbar.showProblems(card.problems);
    if (key !== undefined && key !== null)
      this.#details.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }

  /** A second press shows all rows again. */
  #choose(choice: string): void {
    const problems = this.#filter.problems === choice ? undefined : choice;
    this.#showChoice(problems);
    this.#toolbar.choose(problems);
  }

  #showChoice(problems: string | undefined): void {
    for (const one of this.#details.querySelectorAll('.choice'))
      one.setAttribute('aria-pressed', String(one.getAttribute('data-key') === problems));
  }

  #showDetails(isHidden: boolean): void {
    this.#detailsHidden = isHidden;
    this.#details.hidden = isHidden;
    this.#remember();
  }

  #showNotice(text: string | undefined, canReload: boolean): void {
    this.#notice.hidden = text === undefined;
    this.#notice.replaceChildren(element('span', { text: text ?? '' }));
    if (canReload)
      this.#notice.append(
        button(
          this.#start.words.reload,
          () => this.#client.send({ type: 'reload', row: this.#feed.topRow }),
          {
            class: 'secondary',
          },
        ),
      );
  }

  #didScroll(): void {
    this.#highlighter.mark(this.#feed.root, this.#filter);
    this.#remember();
  }

  #remember(): void {
    this.#client.remember(() => ({
      // Not the text: a search may contain a secret, and this is stored on disk.
      filter: { ...this.#filter, text: '' },
      row: this.#feed.topRow,
      detailsHidden: this.#detailsHidden,
      switched: this.#feed.switched.slice(-200),
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

/** Marks the text that is searched for, as far as it can be seen; once a picture. */
export class Highlighter {
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
    if (node.parentElement?.closest('.text') == null) continue;
    const value = node.textContent ?? '';
    const searched = matchCase ? value : value.toLowerCase();
    // Some characters have another length in lower case: then the places would be others.
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
