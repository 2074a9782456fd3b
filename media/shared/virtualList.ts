import { element } from './dom.ts';

/** The contents of a list; positions count from 0. */
export interface ListSource {
  length(): number;
  /** Creates the element of a position. */
  draw(position: number): HTMLElement;
  /** Called after each layout with the drawn positions. */
  shown(first: number, last: number): void;
  /** Called after each layout, such as after scrolling. */
  scrolled(): void;
}

/** Rows are drawn this many view heights above and below the view. */
const OVERSCAN = 0.75;
/** Pixels above and below the view in which the browser may scroll to focused, found or announced text. */
const ROOM = 10_000;
const MOST_DRAWN = 400;

/**
 * Scrolls through any number of rows of any height. Its state is the row at the top, and how far that one is
 * scrolled off. Only the rows around it are in the page, so heights need not be known in advance. One element
 * for all rows would be too tall: Chromium allows 33,554,432 pixels.
 */
export class VirtualList {
  readonly root: HTMLElement;
  /** Contains the rows. */
  readonly feed: HTMLElement;
  readonly #viewport: HTMLElement;
  readonly #room: HTMLElement;
  readonly #scrollbar: Scrollbar;
  readonly #source: ListSource;
  readonly #drawn: DrawnRows;
  #position = 0;
  #offset = 0;
  #frame: number | undefined;
  /** The position of `goTo`; stays in view while rows load and grow, until the user scrolls. */
  #target: number | undefined;

  constructor(source: ListSource, label: string) {
    this.#source = source;
    this.feed = element('div', {
      class: 'feed',
      attributes: { role: 'feed', 'aria-label': label, tabindex: '-1' },
    });
    this.#drawn = new DrawnRows(this.feed, (position) => source.draw(position));
    this.#room = element('div', { class: 'room' }, [this.feed]);
    this.#viewport = element('div', { class: 'viewport' }, [this.#room]);
    this.#scrollbar = new Scrollbar((fraction) => this.#goToFraction(fraction));
    this.root = element('div', { class: 'list' }, [this.#viewport, this.#scrollbar.root]);
    this.#viewport.addEventListener('scroll', () => this.#takeOverScroll());
    scrollByPointer(this.#viewport, (pixels) => this.scrollBy(pixels));
    new ResizeObserver(() => this.update()).observe(this.#viewport);
  }

  /** The position at the top. */
  get position(): number {
    return this.#position;
  }

  get viewHeight(): number {
    return this.#viewport.clientHeight;
  }

  /** The element of a position, if it is in the page. */
  elementAt(position: number): HTMLElement | undefined {
    return this.#drawn.at(position);
  }

  /** Redraws one position, if it is in the page. */
  redraw(position: number): void {
    this.#drawn.redraw(position);
    this.update();
  }

  /** Redraws everything, with this position at the top. */
  reset(position: number): void {
    this.settle();
    this.#drawn.clear(position);
    this.#position = position;
    this.#offset = 0;
    this.update();
  }

  /** Shows a position at the top. */
  goTo(position: number): void {
    this.#target = position;
    this.layOut();
  }

  /** Ends `goTo`: the row at the top stays there, whatever happens to other rows. */
  settle(): void {
    this.#target = undefined;
  }

  /** Scrolls as little as possible to show a position, or its start if it is taller than the view. */
  reveal(position: number): void {
    const drawn = this.elementAt(position);
    if (drawn === undefined) {
      this.goTo(position);
      return;
    }
    const view = this.#viewport.getBoundingClientRect();
    const { top, bottom } = drawn.getBoundingClientRect();
    if (top < view.top) this.scrollBy(top - view.top);
    else if (bottom > view.bottom) this.scrollBy(Math.min(top - view.top, bottom - view.bottom));
    this.layOut();
  }

  scrollBy(pixels: number): void {
    this.settle();
    this.#offset += pixels;
    this.update();
  }

  /** Lays out the rows in the next frame. */
  update(): void {
    this.#frame ??= requestAnimationFrame(() => this.layOut());
  }

  /** Lays out the rows now: draws missing ones, drops distant ones, and moves all to their place. */
  layOut(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    const length = this.#source.length();
    const view = this.viewHeight;
    this.#room.style.height = `${2 * ROOM + view}px`;
    if (this.#viewport.scrollTop !== ROOM) this.#viewport.scrollTop = ROOM;
    if (length === 0 || view === 0) {
      if (length === 0) this.#drawn.clear(0);
      this.#scrollbar.show(0, 1);
      return;
    }
    if (this.#target !== undefined) {
      this.#position = this.#target;
      this.#offset = 0;
    }
    // Skip rows if the user scrolled far past them.
    if (Math.abs(this.#offset) > view * 20) {
      this.#position += Math.trunc(this.#offset / this.#drawn.meanHeight);
      this.#offset = 0;
    }
    this.#position = Math.max(0, Math.min(this.#position, length - 1));
    if (this.elementAt(this.#position) === undefined) this.#drawn.clear(this.#position);
    let heights = this.#fill(view, length);
    this.#normalize(heights);
    // Keep the last row at or below the bottom of the view.
    const below = this.#bottom(heights) - view;
    const isEnd = this.#drawn.end === length;
    if (isEnd && below < 0) {
      this.#offset += below;
      heights = this.#fill(view, length);
      this.#normalize(heights);
    }
    this.#place(heights, view, length);
    this.#source.shown(this.#drawn.first, this.#drawn.end - 1);
    this.#source.scrolled();
  }

  /** Draws rows until the view and its surroundings are full. @returns the height of each row */
  #fill(view: number, length: number): number[] {
    const more = view * OVERSCAN;
    for (;;) {
      const heights = this.#drawn.measure();
      const missingBelow = view + more - this.#bottom(heights);
      const missingAbove = this.#top(heights) + more;
      const hasRoom = heights.length < MOST_DRAWN;
      if (missingBelow > 0 && this.#drawn.end < length && hasRoom) this.#drawn.append(missingBelow, length);
      else if (missingAbove > 0 && this.#drawn.first > 0 && hasRoom) this.#drawn.prepend(missingAbove);
      else return this.#prune(heights, view);
    }
  }

  /** Drops distant rows, but never the one at the top. */
  #prune(heights: number[], view: number): number[] {
    const far = view * OVERSCAN * 3;
    let top = this.#top(heights);
    let bottom = this.#bottom(heights);
    while (this.#drawn.first < this.#position && top + (heights[0] ?? 0) < -far) {
      top += heights.shift() ?? 0;
      this.#drawn.dropFirst();
    }
    while (this.#drawn.end - 1 > this.#position && bottom - (heights.at(-1) ?? 0) > view + far) {
      bottom -= heights.pop() ?? 0;
      this.#drawn.dropLast();
    }
    return heights;
  }

  /** Returns the start of the first drawn row, relative to the top of the view. */
  #top(heights: readonly number[]): number {
    return -this.#offset - sum(heights, this.#position - this.#drawn.first);
  }

  #bottom(heights: readonly number[]): number {
    return this.#top(heights) + sum(heights, heights.length);
  }

  /** Sets the position to the row that is visible at the top. */
  #normalize(heights: readonly number[]): void {
    const heightOf = (position: number) => heights[position - this.#drawn.first] ?? 0;
    const last = this.#drawn.first + heights.length - 1;
    while (this.#offset >= heightOf(this.#position) && this.#position < last) {
      this.#offset -= heightOf(this.#position);
      this.#position += 1;
    }
    while (this.#offset < 0 && this.#position > this.#drawn.first) {
      this.#position -= 1;
      this.#offset += heightOf(this.#position);
    }
    if (this.#position === 0 && this.#offset < 0) this.#offset = 0;
  }

  #place(heights: readonly number[], view: number, length: number): void {
    this.feed.style.transform = `translateY(${ROOM + Math.round(this.#top(heights))}px)`;
    const height = heights[this.#position - this.#drawn.first] ?? this.#drawn.meanHeight;
    const at = this.#position + this.#offset / Math.max(1, height);
    const visible = Math.min(length, view / this.#drawn.meanHeight);
    const isEnd = this.#drawn.end === length && this.#bottom(heights) <= view + 1;
    const isAll = isEnd && this.#position === 0 && this.#offset === 0;
    const fraction = isEnd ? 1 : Math.min(1, at / Math.max(1, length - visible));
    this.#scrollbar.show(fraction, isAll ? 1 : Math.min(0.98, visible / length));
  }

  #goToFraction(fraction: number): void {
    const length = this.#source.length();
    const visible = Math.min(length, this.viewHeight / this.#drawn.meanHeight);
    const at = fraction * Math.max(0, length - visible);
    this.#target = fraction >= 1 ? length - 1 : undefined;
    this.#position = Math.floor(at);
    this.#offset = (at - Math.floor(at)) * this.#drawn.meanHeight;
    this.update();
  }

  /** Applies what the browser has scrolled, and resets its scroll position to the middle. */
  #takeOverScroll(): void {
    const { scrollTop } = this.#viewport;
    if (Math.abs(scrollTop - ROOM) < 1) return;
    // A value of 0 means that the view was hidden, not scrolled.
    if (scrollTop > 0) this.scrollBy(scrollTop - ROOM);
    this.layOut();
  }
}

/** Returns the sum of the first heights. */
function sum(heights: readonly number[], count: number): number {
  return heights.slice(0, count).reduce((total, height) => total + height, 0);
}

/** Maximum rows to create before measuring them. */
const BATCH = 50;
const GUESSED_HEIGHT = 120;

/** Owns the drawn rows, which have consecutive positions. */
class DrawnRows {
  readonly #feed: HTMLElement;
  readonly #draw: (position: number) => HTMLElement;
  readonly #elements: HTMLElement[] = [];
  #first = 0;
  #meanHeight = GUESSED_HEIGHT;

  constructor(feed: HTMLElement, draw: (position: number) => HTMLElement) {
    this.#feed = feed;
    this.#draw = draw;
  }

  /** The first position. */
  get first(): number {
    return this.#first;
  }

  /** The position after the last. */
  get end(): number {
    return this.#first + this.#elements.length;
  }

  /** The mean height of the rows, in pixels. */
  get meanHeight(): number {
    return this.#meanHeight;
  }

  at(position: number): HTMLElement | undefined {
    return this.#elements[position - this.#first];
  }

  /** Returns the height of each row, in pixels. */
  measure(): number[] {
    const heights = this.#elements.map((drawn) => drawn.getBoundingClientRect().height);
    if (heights.length > 0) this.#meanHeight = Math.max(10, sum(heights, heights.length) / heights.length);
    return heights;
  }

  /** Adds rows at the end to fill about this many pixels; never a position of `length` or more. */
  append(pixels: number, length: number): void {
    const count = Math.min(length - this.end, this.#countFor(pixels));
    const made = Array.from({ length: count }, (_, index) => this.#draw(this.end + index));
    this.#elements.push(...made);
    this.#feed.append(...made);
  }

  /** Adds rows at the start to fill about this many pixels. */
  prepend(pixels: number): void {
    const count = Math.min(this.#first, this.#countFor(pixels));
    const made = Array.from({ length: count }, (_, index) => this.#draw(this.#first - count + index));
    this.#elements.unshift(...made);
    this.#feed.prepend(...made);
    this.#first -= count;
  }

  redraw(position: number): void {
    const old = this.at(position);
    if (old === undefined) return;
    const made = this.#draw(position);
    this.#elements[position - this.#first] = made;
    old.replaceWith(made);
  }

  dropFirst(): void {
    this.#remove(this.#elements.shift());
    this.#first += 1;
  }

  dropLast(): void {
    this.#remove(this.#elements.pop());
  }

  /** Drops all rows and starts over at a position. */
  clear(first: number): void {
    for (const drawn of this.#elements.splice(0)) this.#remove(drawn);
    this.#first = first;
  }

  #countFor(pixels: number): number {
    return Math.min(BATCH, Math.max(1, Math.ceil(pixels / this.#meanHeight)));
  }

  /** Removes a row; its focus moves to the list. */
  #remove(drawn: HTMLElement | undefined): void {
    if (drawn?.contains(document.activeElement) === true) this.#feed.focus({ preventScroll: true });
    drawn?.remove();
  }
}

const SMALLEST_THUMB = 30;

/** Owns the scrollbar of a list. It is for pointers only: the list itself handles keys. */
class Scrollbar {
  readonly root: HTMLInputElement;

  /** @param onMove called with the position that the user drags to, from 0 to 1 */
  constructor(onMove: (fraction: number) => void) {
    const range = { type: 'range', min: '0', max: '1', step: 'any', tabindex: '-1', 'aria-hidden': 'true' };
    this.root = element('input', { class: 'scrollbar', attributes: range });
    this.root.addEventListener('input', () => onMove(this.root.valueAsNumber));
    // Return the focus to where it was.
    this.root.addEventListener('focus', ({ relatedTarget }) => {
      if (relatedTarget instanceof HTMLElement) relatedTarget.focus({ preventScroll: true });
      else this.root.blur();
    });
  }

  /** @param fraction the position, from 0 to 1 @param part the visible share */
  show(fraction: number, part: number): void {
    this.root.classList.toggle('needless', part >= 1);
    const height = Math.max(SMALLEST_THUMB, this.root.clientHeight * part);
    this.root.style.setProperty('--thumb', `${height}px`);
    // While dragged, the thumb stays under the pointer.
    if (!this.root.matches(':active')) this.root.valueAsNumber = fraction;
  }
}

const LINE_PIXELS = 40;

/** Lets wheel and touch scroll an element without native scrolling. @param scrollBy called with pixels */
function scrollByPointer(view: HTMLElement, scrollBy: (pixels: number) => void): void {
  view.addEventListener(
    'wheel',
    (event) => {
      if (event.ctrlKey || event.deltaY === 0) return;
      const unit = { 0: 1, 1: LINE_PIXELS, 2: view.clientHeight }[event.deltaMode] ?? 1;
      scrollBy(event.deltaY * unit);
      event.preventDefault();
    },
    { passive: false },
  );
  let last: number | undefined;
  view.addEventListener('pointerdown', (event) => {
    last = event.pointerType === 'touch' ? event.clientY : undefined;
  });
  view.addEventListener('pointermove', (event) => {
    if (last === undefined || event.pointerType !== 'touch') return;
    scrollBy(last - event.clientY);
    last = event.clientY;
  });
  for (const end of ['pointerup', 'pointercancel'])
    view.addEventListener(end, () => {
      last = undefined;
    });
}
