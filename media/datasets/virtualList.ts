import { element } from '../shared/dom.ts';
import { DrawnRows } from './drawnRows.ts';
import { scrollByPointer } from './pointerScrolling.ts';
import { Scrollbar } from './scrollbar.ts';

/** What a list shows; positions count from 0. */
export interface ListSource {
  length(): number;
  /** Makes the element of a position. */
  draw(position: number): HTMLElement;
  /** Is told which positions stand in the page. */
  shown(first: number, last: number): void;
  /** Is told that the list was scrolled. */
  scrolled(): void;
}

/** Rows are drawn this many view heights above and below what is seen. */
const OVERSCAN = 0.75;
/** Room above and below in which the browser itself may scroll, to what is focused, found or read out. */
const ROOM = 10_000;
const MOST_DRAWN = 400;

/**
 * Scrolls through any number of rows of any height. What is true is which row stands at the top and how much of it is
 * scrolled off; only the rows around it are in the page. So no height has to be known before, and no element has to be as
 * high as all rows together, which browsers cut at some ten million pixels.
 */
export class VirtualList {
  readonly root: HTMLElement;
  /** What holds the rows. */
  readonly feed: HTMLElement;
  readonly #viewport: HTMLElement;
  readonly #room: HTMLElement;
  readonly #scrollbar: Scrollbar;
  readonly #source: ListSource;
  readonly #drawn: DrawnRows;
  #position = 0;
  #offset = 0;
  #frame: number | undefined;
  /** What was gone to stays in view while rows around it are read and grow, until somebody scrolls. */
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

  /** Draws one position anew, if it is in the page. */
  redraw(position: number): void {
    this.#drawn.redraw(position);
    this.update();
  }

  /** Draws everything anew, from this position on at the top. */
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

  /** What is at the top now stays there, whatever becomes of the rows below. */
  settle(): void {
    this.#target = undefined;
  }

  /** Scrolls as little as needed to show a position, its beginning where it is higher than the view. */
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

  /** Lays the rows out with the next picture. */
  update(): void {
    this.#frame ??= requestAnimationFrame(() => this.layOut());
  }

  /** Lays the rows out now: draws what is missing, drops what is far, and moves the rest to its place. */
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
    this.#position = Math.max(0, Math.min(this.#position, length - 1));
    if (Math.abs(this.#offset) > view * 20) this.#jump();
    this.#keepAnchor();
    let heights = this.#fill(view, length);
    this.#normalize(heights);
    // The last row does not go higher than the lower end of the view.
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

  /** Drawn rows that the position is not among are of no use. */
  #keepAnchor(): void {
    if (this.#position < this.#drawn.first || this.#position >= this.#drawn.end)
      this.#drawn.clear(this.#position);
  }

  /** Draws rows until the view and its surroundings are full, and tells the height of each. */
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

  /** Drops rows that are far away; the one at the top stays. */
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

  /** Where the first drawn row begins, from the view's top. */
  #top(heights: readonly number[]): number {
    return -this.#offset - sum(heights, this.#position - this.#drawn.first);
  }

  #bottom(heights: readonly number[]): number {
    return this.#top(heights) + sum(heights, heights.length);
  }

  /** Makes the row at the top the one that is seen there. */
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

  /** So far that no row in between need be drawn. */
  #jump(): void {
    const rows = Math.trunc(this.#offset / this.#drawn.meanHeight);
    this.#position = Math.max(0, Math.min(this.#position + rows, this.#source.length() - 1));
    this.#offset = 0;
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

  /** Takes what the browser has scrolled by itself for a way of its own, and goes back to the middle of the room. */
  #takeOverScroll(): void {
    const { scrollTop } = this.#viewport;
    if (Math.abs(scrollTop - ROOM) < 1) return;
    // At 0 it was only made anew, as after it was hidden.
    if (scrollTop > 0) this.scrollBy(scrollTop - ROOM);
    this.layOut();
  }
}

function sum(heights: readonly number[], count: number): number {
  let total = 0;
  for (let index = 0; index < count; index++) total += heights[index] ?? 0;
  return total;
}
