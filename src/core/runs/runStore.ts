import type { Client } from '../api/client.ts';
import {
  MAX_PAGE_SIZE,
  type RunCreation,
  type RunDetail,
  type RunPage,
  type RunSummary,
} from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { shared, type Shared } from '../base/sharedWork.ts';
import { DetailStore } from './detailStore.ts';
import type { Budget } from './pacing.ts';
import { phaseOf, type Phase } from './phase.ts';
import { createdAtMs, mergeFirstPage, mergeLaterPage, PageSearch } from './runPages.ts';
import { RunRows, type Moved } from './runRows.ts';
import type { SavedList, SavedRuns } from './savedList.ts';

/** How many pages are read to close a gap between the newest runs and those that are loaded, or to find one that is new. */
const MAX_GAP_PAGES = 10;
/** How many pages are read at most in search of active runs, should a service's pages never end. */
const MAX_PAGES = 1_000;
/** How many runs are stored for other windows, besides the active ones. */
const MAX_SAVED_ROWS = 200;

export interface RunChange {
  added: readonly string[];
  /** Rows, details or labels; what moved is among them. */
  changed: readonly string[];
  moved: readonly Moved[];
}

/**
 * Owns what is known of an account's runs, newest first: the service's list as far as it was read, and where it continues;
 * details and labels are added as they become known.
 */
export class RunStore implements Disposable {
  readonly #call: <T>(work: (client: Client) => Promise<T>) => Promise<T>;
  readonly #now: () => number;
  readonly #onDidChange = new Emitter<RunChange>();
  readonly #rows: RunRows;
  readonly #details: DetailStore;
  readonly #labels = new Map<string, string>();
  /** Rows that came alone: others may be missing between them and the newest. */
  readonly #loose = new Set<string>();
  #hasMore = false;
  /** Where the list continues; undefined, while there is more, where the rows came from another window. */
  #nextCursor: string | undefined;
  #isIncomplete = false;
  #wasIncomplete = false;
  #skipped = 0;
  #readAtMs = 0;
  #isRead = false;
  #failed = false;
  /** Whose answers count: a later reading of the newest rows makes those of an earlier one old. */
  #reading = 0;
  #isRefreshing = false;

  /** Fires when rows or details changed, and when reading them began to fail or succeeded again. */
  readonly onDidChange = this.#onDidChange.event;

  /**
   * Reads the newest page and merges it, and those behind it until all active runs were seen; calls that overlap share
   * it. @throws ApiError, KeyMissingError
   */
  readonly refresh: Shared<void>;

  /** Reads older pages until one brings a run that was not loaded; calls that overlap share it. @throws ApiError, KeyMissingError */
  readonly loadMore: Shared<void>;

  /** @param now milliseconds since the epoch */
  constructor(call: <T>(work: (client: Client) => Promise<T>) => Promise<T>, now: () => number = Date.now) {
    this.#call = call;
    this.#now = now;
    this.#rows = new RunRows(now);
    this.#details = new DetailStore(call, (runId, detail) => this.#acceptDetail(runId, detail));
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

  /**
   * Reads as `refresh` does, with nobody waiting for it: no request is repeated, and a refresh that runs or begins takes
   * its place. @throws ApiError, KeyMissingError
   */
  async poll(budget: Budget): Promise<void> {
    if (!this.#isRefreshing) await this.#readNewest({ budget });
    if (this.#isRefreshing) await this.refresh();
  }

  /** Whether the newest page could not be read at the last try. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Undefined until the first page was read. */
  get rows(): readonly RunSummary[] | undefined {
    return this.#rows.all;
  }

  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Whether the service said last that there are more runs, and sent none that was new, or not where they are; `loadMore` tries again. */
  get isIncomplete(): boolean {
    return this.#isIncomplete;
  }

  /** Rows of the last pages that could not be read. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Whether every run that was created since then is loaded: milliseconds since the epoch. */
  isCompleteSince(timeMs: number): boolean {
    if (this.rows === undefined || this.#skipped > 0) return false;
    const isOlder = (row: RunSummary) => createdAtMs(row) < timeMs && !this.#loose.has(row.run_id);
    return !this.#hasMore || this.rows.some(isOlder);
  }

  /** When the last reading of the newest rows began that was answered, here or in the window that polls. */
  get readAtMs(): number {
    return this.#readAtMs;
  }

  get(runId: string): RunSummary | undefined {
    return this.#rows.get(runId);
  }

  detail(runId: string): RunDetail | undefined {
    return this.#details.get(runId);
  }

  /** Why the detail could not be read; forgotten when the run changes, and by `retryDetails`. */
  detailFailure(runId: string): unknown {
    return this.#details.failure(runId);
  }

  /** The label, where it is known: the list has none. */
  label(runId: string): string | undefined {
    return this.#details.get(runId)?.label ?? this.#labels.get(runId);
  }

  phase(run: RunSummary): Phase {
    return phaseOf(run, this.#details.get(run.run_id));
  }

  /** How many of the loaded runs wait or are active; an unknown status counts for a week without a change. */
  get activeCount(): number {
    const isActive = (run: RunSummary) => this.#rows.isActive(run, this.phase(run));
    return (this.rows ?? []).filter(isActive).length;
  }

  /** The loaded runs of which a change is waited for. */
  get watched(): readonly RunSummary[] {
    return (this.rows ?? []).filter((run) => this.#rows.isWatched(run, this.phase(run)));
  }

  /** When a run was last seen to change, in milliseconds since the epoch by this machine's clock. */
  changedAtMs(run: RunSummary): number {
    return this.#rows.changedAtMs(run);
  }

  /** What is stored for other windows; undefined until something was read. */
  save(): SavedRuns | undefined {
    if (this.rows === undefined) return undefined;
    const isListed = (row: RunSummary) => createdAtMs(row) !== Infinity;
    const watched = this.watched.filter(isListed);
    const newest = new Set<RunSummary>();
    let isCut = false;
    for (const row of this.rows) {
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
        const label = this.label(run_id);
        return label === undefined ? [] : [[run_id, label]];
      }),
      changedAtMs: watched.map((row) => [row.run_id, this.changedAtMs(row)]),
    };
  }

  /** Takes in what the window that polls has read, unless something was read here since. */
  acceptSaved({
    readAtMs,
    runs,
    offlineSinceMs,
  }: Pick<SavedList, 'readAtMs' | 'runs' | 'offlineSinceMs'>): void {
    if (runs !== undefined) {
      this.knowLabels(runs.labels);
      this.#acceptSaved(runs, readAtMs);
    }
    if (offlineSinceMs !== undefined) this.#setFailed();
  }

  /**
   * Reads one run; calls that overlap share one request. A run that no page has shown yet gets a row.
   * @param options `isBackground`: nobody waits for it, so that it is one request at most
   * @throws ApiError, KeyMissingError
   */
  loadDetail(runId: string, { isBackground = false }: { isBackground?: boolean } = {}): Promise<RunDetail> {
    return this.#details.load(runId, isBackground);
  }

  /** Takes in details that were read earlier, where none is held. */
  knowDetails(details: Iterable<RunDetail>): void {
    const known = [...details].filter((detail) => this.#details.know(detail));
    const changed = known.map(({ run_id }) => run_id).filter((runId) => this.get(runId) !== undefined);
    this.#haveChanged(changed);
  }

  /** Lets details that could not be read be read again, as the user asked. */
  retryDetails(): void {
    this.#haveChanged(this.#details.forgetFailures());
  }

  /** Takes in a run that was just submitted, before any list names it. */
  insertCreated(run: RunCreation, modelId: string, label: string | undefined): void {
    if (label !== undefined) this.#labels.set(run.run_id, label);
    const { run_id, status = 'queued' } = run;
    if (this.get(run_id) !== undefined) this.#haveChanged([run_id]);
    else this.#insert({ run_id, status, model_id: modelId, artifacts_available: false });
  }

  /** Takes in labels that are known from elsewhere: the list has none. */
  knowLabels(labels: Iterable<readonly [runId: string, label: string]>): void {
    const changed: string[] = [];
    for (const [runId, label] of labels) {
      if (this.label(runId) !== undefined) continue;
      this.#labels.set(runId, label);
      if (this.get(runId) !== undefined) changed.push(runId);
    }
    this.#haveChanged(changed);
  }

  /** Lets what is on its way be read again: the API key or the address changed. */
  drop(): void {
    this.#reading++;
    this.#isRefreshing = false;
    this.refresh.drop();
    this.loadMore.drop();
    this.#details.drop();
  }

  /** Forgets everything, also what is on its way, after the sandbox was reset. */
  clear(): void {
    this.drop();
    this.#details.clear();
    this.#rows.clear();
    this.#loose.clear();
    this.#labels.clear();
    this.#nextCursor = undefined;
    this.#hasMore = this.#isIncomplete = this.#isRead = false;
    this.#skipped = this.#readAtMs = 0;
    this.#fire();
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }

  #acceptSaved(saved: SavedRuns, readAtMs: number): void {
    // Where what was read here is of the future, the clock was set back.
    if (readAtMs < this.#readAtMs && this.#readAtMs <= this.#now()) return;
    this.#readAtMs = readAtMs;
    // What is on its way here may be older.
    if (!this.#isRefreshing) this.#reading++;
    const newest = {
      data: saved.rows.slice(0, saved.contiguous),
      has_more: saved.hasMore,
      skipped: saved.skipped,
    };
    const alone = saved.rows.slice(saved.contiguous);
    const { rows, restarted } = mergeFirstPage(this.rows ?? [], newest);
    if (restarted) {
      this.#nextCursor = undefined;
      this.#hasMore = saved.hasMore;
      this.#isIncomplete = false;
    }
    this.#unloose(newest.data);
    for (const { run_id } of alone) if (this.get(run_id) === undefined) this.#loose.add(run_id);
    const merged = mergeLaterPage(rows, { ...newest, data: alone });
    this.#publish(merged, saved.rows, saved.skipped, new Map(saved.changedAtMs));
  }

  /** @param reading `isCurrent`: whether its answers count, for all that its caller knows; `budget`: nobody waits for it */
  async #readNewest({ isCurrent, budget }: { isCurrent?: () => boolean; budget?: Budget }): Promise<void> {
    const reading = ++this.#reading;
    const counts = () => reading === this.#reading && isCurrent?.() !== false;
    const startedMs = this.#now();
    const watched = this.watched;
    const search = new PageSearch(this.rows ?? [], watched, MAX_GAP_PAGES);
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
        if (counts()) this.#setFailed();
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
    const index = run === undefined ? 0 : (this.rows ?? []).indexOf(run);
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
      const isAnyNew = page.data.some(({ run_id }) => this.get(run_id) === undefined);
      this.#goOnAt(page.has_more, cursor, cursorAfter(page, cursor));
      // It may continue like this forever.
      if (page.has_more && !isAnyNew && pages === MAX_GAP_PAGES) this.#isIncomplete = true;
      this.#unloose(page.data);
      this.#publish(mergeLaterPage(this.rows ?? [], page), page.data, page.skipped);
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
    const { rows, restarted } = mergeFirstPage(this.rows ?? [], search.listed, continues || search.touches);
    // The cursor of the oldest loaded page stays valid while rows of older pages are kept.
    if (restarted || (this.#hasMore && this.#nextCursor === undefined))
      this.#goOnAt(search.listed.has_more, cursor, next);
    this.#unloose(listed);
    this.#publish(rows, listed, search.listed.skipped);
  }

  /** @param next undefined where the service does not say where it has more: the page before is read again, another time */
  #goOnAt(hasMore: boolean, cursor: string | undefined, next: string | undefined): void {
    this.#nextCursor = hasMore ? (next ?? cursor) : undefined;
    this.#hasMore = hasMore;
    this.#isIncomplete = hasMore && next === undefined;
  }

  #unloose(rows: readonly RunSummary[]): void {
    for (const { run_id } of rows) this.#loose.delete(run_id);
  }

  /** Takes over a merged list, as `RunRows.accept`. */
  #publish(
    rows: readonly RunSummary[],
    listed: readonly RunSummary[],
    skipped: number,
    changedAtMs?: ReadonlyMap<string, number>,
  ): void {
    const { added, changed, moved, isAnyRemoved } = this.#rows.accept(rows, listed, changedAtMs);
    const isNews = !this.#isRead || this.#failed || this.#wasIncomplete !== this.#isIncomplete;
    this.#skipped = skipped;
    this.#wasIncomplete = this.#isIncomplete;
    this.#isRead = true;
    this.#failed = false;
    // Nothing is left of what was there: the sandbox was reset in another window, and its runs may come again under their ids.
    if (isAnyRemoved && rows.length === 0 && !this.#hasMore && skipped === 0) this.#details.clear();
    // The detail of a run that changed is old; a finished one stays so when its artifacts go.
    for (const { runId, before, after } of moved)
      if (before.status !== after.status) this.#forgetDetail(runId);
    // The service answers again.
    const retried = this.#details.forgetFailures(true).filter((runId) => !changed.includes(runId));
    if (isNews || isAnyRemoved || added.length + changed.length + retried.length > 0)
      this.#fire({ added, changed: [...changed, ...retried], moved });
  }

  #setFailed(): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#fire();
  }

  /** A run that no page has shown yet gets a row. */
  #acceptDetail(runId: string, detail: RunDetail): void {
    const { run_id, status, model_id, created_at } = detail;
    const row = {
      run_id,
      status,
      model_id,
      ...(created_at !== undefined && { created_at }),
      artifacts_available: false,
    };
    if (this.get(runId) !== undefined) this.#haveChanged([runId]);
    else this.#insert(row, phaseOf(row, detail) === 'finished');
  }

  /** Takes in a run that came alone. @param hasEnded whether that is known of it */
  #insert(row: RunSummary, hasEnded = false): void {
    if (createdAtMs(row) !== Infinity) this.#loose.add(row.run_id);
    const rows = mergeLaterPage(this.rows ?? [], { data: [row], has_more: false, skipped: 0 });
    this.#rows.accept(rows, [row]);
    if (hasEnded) this.#rows.noteEndedUnlisted(row.run_id);
    this.#fire({ added: [row.run_id] });
  }

  #forgetDetail(runId: string): void {
    const label = this.label(runId);
    if (label !== undefined) this.#labels.set(runId, label);
    this.#details.forget(runId);
  }

  #haveChanged(changed: readonly string[]): void {
    if (changed.length > 0) this.#fire({ changed });
  }

  #fire(change: Partial<RunChange> = {}): void {
    this.#onDidChange.fire({ added: [], changed: [], moved: [], ...change });
  }
}

/** A cursor counts only where the service says that there is more (spec: "Pagination envelope"), and leads further. */
function cursorAfter(page: RunPage, before: string | undefined): string | undefined {
  return page.has_more && page.next_cursor !== before ? page.next_cursor : undefined;
}
