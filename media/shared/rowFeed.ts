import { element, keepFocus } from './dom.ts';
import { VirtualList } from './virtualList.ts';

const LINE_PIXELS = 60;

/** The list of rows to show. */
export interface FeedState {
  /** Positions are valid only within one generation. */
  generation: number;
  length: number;
  /** Whether the length may still grow. */
  busy: boolean;
  /** Whether this is another version of the listed rows, so that the position stays. */
  keepsPosition: boolean;
}

/** The parts of a row that the user expands and folds, by key. */
export interface OpenParts {
  isOpen: (key: string) => boolean;
  toggle: (key: string) => void;
}

/** What a feed shows. A row has a number, and is posted by the extension. */
export interface FeedSource<Row extends { row: number }> {
  words: Readonly<Record<'feed' | 'rowsLoading', string>>;
  /** Draws the parts of a row; its title gets the ID. */
  draw: (row: Row, titleId: string, parts: OpenParts) => HTMLElement[];
  /** The number of characters, which limits how many rows are kept. */
  sizeOf: (row: Row) => number;
  /** The part that Enter expands and folds. */
  enterPart: string;
  /** Requests rows. */
  need: (range: { generation: number; from: number; count: number }) => void;
  onScroll: () => void;
}

/** Owns the list of rows: requests missing rows, caches recent ones, and handles the keyboard. */
export class RowFeed<Row extends { row: number }> {
  readonly #source: FeedSource<Row>;
  readonly #list: VirtualList;
  readonly #rows: ReadRows<Row>;
  /** Parts that the user expanded, as `row/part`. */
  readonly #open: Set<string>;
  #state: FeedState | undefined;
  #lastTop: number;
  /** Whether the list must still return to its last position: its top row isn't the user's choice yet. */
  #isReturning: boolean;
  /** The position of the active row, which has or gets the keyboard focus. */
  #active = 0;
  /** Whether requested rows are pending, or none came: then they are requested again with more rows known. */
  #requestState: 'pending' | 'empty' | undefined;
  #shown = { first: 0, last: -1 };

  /**
   * @param open expanded parts, as `row/part`
   * @param left the top row when the page was closed, to which the extension will scroll
   */
  constructor(source: FeedSource<Row>, open: readonly string[] = [], left?: number) {
    this.#source = source;
    this.#rows = new ReadRows(source.sizeOf);
    this.#open = new Set(open);
    this.#lastTop = left ?? 1;
    this.#isReturning = left !== undefined;
    this.#list = new VirtualList(
      {
        length: () => this.#state?.length ?? 0,
        draw: (position) => this.#draw(position),
        shown: (first, last) => this.#didShow(first, last),
        scrolled: () => source.onScroll(),
      },
      source.words.feed,
    );
    this.#list.feed.addEventListener('keydown', (event) => this.#key(event));
    this.#list.feed.addEventListener('focusin', (event) => this.#didFocus(event));
  }

  get root(): HTMLElement {
    return this.#list.root;
  }

  /** The row at the top, or the last one known there. */
  get topRow(): number {
    return (this.#isReturning ? undefined : this.#rows.at(this.#list.position)?.row) ?? this.#lastTop;
  }

  /** Expanded parts, as `row/part`. */
  get open(): readonly string[] {
    return [...this.#open];
  }

  /** Shows a new state of the list; a new generation starts at its first row. */
  show(state: FeedState): void {
    const isNew = state.generation !== this.#state?.generation;
    this.#state = state;
    if (isNew && state.keepsPosition) this.#keepPosition(state.length);
    else if (isNew) {
      this.#rows.clear();
      this.#requestState = undefined;
      this.#active = 0;
      this.#list.reset(0);
    } else {
      // Rows that were requested too early may be known now.
      if (this.#requestState === 'empty') this.#requestState = undefined;
      for (const [, drawn] of this.#drawn()) drawn.setAttribute('aria-setsize', this.#setSize());
      this.#list.update();
    }
    // A feed without articles is an error for screen readers.
    this.#list.feed.role = state.length > 0 ? 'feed' : 'group';
    this.#list.feed.ariaBusy = String(state.busy);
  }

  /** Shows another version of the rows at the same place. */
  #keepPosition(length: number): void {
    this.#active = Math.max(0, Math.min(this.#active, length - 1));
    if (this.#shown.last >= length) this.#list.reset(Math.max(0, Math.min(this.#list.position, length - 1)));
    this.requestAgain();
    this.#list.update();
  }

  /** Stores and draws requested rows. */
  take({ generation, from, rows }: { generation: number; from: number; rows: readonly Row[] }): void {
    if (generation !== this.#state?.generation) return;
    this.#requestState = rows.length === 0 ? 'empty' : undefined;
    // Unchanged rows keep the focus and a selection.
    const changed = rows.filter((row, index) => !this.#rows.has(from + index, row));
    this.#rows.store(from, rows, this.#shown.first, this.#shown.last);
    for (const row of changed) this.#redraw(from + rows.indexOf(row));
    this.#request();
    this.#source.onScroll();
  }

  /** Requests all rows again; the old ones are shown until then. */
  requestAgain(): void {
    this.#rows.expire(this.#shown.first, this.#shown.last);
    this.#requestState = undefined;
    this.#request();
  }

  /** Shows a position at the top and makes it the active row; moves the focus only if `withFocus`. */
  goTo(position: number, withFocus: boolean): void {
    this.#isReturning = false;
    this.#list.goTo(position);
    this.#activate(position, withFocus);
  }

  #didShow(first: number, last: number): void {
    this.#shown = { first, last };
    this.#lastTop = this.topRow;
    this.#updateTabStop();
    this.#request();
  }

  /** Requests drawn rows that are missing, one range at a time. */
  #request(): void {
    if (this.#requestState !== undefined || this.#state === undefined) return;
    const { first, last } = this.#shown;
    // Visible rows come first.
    const from =
      this.#rows.firstMissing(Math.max(first, this.#list.position), last) ??
      this.#rows.firstMissing(first, last);
    if (from === undefined) return;
    let count = 1;
    while (from + count <= last && this.#rows.isMissing(from + count)) count += 1;
    this.#requestState = 'pending';
    this.#source.need({ generation: this.#state.generation, from, count });
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
    const { words } = this.#source;
    if (row === undefined) {
      drawn.append(element('div', { class: 'note pending', text: words.rowsLoading }));
      return drawn;
    }
    const partKey = (key: string) => `${row.row}/${key}`;
    drawn.append(
      ...this.#source.draw(row, titleId, {
        isOpen: (key) => this.#open.has(partKey(key)),
        toggle: (key) => this.#toggle(partKey(key), position),
      }),
    );
    return drawn;
  }

  #toggle(part: string, position: number): void {
    this.#list.settle();
    if (!this.#open.delete(part)) this.#open.add(part);
    this.#redraw(position);
    this.#source.onScroll();
  }

  /** Draws the rows again, if what they show depends on something else, which changed. */
  redraw(): void {
    this.#list.settle();
    for (const [position] of this.#drawn()) this.#redraw(position);
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
    // −1 means unknown.
    return this.#state === undefined || this.#state.busy ? '-1' : String(this.#state.length);
  }

  /** The drawn rows with their positions. */
  *#drawn(): Generator<[position: number, drawn: HTMLElement]> {
    for (let position = this.#shown.first; position <= this.#shown.last; position++) {
      const drawn = this.#list.elementAt(position);
      if (drawn !== undefined) yield [position, drawn];
    }
  }

  /** Puts only the active row and its buttons into the tab order, or the top row if the active one is not drawn. */
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
    // If the active row was scrolled away, the keyboard continues from the top row.
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
        // On a button, Enter presses it.
        if (!(event.target as Element).matches('article, [role=feed]')) return;
        if (row !== undefined) this.#toggle(`${row.row}/${this.#source.enterPart}`, from);
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  /** Moves to the next row, or scrolls while a part of the current row is hidden. */
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

const MAX_CACHED_ROWS = 500;
const MAX_CACHED_CHARACTERS = 8_000_000;

/** Owns recently read rows by position, and drops the oldest when there are too many. */
class ReadRows<Row> {
  readonly #sizeOf: (row: Row) => number;
  readonly #rows = new Map<number, Row>();
  /** Positions to be read again; the old rows are shown until then. */
  readonly #stale = new Set<number>();

  constructor(sizeOf: (row: Row) => number) {
    this.#sizeOf = sizeOf;
  }

  at(position: number): Row | undefined {
    return this.#rows.get(position);
  }

  /** Whether a position has an equal row. */
  has(position: number, row: Row): boolean {
    const known = this.#rows.get(position);
    if (known === undefined || this.#sizeOf(known) !== this.#sizeOf(row)) return false;
    return JSON.stringify(known) === JSON.stringify(row);
  }

  /** Stores rows from a position on; never drops the drawn ones, from `first` to `last`. */
  store(from: number, rows: readonly Row[], first: number, last: number): void {
    for (const [index, row] of rows.entries()) {
      this.#rows.delete(from + index);
      this.#rows.set(from + index, row);
      this.#stale.delete(from + index);
    }
    let characters = 0;
    for (const row of this.#rows.values()) characters += this.#sizeOf(row);
    for (const [position, row] of this.#rows) {
      if (this.#rows.size <= MAX_CACHED_ROWS && characters <= MAX_CACHED_CHARACTERS) return;
      if (position >= first && position <= last) continue;
      this.#rows.delete(position);
      characters -= this.#sizeOf(row);
    }
  }

  /** Whether a position has to be read, or read again. */
  isMissing(position: number): boolean {
    return !this.#rows.has(position) || this.#stale.has(position);
  }

  /** Returns the first missing position of a range. */
  firstMissing(first: number, last: number): number | undefined {
    for (let position = first; position <= last; position++) if (this.isMissing(position)) return position;
    return undefined;
  }

  /** Marks the rows from `first` to `last` as stale, and drops all others. */
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
