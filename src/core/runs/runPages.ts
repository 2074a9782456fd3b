import type { RunPage, RunSummary } from '../api/types.ts';
import { instantOf } from '../base/instant.ts';

/**
 * Merges the newest page, or the newest ones together, into the loaded rows. Rows of other pages stay. A row that should
 * be on it and is not is gone; a row without `created_at` (just submitted, not listed yet) stays. Where the page
 * and the loaded rows do not touch, runs may be missing between them: then only the page remains. Where it holds the
 * oldest remaining row, the list continues at its cursor (`restarted`).
 * @param doTouch where that is known from elsewhere, such as when what is missing is about to be read
 */
export function mergeFirstPage(
  rows: readonly RunSummary[],
  page: RunPage,
  doTouch?: boolean,
): { rows: readonly RunSummary[]; restarted: boolean } {
  const listed = new Set(page.data.map((row) => row.run_id));
  const waiting: RunSummary[] = [];
  const older: RunSummary[] = [];
  const oldest = oldestMs(page.data);
  let meet = false;
  for (const row of rows) {
    if (listed.has(row.run_id)) meet = true;
    else if (createdAtMs(row) === Infinity) waiting.push(row);
    else if (createdAtMs(row) <= oldest) older.push(row);
  }
  if (!page.has_more || !(doTouch ?? meet))
    return { rows: sorted([...waiting, ...page.data]), restarted: true };
  return { rows: sorted([...waiting, ...page.data, ...older]), restarted: older.length === 0 };
}

/** Merges an older page: its rows replace the loaded ones with their ids. */
export function mergeLaterPage(rows: readonly RunSummary[], page: RunPage): readonly RunSummary[] {
  const listed = new Set(page.data.map((row) => row.run_id));
  return sorted([...rows.filter((row) => !listed.has(row.run_id)), ...page.data]);
}

/** When a run was made, in milliseconds since the epoch; Infinity where that is unknown: it was just submitted. */
export function createdAtMs(row: RunSummary): number {
  const time = instantOf(row.created_at);
  return Number.isNaN(time) ? Infinity : time;
}

/** When the oldest of some runs was made. */
export function oldestMs(rows: readonly RunSummary[]): number {
  return rows.reduce((oldest, row) => Math.min(oldest, createdAtMs(row)), Infinity);
}

/** Newest first, as the service lists; a row without a time was just submitted and comes first. */
function sorted(rows: RunSummary[]): RunSummary[] {
  return rows
    .map((row) => ({ row, time: createdAtMs(row) }))
    .sort((a, b) => (a.time === b.time ? 0 : b.time - a.time))
    .map(({ row }) => row);
}

/** What one reading of the list from its beginning has seen, and whether it must continue. */
export class PageSearch {
  readonly #known: ReadonlySet<string>;
  readonly #wanted: Map<string, RunSummary>;
  readonly #maxGapPages: number;
  readonly #rows = new Map<string, RunSummary>();
  #pages = 0;
  /** How many of the last ones had nothing new. */
  #vain = 0;
  #skipped = 0;
  #hasMore = false;
  #touches: boolean;
  #oldestMs = Infinity;

  /**
   * @param known the loaded rows
   * @param wanted those of them that are searched for
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

  /** Whether another page may show more of what is searched for; a newer one that was not listed is gone. */
  get continues(): boolean {
    if (this.#vain >= this.#maxGapPages) return false;
    if (!this.#touches && this.#pages < this.#maxGapPages) return true;
    for (const row of this.#wanted.values()) if (createdAtMs(row) <= this.#oldestMs) return true;
    return false;
  }
}
