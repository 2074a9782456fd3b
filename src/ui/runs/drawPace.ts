import type { Disposable } from '../../core/base/disposable.ts';

/** So many rows are drawn in no time. */
export const AT_ONCE = 1_000;
/** VS Code takes the more time, the more rows it is given. */
const ROWS_PER_MS = 10;

/** Has a long list drawn now and then, and not at each change of it: at once where it is short, or stood a while. */
export class DrawPace implements Disposable {
  readonly #draw: () => void;
  #freeAtMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  draw(rows: number): void {
    const waitMs = this.#freeAtMs - performance.now();
    if (rows <= AT_ONCE || waitMs <= 0) this.#now(rows);
    else this.#timer ??= setTimeout(() => this.#now(rows), waitMs);
  }

  dispose(): void {
    clearTimeout(this.#timer);
  }

  #now(rows: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#freeAtMs = performance.now() + rows / ROWS_PER_MS;
    this.#draw();
  }
}
