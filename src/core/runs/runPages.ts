import type { RunPage, RunSummary } from '../api/types.ts';
import { instantOf } from '../base/clock.ts';
import { counted } from '../base/rareCases.ts';

/**
 * Merges the newest page, or several as one, into the loaded rows. Removes rows in the page's range that it doesn't
 * contain. Keeps older rows, and rows without `created_at`: they were just submitted. If page and loaded rows have no
 * row in common, runs may be missing in between, so older rows are dropped. `isRestarted`: the page has the oldest
 * remaining row, so the list continues at its cursor.
 * @param doTouch overrides whether they have a row in common, for example if the missing pages are read next
 */
export function mergeFirstPage(
  rows: readonly RunSummary[],
  page: RunPage,
  doTouch?: boolean,
): { rows: readonly RunSummary[]; isRestarted: boolean } {
  const listed = new Set(page.data.map((row) => row.run_id));
  const waiting: RunSummary[] = [];
  const older: RunSummary[] = [];
  const oldest = oldestMs(page.data);
  let doMeet = false;
  for (const row of rows) {
    if (listed.has(row.run_id)) doMeet = true;
    else if (createdAtMs(row) === Infinity) waiting.push(row);
    else if (createdAtMs(row) <= oldest) older.push(row);
  }
  if (!page.has_more || !(doTouch ?? doMeet))
    return { rows: sorted([...waiting, ...page.data]), isRestarted: true };
  return { rows: sorted([...waiting, ...page.data, ...older]), isRestarted: older.length === 0 };
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

/** Sorts newest first, like the service. Rows without a time come first: they were just submitted. */
function sorted(rows: RunSummary[]): RunSummary[] {
  return rows
    .map((row) => ({ row, time: createdAtMs(row) }))
    .sort((a, b) => (a.time === b.time ? 0 : b.time - a.time))
    .map(({ row }) => row);
}

/** Collects the pages of one read from the start of the list, and decides whether to read another one. */
export class PageSearch {
  readonly #known: ReadonlySet<string>;
  readonly #wanted: Map<string, RunSummary>;
  readonly #maxGapPages: number;
  readonly #rows = new Map<string, RunSummary>();
  #pages = 0;
  /** The number of pages since the last one that had a new row. */
  #pagesWithoutNews = 0;
  #skipped = 0;
  #hasMore = false;
  /** Whether the pages reach a loaded row, so that no runs are missing in between. */
  reachesKnown: boolean;
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
    this.reachesKnown = known.length === 0;
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
      if (this.#known.has(row.run_id)) this.reachesKnown = true;
    }
    this.#pagesWithoutNews = this.#rows.size > before ? 0 : this.#pagesWithoutNews + 1;
  }

  /** All pages as one. */
  get listed(): RunPage {
    return { data: [...this.#rows.values()], has_more: this.#hasMore, skipped: this.#skipped };
  }

  /**
   * Whether to read another page: it may close the gap, or have wanted rows. A wanted row newer than the pages is
   * gone.
   */
  get continues(): boolean {
    if (this.#pagesWithoutNews >= this.#maxGapPages) return false;
    if (!this.reachesKnown && this.#pages < this.#maxGapPages) return true;
    const isBelow = [...this.#wanted.values()].some((row) => createdAtMs(row) <= this.#oldestMs);
    return counted('deep-run', isBelow);
  }
}
