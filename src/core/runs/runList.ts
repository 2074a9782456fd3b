import type { Client } from '../api/client.ts';
import { MAX_PAGE_SIZE, type RunPage, type RunSummary } from '../api/types.ts';
import type { Budget } from './pacing.ts';
import { createdAtMs, mergeFirstPage, mergeLaterPage, PageSearch } from './runPages.ts';
import { RunRows, type RowChange } from './runRows.ts';
import type { SavedRuns } from './savedList.ts';
import { shared, type Shared } from '../base/sharedWork.ts';

/** How many pages are read to close a gap between the newest runs and those that are loaded, or to find one that is new. */
const MAX_GAP_PAGES = 10;
/** How many pages are read at most in search of active runs, should a service's pages never end. */
const MAX_PAGES = 1_000;
/** How many runs are stored for other windows, besides the active ones. */
const MAX_SAVED_ROWS = 200;

/** Who hears of a list. */
export interface ListListener {
  /** The loaded runs of which a change is waited for. */
  watched(): readonly RunSummary[];
  onRead(change: RowChange): void;
  onFailed(): void;
}

/** Owns the service's list of an account's runs as far as it was read: its rows, and where it continues. */
export class RunList {
  readonly rows: RunRows;
  readonly #call: <T>(work: (client: Client) => Promise<T>) => Promise<T>;
  readonly #listener: ListListener;
  readonly #now: () => number;
  /** Rows that came alone: others may be missing between them and the newest. */
  readonly #loose = new Set<string>();
  #hasMore = false;
  /** Where the list continues; undefined, while there is more, where the rows came from another window. */
  #nextCursor: string | undefined;
  #isIncomplete = false;
  #skipped = 0;
  #readAtMs = 0;
  /** Whose answers count: a later reading of the newest rows makes those of an earlier one old. */
  #reading = 0;
  #isRefreshing = false;

  /** Reads the newest page, and those behind it until all that is watched was seen. @throws ApiError, KeyMissingError */
  readonly refresh: Shared<void>;

  /** Reads older pages until one brings a run that was not loaded. @throws ApiError, KeyMissingError */
  readonly loadMore: Shared<void>;

  constructor(
    call: <T>(work: (client: Client) => Promise<T>) => Promise<T>,
    listener: ListListener,
    now: () => number,
  ) {
    this.#call = call;
    this.#listener = listener;
    this.#now = now;
    this.rows = new RunRows(now);
    this.refresh = shared(async (isCurrent) => {
      this.#isRefreshing = true;
      try {
        await this.#readNewest({ isCurrent });
      } finally {
        if (isCurrent()) this.#isRefreshing = false;
      }
    });
    this.loadMore = shared((isCurrent) => this.#readOlder(isCurrent));
  }

  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Whether the service said last that there are more runs, and sent none that was new, or not where they are. */
  get isIncomplete(): boolean {
    return this.#isIncomplete;
  }

  /** Rows of the last pages that could not be read. */
  get skipped(): number {
    return this.#skipped;
  }

  /** When the last reading of the newest rows began that was answered. */
  get readAtMs(): number {
    return this.#readAtMs;
  }

  /** Reads as `refresh` does, with nobody waiting; a refresh that runs or begins takes its place. */
  async poll(budget: Budget): Promise<void> {
    if (!this.#isRefreshing) await this.#readNewest({ budget });
    if (this.#isRefreshing) await this.refresh();
  }

  /** Takes in a run that came alone. @param hasEnded whether that is known of it */
  insert(row: RunSummary, hasEnded: boolean): void {
    if (createdAtMs(row) !== Infinity) this.#loose.add(row.run_id);
    const rows = mergeLaterPage(this.rows.all ?? [], { data: [row], has_more: false, skipped: 0 });
    this.rows.accept(rows, [row]);
    if (hasEnded) this.rows.noteEndedUnlisted(row.run_id);
  }

  /** What is stored for other windows; undefined until something was read. */
  save(labelOf: (runId: string) => string | undefined): SavedRuns | undefined {
    if (this.rows.all === undefined) return undefined;
    const isListed = (row: RunSummary) => createdAtMs(row) !== Infinity;
    const watched = this.#listener.watched().filter(isListed);
    const newest = new Set<RunSummary>();
    let isCut = false;
    for (const row of this.rows.all) {
      isCut = newest.size === MAX_SAVED_ROWS;
      if (isCut) break;
      if (!this.#loose.has(row.run_id) && isListed(row)) newest.add(row);
    }
    const rows = [...newest, ...watched.filter((row) => !newest.has(row))];
    return {
      rows,
      contiguous: newest.size,
      hasMore: this.#hasMore || isCut,
      skipped: this.#skipped,
      labels: rows.flatMap(({ run_id }) => {
        const label = labelOf(run_id);
        return label === undefined ? [] : [[run_id, label] as const];
      }),
      changedAtMs: watched.map((row) => [row.run_id, this.rows.changedAtMs(row)] as const),
    };
  }

  /** Takes in what another window has read, unless something was read here since. @returns whether it did */
  acceptSaved(saved: SavedRuns, readAtMs: number): boolean {
    // Where what was read here is of the future, the clock was set back.
    if (readAtMs < this.#readAtMs && this.#readAtMs <= this.#now()) return false;
    this.#readAtMs = readAtMs;
    // What is on its way here may be older.
    if (!this.#isRefreshing) this.#reading++;
    const newest = {
      data: saved.rows.slice(0, saved.contiguous),
      has_more: saved.hasMore,
      skipped: saved.skipped,
    };
    const alone = saved.rows.slice(saved.contiguous);
    const { rows, restarted } = mergeFirstPage(this.rows.all ?? [], newest);
    if (restarted) {
      this.#nextCursor = undefined;
      this.#hasMore = saved.hasMore;
      this.#isIncomplete = false;
    }
    for (const { run_id } of newest.data) this.#loose.delete(run_id);
    for (const { run_id } of alone) if (this.rows.get(run_id) === undefined) this.#loose.add(run_id);
    const merged = mergeLaterPage(rows, { ...newest, data: alone });
    this.#publish(merged, saved.rows, saved.skipped, new Map(saved.changedAtMs));
    return true;
  }

  /** Lets what is on its way be read again. */
  drop(): void {
    this.#reading++;
    this.#isRefreshing = false;
    this.refresh.drop();
    this.loadMore.drop();
  }

  /** Forgets everything, also what is on its way. */
  clear(): void {
    this.drop();
    this.rows.clear();
    this.#loose.clear();
    this.#nextCursor = undefined;
    this.#hasMore = false;
    this.#isIncomplete = false;
    this.#skipped = 0;
    this.#readAtMs = 0;
  }

  /** @param reading `isCurrent`: whether its answers count, for all that its caller knows; `budget`: nobody waits for it */
  async #readNewest({ isCurrent, budget }: { isCurrent?: () => boolean; budget?: Budget }): Promise<void> {
    const reading = ++this.#reading;
    const counts = () => reading === this.#reading && isCurrent?.() !== false;
    const startedMs = this.#now();
    const watched = this.#listener.watched();
    const search = new PageSearch(this.rows.all ?? [], watched, MAX_GAP_PAGES);
    // Old active runs are searched for when there is plenty, so that new ones are polled often; a gap is always closed.
    const goesDeep = budget?.hasPlenty(this.#pagesTo(watched.at(-1)) - 1) ?? true;
    let cursor: string | undefined;
    for (let pages = 1; ; pages++) {
      let page: RunPage;
      try {
        page = await this.#list(cursor, budget !== undefined);
      } catch (error) {
        if (!counts() && budget !== undefined) return;
        // What is missing between the new rows and the old ones will not come now.
        if (counts() && pages > 1 && !search.touches) this.#acceptNewest(search, [], cursor, cursor, false);
        if (counts()) this.#listener.onFailed();
        throw error;
      }
      if (!counts()) return;
      this.#readAtMs = startedMs;
      search.add(page);
      const next = cursorAfter(page, cursor);
      const mayContinue = goesDeep || !search.touches;
      const continues = next !== undefined && pages < MAX_PAGES && mayContinue && search.continues;
      this.#acceptNewest(search, page.data, cursor, next, continues);
      if (next === undefined || !continues) break;
      cursor = next;
      budget?.owe();
    }
  }

  /** About the page of the list on which a loaded run is. */
  #pagesTo(run: RunSummary | undefined): number {
    const index = run === undefined ? 0 : (this.rows.all ?? []).indexOf(run);
    return Math.floor(Math.max(0, index) / MAX_PAGE_SIZE) + 1;
  }

  async #readOlder(isCurrent: () => boolean): Promise<void> {
    for (let pages = 1; this.#hasMore && pages <= MAX_GAP_PAGES; pages++) {
      // Where the list continues is only known from its beginning.
      if (this.#nextCursor === undefined) await this.refresh();
      const cursor = this.#nextCursor;
      if (cursor === undefined) return;
      const page = await this.#list(cursor, false);
      // Meanwhile the list was read from its beginning: this page would leave a gap before it.
      if (!isCurrent() || this.#nextCursor !== cursor) return;
      const isAnyNew = page.data.some(({ run_id }) => this.rows.get(run_id) === undefined);
      this.#goOnAt(page.has_more, cursor, cursorAfter(page, cursor));
      // It may continue like this forever.
      if (page.has_more && !isAnyNew && pages === MAX_GAP_PAGES) this.#isIncomplete = true;
      this.#acceptPage(mergeLaterPage(this.rows.all ?? [], page), page.data, page.skipped);
      if (isAnyNew || this.#isIncomplete) return;
    }
  }

  #list(cursor: string | undefined, isBackground: boolean): Promise<RunPage> {
    const page = { limit: MAX_PAGE_SIZE, ...(cursor !== undefined && { cursor }) };
    return this.#call((client) => client.listRuns(page, { isBackground }));
  }

  /**
   * @param cursor of the last page that was read
   * @param next where the list continues behind it
   * @param continues whether that is read now
   */
  #acceptNewest(
    search: PageSearch,
    listed: readonly RunSummary[],
    cursor: string | undefined,
    next: string | undefined,
    continues: boolean,
  ): void {
    const { rows, restarted } = mergeFirstPage(
      this.rows.all ?? [],
      search.listed,
      continues || search.touches,
    );
    // The cursor of the oldest loaded page stays valid while rows of older pages are kept.
    if (restarted || (this.#hasMore && this.#nextCursor === undefined))
      this.#goOnAt(search.listed.has_more, cursor, next);
    this.#acceptPage(rows, listed, search.listed.skipped);
  }

  /** @param next undefined where the service does not say where it has more: the page before is read again, another time */
  #goOnAt(hasMore: boolean, cursor: string | undefined, next: string | undefined): void {
    this.#nextCursor = hasMore ? (next ?? cursor) : undefined;
    this.#hasMore = hasMore;
    this.#isIncomplete = hasMore && next === undefined;
  }

  #acceptPage(rows: readonly RunSummary[], listed: readonly RunSummary[], skipped: number): void {
    for (const { run_id } of listed) this.#loose.delete(run_id);
    this.#publish(rows, listed, skipped);
  }

  #publish(
    rows: readonly RunSummary[],
    listed: readonly RunSummary[],
    skipped: number,
    changedAtMs?: ReadonlyMap<string, number>,
  ): void {
    this.#skipped = skipped;
    this.#listener.onRead(this.rows.accept(rows, listed, changedAtMs));
  }
}

/** A cursor counts only where the service says that there is more (spec: "Pagination envelope"), and leads further. */
function cursorAfter(page: RunPage, before: string | undefined): string | undefined {
  return page.has_more && page.next_cursor !== before ? page.next_cursor : undefined;
}
