import type { RunPage, RunSummary } from '../api/types.ts';
import { instantOf } from '../base/clock.ts';
import { counted } from '../base/rareCases.ts';

/**
 * Merges the newest page, or several as one, into the loaded rows. Removes rows in the page's range that it
 * doesn't contain. Keeps older rows, and rows without `created_at`: they were just submitted. If page and
 * loaded rows don't touch, runs may be missing in between, so older rows are dropped. `restarted`: the page
 * contains the oldest remaining row, so the list continues at its cursor.
 * @param doTouch overrides the detection, for example when the missing pages are about to be read
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

/** Merges an older page; its rows replace loaded rows with the same IDs. */
export function mergeLaterPage(rows: readonly RunSummary[], page: RunPage): readonly RunSummary[] {
  const listed = new Set(page.data.map((row) => row.run_id));
  return sorted([...rows.filter((row) => !listed.has(row.run_id)), ...page.data]);
}

/** Returns the creation time in milliseconds since the epoch; Infinity if unknown: just submitted. */
export function createdAtMs(row: RunSummary): number {
  const time = instantOf(row.created_at);
  return Number.isNaN(time) ? Infinity : time;
}

/** Returns the creation time of the oldest run. */
export function oldestMs(rows: readonly RunSummary[]): number {
  return rows.reduce((oldest, row) => Math.min(oldest, createdAtMs(row)), Infinity);
}

/** Sorts newest first, like the service; rows without a time were just submitted and come first. */
function sorted(rows: RunSummary[]): RunSummary[] {
  return rows
    .map((row) => ({ row, time: createdAtMs(row) }))
    .sort((a, b) => (a.time === b.time ? 0 : b.time - a.time))
    .map(({ row }) => row);
}

/** Collects the pages of one read from the start of the list, and decides whether to continue. */
export class PageSearch {
  readonly #known: ReadonlySet<string>;
  readonly #wanted: Map<string, RunSummary>;
  readonly #maxGapPages: number;
  readonly #rows = new Map<string, RunSummary>();
  #pages = 0;
  /** The number of pages since the last one with new rows. */
  #vain = 0;
  #skipped = 0;
  #hasMore = false;
  /** Whether no runs are missing between the read and the loaded rows. */
  touches: boolean;
  #oldestMs = Infinity;

  /**
   * @param known the loaded rows
   * @param wanted the loaded rows to search for
   * @param maxGapPages how many pages may be read without reaching a loaded row, or without any new row
   */
  constructor(known: readonly RunSummary[], wanted: readonly RunSummary[], maxGapPages: number) {
    this.#known = new Set(known.map(({ run_id }) => run_id));
    this.#wanted = new Map(wanted.map((row) => [row.run_id, row]));
    this.#maxGapPages = maxGapPages;
    this.touches = known.length === 0;
  }

  /** Adds the next page. */
  add(page: RunPage): void {
    const before = this.#rows.size;
    this.#pages++;
    this.#skipped += page.skipped;
    this.#hasMore = page.has_more;
    this.#oldestMs = Math.min(this.#oldestMs, oldestMs(page.data));
    for (const row of page.data) {
      this.#rows.set(row.run_id, row);
      this.#wanted.delete(row.run_id);
      if (this.#known.has(row.run_id)) this.touches = true;
    }
    this.#vain = this.#rows.size > before ? 0 : this.#vain + 1;
  }

  /** All pages as one. */
  get listed(): RunPage {
    return { data: [...this.#rows.values()], has_more: this.#hasMore, skipped: this.#skipped };
  }

  /** Whether another page may contain wanted rows. A wanted row newer than the pages read is gone. */
  get continues(): boolean {
    if (this.#vain >= this.#maxGapPages) return false;
    if (!this.touches && this.#pages < this.#maxGapPages) return true;
    const isBelow = [...this.#wanted.values()].some((row) => createdAtMs(row) <= this.#oldestMs);
    return counted('deep-run', isBelow);
  }
}
