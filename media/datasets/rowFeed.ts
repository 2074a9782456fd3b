import type {
  PreviewList,
  PreviewMemory,
  PreviewMessage,
  PreviewRequest,
  PreviewRow,
  PreviewRows,
  PreviewStart,
} from '../../src/ui/datasets/protocol.ts';
import type { Client } from '../shared/client.ts';
import { element, keepFocus } from '../shared/dom.ts';
import { drawRow } from './rowView.ts';
import { VirtualList } from './virtualList.ts';

export type PreviewClient = Client<{
  message: PreviewMessage;
  request: PreviewRequest;
  memory: PreviewMemory;
}>;

const LINE_PIXELS = 60;

/** The rows: requests what is seen, caches what was loaded lately, and follows the keyboard. */
export class RowFeed {
  readonly #client: PreviewClient;
  readonly #start: PreviewStart;
  readonly #list: VirtualList;
  readonly #onScroll: () => void;
  readonly #rows = new ReadRows();
  /** Rows shown the other way than by themselves, and folded parts that were opened, as `row/part`. */
  readonly #switched: Set<number>;
  readonly #open = new Set<string>();
  #state: PreviewList | undefined;
  #lastTop: number;
  /** Whether the list still has to return to where it was left: until then the row at the top is not the user's. */
  #isReturning: boolean;
  /** The position with the keyboard. */
  #active = 0;
  /** Whether rows were asked for, or came empty: then they are asked for again when more are known. */
  #asked: 'pending' | 'empty' | undefined;
  #shown = { first: 0, last: -1 };

  /** @param left the row at the top when the page was left, to which the extension will scroll */
  constructor(
    client: PreviewClient,
    start: PreviewStart,
    switched: readonly number[],
    left: number | undefined,
    onScroll: () => void,
  ) {
    this.#client = client;
    this.#start = start;
    this.#switched = new Set(switched);
    this.#lastTop = left ?? 1;
    this.#isReturning = left !== undefined;
    this.#onScroll = onScroll;
    this.#list = new VirtualList(
      {
        length: () => this.#state?.length ?? 0,
        draw: (position) => this.#draw(position),
        shown: (first, last) => this.#didShow(first, last),
        scrolled: () => this.#onScroll(),
      },
      start.words.feed,
    );
    this.#list.feed.addEventListener('keydown', (event) => this.#key(event));
    this.#list.feed.addEventListener('focusin', (event) => this.#didFocus(event));
  }

  get root(): HTMLElement {
    return this.#list.root;
  }

  /** The row at the top, or the last one that was known there. */
  get topRow(): number {
    return (this.#isReturning ? undefined : this.#rows.at(this.#list.position)?.row) ?? this.#lastTop;
  }

  get switched(): readonly number[] {
    return [...this.#switched];
  }

  /** Takes another state of the list; another generation begins at its first row. */
  show(state: PreviewList): void {
    const isNew = state.generation !== this.#state?.generation;
    this.#state = state;
    if (isNew) {
      this.#rows.clear();
      this.#asked = undefined;
      this.#active = 0;
      this.#list.reset(0);
    } else {
      // What was asked for before it was known may be there now.
      if (this.#asked === 'empty') this.#asked = undefined;
      for (const [, drawn] of this.#drawn()) drawn.setAttribute('aria-setsize', this.#setSize());
      this.#list.update();
    }
    this.#list.feed.setAttribute('aria-busy', String(state.busy));
  }

  /** Takes rows that were asked for. */
  take({ generation, from, rows }: PreviewRows): void {
    if (generation !== this.#state?.generation) return;
    this.#asked = rows.length === 0 ? 'empty' : undefined;
    this.#rows.keep(from, rows, this.#shown.first, this.#shown.last);
    for (const index of rows.keys()) this.#redraw(from + index);
    this.#ask();
    this.#onScroll();
  }

  /** Requests everything again; the old rows stay until the new ones are there. */
  forget(): void {
    this.#rows.expire(this.#shown.first, this.#shown.last);
    this.#asked = undefined;
    this.#ask();
  }

  /** Shows a position at the top and gives it the keyboard's place; the focus goes there only if it is wanted. */
  goTo(position: number, withFocus: boolean): void {
    this.#isReturning = false;
    this.#list.goTo(position);
    this.#activate(position, withFocus);
  }

  #didShow(first: number, last: number): void {
    this.#shown = { first, last };
    this.#lastTop = this.topRow;
    this.#updateTabStop();
    this.#ask();
  }

  /** Asks for the rows in the page that are not there, one request at a time. */
  #ask(): void {
    if (this.#asked !== undefined || this.#state === undefined) return;
    const { first, last } = this.#shown;
    // What is seen comes first.
    const from =
      this.#rows.firstMissing(Math.max(first, this.#list.position), last) ??
      this.#rows.firstMissing(first, last);
    if (from === undefined) return;
    let count = 1;
    while (from + count <= last && this.#rows.isMissing(from + count)) count += 1;
    this.#asked = 'pending';
    this.#client.send({ type: 'need', generation: this.#state.generation, from, count });
  }

  #draw(position: number): HTMLElement {
    const row = this.#rows.at(position);
    const titleId = `row${position}`;
    const drawn = element('article', {
      class: 'row',
      attributes: {
        tabindex: '-1',
        'data-position': String(position),
        'aria-posinset': String(position + 1),
        'aria-setsize': this.#setSize(),
        ...(row === undefined ? { 'aria-busy': 'true' } : { 'aria-labelledby': titleId }),
      },
    });
    const { words } = this.#start;
    if (row === undefined) {
      drawn.append(element('div', { class: 'note pending', text: words.rowsLoading }));
      return drawn;
    }
    const partKey = (key: string) => `${row.row}/${key}`;
    drawn.append(
      ...drawRow(row, titleId, {
        ...this.#start,
        isOpen: (key) => this.#open.has(partKey(key)),
        toggle: (key) => this.#toggle(this.#open, partKey(key), position),
        isSwitched: this.#switched.has(row.row),
        onSwitch: () => this.#toggle(this.#switched, row.row, position),
        onOpenSource: (problem) => this.#client.send({ type: 'openSource', row: row.row, problem }),
      }),
    );
    return drawn;
  }

  #toggle<T>(set: Set<T>, item: T, position: number): void {
    this.#list.settle();
    if (!set.delete(item)) set.add(item);
    this.#redraw(position);
    this.#onScroll();
  }

  /** Redraws a row, and restores the focus in it. */
  #redraw(position: number): void {
    const refocus = keepFocus(this.#list.elementAt(position));
    this.#list.redraw(position);
    this.#updateTabStop();
    const drawn = this.#list.elementAt(position);
    refocus(drawn, drawn);
  }

  #setSize(): string {
    // −1 says that it is not known.
    return this.#state === undefined || this.#state.busy ? '-1' : String(this.#state.length);
  }

  /** The rows in the page with their positions. */
  *#drawn(): Generator<[position: number, drawn: HTMLElement]> {
    for (let position = this.#shown.first; position <= this.#shown.last; position++) {
      const drawn = this.#list.elementAt(position);
      if (drawn !== undefined) yield [position, drawn];
    }
  }

  /** Only the active row and its buttons are reached with Tab; if it is not in the page, the one at the top. */
  #updateTabStop(): void {
    const stop = this.#list.elementAt(this.#active) === undefined ? this.#list.position : this.#active;
    for (const [position, drawn] of this.#drawn()) {
      const tabindex = position === stop ? '0' : '-1';
      for (const one of [drawn, ...drawn.querySelectorAll('button')]) one.setAttribute('tabindex', tabindex);
    }
  }

  #didFocus(event: Event): void {
    const article = (event.target as Element).closest('article');
    if (article === null) return;
    this.#active = Number(article.getAttribute('data-position'));
    this.#updateTabStop();
  }

  #activate(position: number, withFocus = true): void {
    this.#active = position;
    this.#updateTabStop();
    if (withFocus) this.#list.elementAt(position)?.focus({ preventScroll: true });
  }

  #key(event: KeyboardEvent): void {
    if (event.altKey || event.metaKey || this.#state === undefined) return;
    if (event.ctrlKey && event.key !== 'Home' && event.key !== 'End') return;
    const last = this.#state.length - 1;
    // After the pointer has scrolled elsewhere, the keyboard continues from there.
    const isThere = this.#list.elementAt(this.#active) !== undefined;
    const from = isThere ? this.#active : this.#list.position;
    const page = this.#list.viewHeight * 0.9;
    const row = this.#rows.at(from);
    switch (event.key) {
      case 'ArrowDown':
      case 'ArrowUp':
        this.#step(from, event.key === 'ArrowDown' ? 1 : -1, last);
        break;
      case 'PageDown':
      case 'PageUp':
        this.#list.scrollBy(event.key === 'PageDown' ? page : -page);
        this.#list.layOut();
        this.#activate(this.#list.position);
        break;
      case 'Home':
        this.goTo(0, true);
        break;
      case 'End':
        this.goTo(last, true);
        break;
      case 'Enter':
        // On a button it presses that.
        if (!(event.target as Element).matches('article, [role=feed]')) return;
        if (row !== undefined) this.#toggle(this.#switched, row.row, from);
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  /** To the next row; in one that is higher than the view, a little further in it first. */
  #step(from: number, by: 1 | -1, last: number): void {
    const article = this.#list.elementAt(from);
    const view = this.root.getBoundingClientRect();
    if (article !== undefined) {
      const { top, bottom } = article.getBoundingClientRect();
      const hidden = by === 1 ? bottom - view.bottom : view.top - top;
      if (hidden > 1 && top < view.bottom && bottom > view.top) {
        this.#list.scrollBy(by * Math.min(LINE_PIXELS, hidden));
        this.#list.layOut();
        this.#activate(from);
        return;
      }
    }
    const next = Math.max(0, Math.min(last, from + by));
    this.#list.reveal(next);
    this.#activate(next);
  }
}

const MOST = 500;
const MOST_CHARACTERS = 8_000_000;

/** Owns the rows that were read lately, by position, and forgets what was read first when they are too many. */
export class ReadRows {
  readonly #rows = new Map<number, PreviewRow>();
  /** Shown until they were read again. */
  readonly #stale = new Set<number>();

  at(position: number): PreviewRow | undefined {
    return this.#rows.get(position);
  }

  /** Keeps rows from a position on; those in the page, from `first` to `last`, are never forgotten. */
  keep(from: number, rows: readonly PreviewRow[], first: number, last: number): void {
    for (const [index, row] of rows.entries()) {
      this.#rows.delete(from + index);
      this.#rows.set(from + index, row);
      this.#stale.delete(from + index);
    }
    let characters = 0;
    for (const { text } of this.#rows.values()) characters += text.length;
    for (const [position, { text }] of this.#rows) {
      if (this.#rows.size <= MOST && characters <= MOST_CHARACTERS) return;
      if (position >= first && position <= last) continue;
      this.#rows.delete(position);
      characters -= text.length;
    }
  }

  /** Whether a position has to be read, or read again. */
  isMissing(position: number): boolean {
    return !this.#rows.has(position) || this.#stale.has(position);
  }

  /** The first position of a range that has to be read. */
  firstMissing(first: number, last: number): number | undefined {
    for (let position = first; position <= last; position++) if (this.isMissing(position)) return position;
    return undefined;
  }

  /** All have to be read again; only those from `first` to `last` stay until then. */
  expire(first: number, last: number): void {
    this.#stale.clear();
    for (const position of [...this.#rows.keys()]) {
      if (position >= first && position <= last) this.#stale.add(position);
      else this.#rows.delete(position);
    }
  }

  clear(): void {
    this.#rows.clear();
    this.#stale.clear();
  }
}
