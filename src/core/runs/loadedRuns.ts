import type { RunPage, RunSummary } from '../api/types.ts';
import { phaseOf } from './run.ts';
import { createdAtMs, mergeFirstPage, mergeLaterPage, oldestMs, type PageSearch } from './runPages.ts';
import type { SavedRuns } from './savedRuns.ts';

/** A known run whose status or artifact availability changed, perhaps before this window started. */
export interface Moved {
  runId: string;
  before: RunSummary;
  after: RunSummary;
}

/** How the list changed. */
export interface ListChange {
  added: readonly string[];
  changed: readonly string[];
  moved: readonly Moved[];
  isAnyRemoved: boolean;
  /** Whether the list was read for the first time, or became complete or incomplete. */
  isNews: boolean;
}

/** The end of the loaded list. */
interface ListEnd {
  hasMore: boolean;
  /** The cursor of the next page; undefined despite `hasMore` if the rows came from another window. */
  cursor: string | undefined;
  isIncomplete: boolean;
}
const ALL: Readonly<ListEnd> = { hasMore: false, cursor: undefined, isIncomplete: false };

/** Owns the loaded part of the list of runs: its rows (newest first), where it continues, and what changed. */
export class LoadedRuns {
  readonly #now: () => number;
  #rows: readonly RunSummary[] | undefined;
  #byId = new Map<string, RunSummary>();
  /** When runs were last seen to change, by this machine's clock. */
  readonly #changedAtMs = new Map<string, number>();
  /** Runs that ended according to their details, which don't say whether there are artifacts. */
  readonly #endedUnlisted = new Set<string>();
  /** The time since which every run is loaded. Older rows were added one by one, and there may be gaps. */
  #listedSinceMs = Infinity;
  #end: Readonly<ListEnd> = ALL;
  #skipped = 0;

  /** @param now returns milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Undefined until the first page was read. */
  get rows(): readonly RunSummary[] | undefined {
    return this.#rows;
  }

  get(runId: string): RunSummary | undefined {
    return this.#byId.get(runId);
  }

  has(runId: string): boolean {
    return this.#byId.has(runId);
  }

  get hasMore(): boolean {
    return this.#end.hasMore;
  }

  /** The cursor of the next page; undefined despite `hasMore` if the rows came from another window. */
  get cursor(): string | undefined {
    return this.#end.cursor;
  }

  /** Whether the service claimed more runs but sent no new ones or no cursor. */
  get isIncomplete(): boolean {
    return this.#end.isIncomplete;
  }

  /** The number of unreadable rows in the last pages. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Whether every run created since `timeMs` (milliseconds since the epoch) is loaded. */
  isCompleteSince(timeMs: number): boolean {
    if (this.#rows === undefined || this.#skipped > 0) return false;
    return !this.hasMore || this.#listedSinceMs < timeMs;
  }

  /** Returns the newest rows without a gap. Leaves out rows that no list has contained yet. */
  newest(count: number): readonly RunSummary[] {
    return (this.#rows ?? [])
      .slice(0, count)
      .filter((row) => isListed(row) && createdAtMs(row) >= this.#listedSinceMs);
  }

  /** When a run was seen to change; undefined if it was not. */
  seenToChangeMs(runId: string): number | undefined {
    return this.#changedAtMs.get(runId);
  }

  /**
   * Merges the newest pages.
   * @param rowsNow the rows of the last page
   * @param page the cursors of the last page and of the one after it
   * @param continues whether the next page will be read now
   */
  acceptNewest(
    { listed, reachesKnown }: PageSearch,
    rowsNow: readonly RunSummary[],
    { cursor, next }: { cursor: string | undefined; next: string | undefined },
    continues: boolean,
  ): ListChange {
    const { rows, isRestarted } = mergeFirstPage(this.#rows ?? [], listed, continues || reachesKnown);
    this.#extendListed(listed.data, isRestarted);
    // The cursor of the oldest loaded page stays valid while the rows of older pages are kept.
    const isNewEnd = isRestarted || (this.hasMore && this.#end.cursor === undefined);
    const end = isNewEnd ? endAt(listed.has_more, cursor, next) : this.#end;
    return this.#replace(rows, rowsNow, { skipped: listed.skipped, end });
  }

  /** Merges an older page. @param isEndless whether the service may send pages without new runs forever */
  acceptOlder(page: RunPage, next: string | undefined, isEndless: boolean): ListChange {
    const end = endAt(page.has_more, this.#end.cursor, next);
    this.#extendListed(page.data);
    return this.#replace(mergeLaterPage(this.#rows ?? [], page), page.data, {
      skipped: page.skipped,
      end: { ...end, isIncomplete: end.isIncomplete || isEndless },
    });
  }

  /** Merges the runs that another window read. */
  acceptSaved({ rows: saved, hasMore, skipped, contiguous, changedAtMs }: SavedRuns): ListChange {
    const newest = { data: saved.slice(0, contiguous), has_more: hasMore, skipped };
    const alone = { ...newest, data: saved.slice(contiguous) };
    const { rows, isRestarted } = mergeFirstPage(this.#rows ?? [], newest);
    this.#extendListed(newest.data, isRestarted);
    const end = isRestarted ? { ...ALL, hasMore } : this.#end;
    return this.#replace(mergeLaterPage(rows, alone), saved, { skipped, end }, new Map(changedAtMs));
  }

  /** Adds a single run that no page contained. @param hasEnded whether its detail says so */
  insert(row: RunSummary, hasEnded: boolean): void {
    this.#compare([row], new Map());
    this.#rows = mergeLaterPage(this.#rows ?? [], { data: [row], has_more: false, skipped: 0 });
    if (hasEnded) this.#endedUnlisted.add(row.run_id);
  }

  /** Forgets everything, as before the first read. */
  clear(): void {
    for (const one of [this.#byId, this.#changedAtMs, this.#endedUnlisted]) one.clear();
    this.#rows = undefined;
    this.#listedSinceMs = Infinity;
    this.#end = ALL;
    this.#skipped = 0;
  }

  /** @param isRestarted whether previously listed rows are no longer loaded, or are behind a gap */
  #extendListed(rows: readonly RunSummary[], isRestarted = false): void {
    this.#listedSinceMs = Math.min(isRestarted ? Infinity : this.#listedSinceMs, oldestMs(rows));
  }

  /**
   * Replaces the list with a merged one.
   * @param listed the rows that were just read; the others are unchanged
   * @param changedAtMs when some of them changed, as seen by another window
   */
  #replace(
    rows: readonly RunSummary[],
    listed: readonly RunSummary[],
    { skipped, end }: { skipped: number; end: Readonly<ListEnd> },
    changedAtMs: ReadonlyMap<string, number> = new Map(),
  ): ListChange {
    const isNews = this.#rows === undefined || end.isIncomplete !== this.#end.isIncomplete;
    const change = this.#compare(listed, changedAtMs);
    const isAnyRemoved = this.#byId.size > rows.length;
    if (isAnyRemoved) {
      this.#byId = new Map(rows.map((row) => [row.run_id, row]));
      for (const runId of this.#changedAtMs.keys())
        if (!this.#byId.has(runId)) this.#changedAtMs.delete(runId);
    }
    this.#rows = rows;
    this.#skipped = skipped;
    this.#end = end;
    return { ...change, isAnyRemoved, isNews };
  }

  /** Stores rows, and determines what changed since they were last read. */
  #compare(listed: readonly RunSummary[], changedAtMs: ReadonlyMap<string, number>) {
    const change = { added: [] as string[], changed: [] as string[], moved: [] as Moved[] };
    for (const row of listed) {
      const { run_id: runId, status, artifacts_available } = row;
      const before = this.#byId.get(runId);
      this.#byId.set(runId, row);
      const wasEnded = this.#endedUnlisted.delete(runId) && phaseOf(row) === 'finished';
      const isMoved = before?.status !== status || before.artifacts_available !== artifacts_available;
      if (before === undefined) change.added.push(runId);
      else if (isMoved && !wasEnded) change.moved.push({ runId, before, after: row });
      const isSame = () => !isMoved && JSON.stringify(before) === JSON.stringify(row);
      if (before !== undefined && !isSame()) change.changed.push(runId);
      const isSeen = before === undefined ? createdAtMs(row) === Infinity : isMoved && !wasEnded;
      const seenAtMs = changedAtMs.get(runId) ?? (isSeen ? this.#now() : undefined);
      if (seenAtMs !== undefined) this.#changedAtMs.set(runId, seenAtMs);
    }
    return change;
  }
}

/** Whether a list has contained the run, not only the response to its submission. */
export function isListed(row: RunSummary): boolean {
  return createdAtMs(row) !== Infinity;
}

/** @param next undefined if the service sent no valid cursor; then the previous page is read again later */
function endAt(hasMore: boolean, cursor: string | undefined, next: string | undefined): Readonly<ListEnd> {
  return hasMore ? { hasMore, cursor: next ?? cursor, isIncomplete: next === undefined } : ALL;
}
