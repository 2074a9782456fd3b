/** Rows that are made at once at most, before they are measured. */
const BATCH = 50;
const GUESSED_HEIGHT = 120;

/** Owns the rows that stand in the page: an unbroken run of positions, in order. */
export class DrawnRows {
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

  /** The position behind the last. */
  get end(): number {
    return this.#first + this.#elements.length;
  }

  /** What a row is high in the mean, or was when there were some; in pixels. */
  get meanHeight(): number {
    return this.#meanHeight;
  }

  at(position: number): HTMLElement | undefined {
    return this.#elements[position - this.#first];
  }

  /** The height of each, in pixels. */
  measure(): number[] {
    const heights = this.#elements.map((drawn) => drawn.getBoundingClientRect().height);
    if (heights.length > 0)
      this.#meanHeight = Math.max(10, heights.reduce((sum, height) => sum + height, 0) / heights.length);
    return heights;
  }

  /** Makes about as many as fill so many pixels, below; never a position of `length` or more. */
  append(pixels: number, length: number): void {
    const count = Math.min(length - this.end, this.#countFor(pixels));
    const made = Array.from({ length: count }, (_, index) => this.#draw(this.end + index));
    this.#elements.push(...made);
    this.#feed.append(...made);
  }

  /** Makes about as many as fill so many pixels, above. */
  prepend(pixels: number): void {
    const count = Math.min(this.#first, this.#countFor(pixels));
    const made = Array.from({ length: count }, (_, index) => this.#draw(this.#first - count + index));
    this.#elements.unshift(...made);
    this.#feed.prepend(...made);
    this.#first -= count;
  }

  /** Makes one anew. */
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

  /** Drops all, and begins anew at a position. */
  clear(first: number): void {
    for (const drawn of this.#elements.splice(0)) this.#remove(drawn);
    this.#first = first;
  }

  #countFor(pixels: number): number {
    return Math.min(BATCH, Math.max(1, Math.ceil(pixels / this.#meanHeight)));
  }

  /** The focus of a row that goes stays in the list. */
  #remove(drawn: HTMLElement | undefined): void {
    if (drawn?.contains(document.activeElement) === true) this.#feed.focus({ preventScroll: true });
    drawn?.remove();
  }
}
