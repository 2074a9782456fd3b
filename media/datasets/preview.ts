// The page of the dataset preview. It shows what it is told and asks for what it needs: it reads no file, and makes no
// sentence of its own.
import type {
  PreviewCard,
  PreviewFilter,
  PreviewMessage,
  PreviewStart,
} from '../../src/ui/datasets/protocol.ts';
import { drawCard } from './card.ts';
import { button, element } from '../shared/dom.ts';
import { Extension } from '../shared/extension.ts';
import type { PreviewExtension } from './pageState.ts';
import { Highlighter } from './highlight.ts';
import { RowFeed } from './rowFeed.ts';
import { Toolbar } from './toolbar.ts';

/** Everything on the page, from one start to the next. */
class Page {
  readonly #extension: PreviewExtension;
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

  /** @param left the row at the top when it was left, which it will be told to go to */
  constructor(extension: PreviewExtension, start: PreviewStart, left: number | undefined) {
    const state = extension.remembered;
    const { words } = start;
    this.#extension = extension;
    this.#start = start;
    this.#filter = state?.filter ?? { text: '', matchCase: false, problems: undefined };
    // Where there is little room, the rows come first.
    this.#detailsHidden = state?.detailsHidden ?? window.innerWidth < 700;
    this.#feed = new RowFeed(extension, start, state?.switched ?? [], left, () => this.#didScroll());
    this.#toolbar = new Toolbar(words, this.#detailsHidden, {
      onFilter: (filter) => extension.send({ type: 'filter', filter }),
      onGoTo: (row) => {
        this.#focusRow = true;
        extension.send({ type: 'goTo', row });
      },
      onMore: () => extension.send({ type: 'more' }),
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
        onCopy: (text) => this.#extension.send({ type: 'copy', text }),
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
          () => this.#extension.send({ type: 'reload', row: this.#feed.topRow }),
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
    this.#extension.remember(() => ({
      // Not the text: what a person searched for may be a secret, and this is kept on the disk.
      filter: { ...this.#filter, text: '' },
      row: this.#feed.topRow,
      detailsHidden: this.#detailsHidden,
      switched: this.#feed.switched.slice(-200),
    }));
  }
}

function main(): void {
  const extension: PreviewExtension = new Extension();
  const state = extension.remembered;
  let page: Page | undefined;
  window.addEventListener('message', ({ data }: MessageEvent<PreviewMessage>) => {
    if (data.type === 'start') page = new Page(extension, data, page === undefined ? state?.row : undefined);
    else page?.take(data);
  });
  window.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key !== 'f') return;
    page?.focusSearch();
    event.preventDefault();
  });
  extension.send({
    type: 'ready',
    memory: state === undefined ? undefined : { filter: state.filter, row: state.row },
  });
}

main();
