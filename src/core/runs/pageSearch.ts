import type { RunPage, RunSummary } from '../api/types.ts';
import { createdAtMs, oldestMs } from './mergeRuns.ts';

/** What one reading of the list from its beginning has seen, and whether it must go on. */
export class PageSearch {
  readonly #known: ReadonlySet<string>;
  readonly #wanted: Map<string, RunSummary>;
  readonly #maxGapPages: number;
  readonly #rows = new Map<string, RunSummary>();
  #pages = 0;
  /** How many of the last ones told nothing new. */
  #vain = 0;
  #skipped = 0;
  #hasMore = false;
  #touches: boolean;
  #oldestMs = Infinity;

  /**
   * @param known the loaded rows
   * @param wanted those of them that are looked for
   * @param maxGapPages how many pages are read to find any of the loaded rows, or one that was not seen before
   */
  constructor(known: readonly RunSummary[], wanted: readonly RunSummary[], maxGapPages: number) {
    this.#known = new Set(known.map(({ run_id }) => run_id));
    this.#wanted = new Map(wanted.map((row) => [row.run_id, row]));
    this.#maxGapPages = maxGapPages;
    this.#touches = known.length === 0;
  }

  /** Takes in the page behind those that it has seen. */
  add(page: RunPage): void {
    const before = this.#rows.size;
    this.#pages++;
    this.#skipped += page.skipped;
    this.#hasMore = page.has_more;
    this.#oldestMs = Math.min(this.#oldestMs, oldestMs(page.data));
    for (const row of page.data) {
      this.#rows.set(row.run_id, row);
      this.#wanted.delete(row.run_id);
      if (this.#known.has(row.run_id)) this.#touches = true;
    }
    this.#vain = this.#rows.size > before ? 0 : this.#vain + 1;
  }

  /** All pages together. */
  get listed(): RunPage {
    return { data: [...this.#rows.values()], has_more: this.#hasMore, skipped: this.#skipped };
  }

  /** Whether there is nothing between what was read and what was loaded. */
  get touches(): boolean {
    return this.#touches;
  }

  /** Whether another page may tell more of what is looked for; a newer one that was not listed is gone. */
  get goesOn(): boolean {
    if (this.#vain >= this.#maxGapPages) return false;
    if (!this.#touches && this.#pages < this.#maxGapPages) return true;
    for (const row of this.#wanted.values()) if (createdAtMs(row) <= this.#oldestMs) return true;
    return false;
  }
}
