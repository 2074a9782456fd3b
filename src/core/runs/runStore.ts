import {
  MAX_PAGE_SIZE,
  type RunCreation,
  type RunDetail,
  type RunPage,
  type RunSummary,
} from '../api/types.ts';
import { shared, type Shared } from '../base/async.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { counted } from '../base/rareCases.ts';
import { DetailStore, type Call } from './detailStore.ts';
import { isListed, LoadedRuns, type ListChange, type Moved } from './loadedRuns.ts';
import { UNKNOWN_WATCHED_MS, type RequestQuota } from './pacing.ts';
import { type KnownDetail, phaseOf, type Phase } from './run.ts';
import { createdAtMs, PageSearch } from './runPages.ts';
import type { SavedRuns } from './savedRuns.ts';

/** How many pages are read at most to close the gap to the loaded rows, or to find a new row. */
const MAX_GAP_PAGES = 10;
/** A safety limit on the pages read in search of active runs. */
const MAX_PAGES = 1_000;
/** How many of the newest runs are stored for other windows, besides the active ones. */
const MAX_SAVED_ROWS = 200;
/** How long to wait for artifacts after a run was first seen as finished without them. */
const ARTIFACTS_WATCHED_MS = 60 * 60_000;

/** How the known runs changed. */
export interface RunChange {
  added: readonly string[];
  /** IDs with a changed row, detail, or label; includes the moved runs. */
  changed: readonly string[];
  moved: readonly Moved[];
}

/**
 * Owns the known runs of an account, newest first: the loaded part of the service's list, details and labels.
 */
export class RunStore implements Disposable {
  readonly #call: Call;
  readonly #now: () => number;
  readonly #onDidChange = new Emitter<RunChange>();
  readonly #details: DetailStore;
  readonly #labels = new Map<string, string>();
  readonly #loaded: LoadedRuns;
  #readAtMs = 0;
  #hasFailed = false;
  /** The number of the latest read of the newest rows; responses to earlier reads are ignored. */
  #reading = 0;

  /** Fires when rows or details change, and when reading them starts to fail or succeeds again. */
  readonly onDidChange = this.#onDidChange.event;

  /**
   * Reads the newest page, and more until all active runs were seen. Overlapping calls share it.
   * @throws ApiError, KeyMissingError
   */
  readonly refresh: Shared<void>;

  /** Reads older pages until one has a new run. Overlapping calls share it. @throws as `refresh` */
  readonly loadMore: Shared<void>;

  /**
   * @param now returns milliseconds since the epoch
   * @param currencyNow returns the currency of the balance; undefined until it was read
   */
  constructor(call: Call, now: () => number, currencyNow: () => string | undefined) {
    this.#call = call;
    this.#now = now;
    this.#loaded = new LoadedRuns(now);
    this.#details = new DetailStore(call, currencyNow, (runId, detail) => this.#acceptDetail(runId, detail));
    this.refresh = shared(() => this.#readNewest());
    this.loadMore = shared((isCurrent) => this.#readOlder(isCurrent));
  }

  /**
   * Like `refresh`, but in the background: doesn't retry requests, and joins a refresh that is in progress or begins.
   * @throws ApiError, KeyMissingError
   */
  async poll(quota: RequestQuota): Promise<void> {
    if (!this.refresh.isRunning()) await this.#readNewest(quota);
    if (this.refresh.isRunning()) await this.refresh();
  }

  /** Whether the last read of the newest page failed. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Undefined until the first page was read. */
  get rows(): readonly RunSummary[] | undefined {
    return this.#loaded.rows;
  }

  get hasMore(): boolean {
    return this.#loaded.hasMore;
  }

  /** Whether the service claimed more runs but sent no new ones or no cursor; `loadMore` retries. */
  get isIncomplete(): boolean {
    return this.#loaded.isIncomplete;
  }

  /** The number of unreadable rows in the last pages. */
  get skipped(): number {
    return this.#loaded.skipped;
  }

  /** Whether every run created since `timeMs` (milliseconds since the epoch) is loaded. */
  isCompleteSince(timeMs: number): boolean {
    return this.#loaded.isCompleteSince(timeMs);
  }

  /** When the last answered read of the newest rows started, in any window. */
  get readAtMs(): number {
    return this.#readAtMs;
  }

  get(runId: string): RunSummary | undefined {
    return this.#loaded.get(runId);
  }

  detail(runId: string): KnownDetail | undefined {
    return this.#details.get(runId);
  }

  /** Why the detail could not be read, until the run changes or `retryDetails` is called. */
  detailFailure(runId: string): unknown {
    return this.#details.failure(runId);
  }

  /** The label, if known. It comes from the details, since the list has none. */
  label(runId: string): string | undefined {
    return this.#details.get(runId)?.label ?? this.#labels.get(runId);
  }

  phase(run: RunSummary): Phase {
    return phaseOf(run, this.#details.get(run.run_id));
  }

  /** The number of waiting and active runs. An unknown status may be final, so it counts for a week only. */
  get activeCount(): number {
    return (this.rows ?? []).filter((run) => this.phase(run) !== 'ended' && this.#isGoing(run)).length;
  }

  /** The loaded runs that are expected to change. */
  get watched(): readonly RunSummary[] {
    const nowMs = this.#now();
    const lacksArtifacts = ({ run_id, artifacts_available, artifacts_expires_at }: RunSummary) =>
      !artifacts_available &&
      artifacts_expires_at === undefined &&
      nowMs - (this.#loaded.seenToChangeMs(run_id) ?? -Infinity) < ARTIFACTS_WATCHED_MS;
    return (this.rows ?? []).filter((run) =>
      this.phase(run) === 'finished' ? lacksArtifacts(run) : this.#isGoing(run),
    );
  }

  /** When a run was last seen to change, or else created: milliseconds since the epoch, local clock. */
  changedAtMs(run: RunSummary): number {
    // The clock may have been set back since.
    return Math.min(this.#now(), this.#loaded.seenToChangeMs(run.run_id) ?? createdAtMs(run));
  }

  /** Returns the runs to store for other windows; undefined until the list was read. */
  save(): SavedRuns | undefined {
    if (this.rows === undefined) return undefined;
    const newest = this.#loaded.newest(MAX_SAVED_ROWS);
    const watched = this.watched.filter(isListed);
    const rows = [...new Set([...newest, ...watched])];
    return {
      rows,
      contiguous: newest.length,
      hasMore: this.hasMore || this.rows.length > MAX_SAVED_ROWS,
      skipped: this.skipped,
      labels: rows.flatMap(({ run_id }) => {
        const label = this.label(run_id);
        return label === undefined ? [] : [[run_id, label]];
      }),
      changedAtMs: watched.map((row) => [row.run_id, this.changedAtMs(row)]),
    };
  }

  /** Merges the runs that another window read, unless this window has read the list later. */
  acceptSaved(saved: SavedRuns, readAtMs: number): void {
    this.addLabels(saved.labels);
    // If this window's read is in the future, the clock was set back.
    if (readAtMs < this.#readAtMs && this.#readAtMs <= this.#now()) return;
    this.#readAtMs = readAtMs;
    // A read in progress here may be older.
    if (!this.refresh.isRunning()) this.#reading++;
    this.#publish(this.#loaded.acceptSaved(saved));
  }

  /**
   * Reads one run. Overlapping calls share one request. A run that no page contained yet gets a row.
   * @param options `isBackground`: sends a single request without retries, since no user waits for it
   * @throws ApiError, KeyMissingError
   */
  loadDetail(runId: string, { isBackground = false }: { isBackground?: boolean } = {}): Promise<RunDetail> {
    return this.#details.load(runId, isBackground);
  }

  /** Adds a detail that was just read, and a row if no page contained the run yet. */
  acceptRead(detail: RunDetail): void {
    this.#details.accept(detail.run_id, detail);
  }

  /** Adds details that were read earlier. For runs that have a detail, takes only the currency. */
  addDetails(details: readonly KnownDetail[]): void {
    const known = details.filter((detail) => this.#details.addEarlier(detail));
    this.#haveChanged(known.map(({ run_id }) => run_id).filter((runId) => this.#loaded.has(runId)));
  }

  /** After the balance was read, assumes its currency for details that were read before it. */
  learnCurrency(): void {
    this.#haveChanged(this.#details.learnCurrency().filter((runId) => this.#loaded.has(runId)));
  }

  /** Allows details that could not be read to be read again, at the user's request. */
  retryDetails(): void {
    this.#haveChanged(this.#details.forgetFailures());
  }

  /** Adds a run that was just submitted and is not listed yet. */
  insertCreated(run: RunCreation, modelId: string, label: string | undefined): void {
    if (label !== undefined) this.#labels.set(run.run_id, label);
    const { run_id, status = 'queued' } = run;
    if (this.#loaded.has(run_id)) this.#haveChanged([run_id]);
    else this.#insert({ run_id, status, model_id: modelId, artifacts_available: false });
  }

  /** Adds labels from other sources, since the list has none. */
  addLabels(labels: Iterable<readonly [runId: string, label: string]>): void {
    const news = [...labels].filter(([runId]) => this.label(runId) === undefined);
    for (const [runId, label] of news) this.#labels.set(runId, label);
    this.#haveChanged(news.map(([runId]) => runId).filter((runId) => this.#loaded.has(runId)));
  }

  /** Discards reads in progress, because the API key or the address changed. */
  drop(): void {
    this.#reading++;
    this.refresh.drop();
    this.loadMore.drop();
    this.#details.drop();
  }

  /** Forgets everything, including reads in progress, after the sandbox was reset. */
  clear(): void {
    this.drop();
    for (const one of [this.#details, this.#loaded, this.#labels]) one.clear();
    this.#readAtMs = 0;
    this.#fire();
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }

  /** Whether a run is waiting or active. One with an unknown status counts for a week after its last change. */
  #isGoing(run: RunSummary): boolean {
    const phase = this.phase(run);
    if (phase === 'waiting' || phase === 'finished') return phase === 'waiting';
    const isOld = this.#now() - this.changedAtMs(run) >= UNKNOWN_WATCHED_MS;
    counted('old-status', isOld && phase === 'active');
    return !isOld;
  }

  /** @param quota given for background reads */
  async #readNewest(quota?: RequestQuota): Promise<void> {
    const reading = ++this.#reading;
    const isCurrent = () => reading === this.#reading;
    const startedMs = this.#now();
    const watched = this.watched;
    const search = new PageSearch(this.rows ?? [], watched, MAX_GAP_PAGES);
    // A search for old active runs must leave enough quota to poll new ones often.
    const goesDeep = quota?.leavesForPolls(this.#pagesTo(watched.at(-1)) - 1) ?? true;
    let cursor: string | undefined;
    for (let pages = 1; ; pages++) {
      let page: RunPage;
      try {
        page = await this.#list(cursor, quota !== undefined);
      } catch (error) {
        if (!isCurrent() && quota !== undefined) return;
        // The pages up to the loaded rows won't be read now: keep those that were read.
        if (isCurrent() && pages > 1 && !search.reachesKnown)
          this.#publish(this.#loaded.acceptNewest(search, [], { cursor, next: cursor }, false));
        if (isCurrent()) this.#setFailed();
        throw error;
      }
      if (!isCurrent()) return;
      this.#readAtMs = startedMs;
      search.add(page);
      const next = cursorAfter(page, cursor);
      const mayContinue = goesDeep || !search.reachesKnown;
      const continues = next !== undefined && pages < MAX_PAGES && mayContinue && search.continues;
      this.#publish(this.#loaded.acceptNewest(search, page.data, { cursor, next }, continues));
      if (next === undefined || !continues) break;
      cursor = next;
      quota?.recordExtra();
    }
  }

  /** Estimates on which page of the list a loaded run is. */
  #pagesTo(run: RunSummary | undefined): number {
    const index = run === undefined ? 0 : (this.rows ?? []).indexOf(run);
    return Math.floor(Math.max(0, index) / MAX_PAGE_SIZE) + 1;
  }

  /** Reads older pages until one has a new run, ten at most. */
  async #readOlder(isCurrent: () => boolean): Promise<void> {
    for (let pages = 1; this.hasMore && pages <= MAX_GAP_PAGES; pages++) {
      // Only a read from the start of the list provides the cursor.
      if (this.#loaded.cursor === undefined) await this.refresh();
      const { cursor } = this.#loaded;
      if (cursor === undefined) return;
      const page = await this.#list(cursor, false);
      // The list was read from its start meanwhile, so there would be a gap before this page.
      if (!isCurrent() || this.#loaded.cursor !== cursor) return;
      const isAnyNew = page.data.some(({ run_id }) => !this.#loaded.has(run_id));
      // The service might send pages without new runs forever.
      const isEndless = page.has_more && !isAnyNew && pages === MAX_GAP_PAGES;
      this.#publish(this.#loaded.acceptOlder(page, cursorAfter(page, cursor), isEndless));
      if (isAnyNew || this.isIncomplete) return;
    }
  }

  #list(cursor: string | undefined, isBackground: boolean): Promise<RunPage> {
    return this.#call((client) => client.listRuns({ limit: MAX_PAGE_SIZE, cursor }, { isBackground }));
  }

  /** Forgets the details that a change made stale, and reports the change. */
  #publish({ added, changed, moved, isAnyRemoved, isNews }: ListChange): void {
    const wasFailed = this.#hasFailed;
    this.#hasFailed = false;
    // The detail of a changed run is stale. That of a finished run stays valid when its artifacts go.
    for (const { runId, before, after } of moved)
      if (before.status !== after.status) this.#forgetDetail(runId);
    // The service answers again, so failed details may be retried.
    const retried = this.#details.forgetFailures(true).filter((runId) => !changed.includes(runId));
    if (isNews || wasFailed || isAnyRemoved || added.length + changed.length + retried.length > 0)
      this.#fire({ added, changed: [...changed, ...retried], moved });
  }

  #setFailed(): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#fire();
  }

  /** Reports a new detail; adds a row for a run that no page contained yet. */
  #acceptDetail(runId: string, detail: RunDetail): void {
    if (this.#loaded.has(runId)) {
      this.#haveChanged([runId]);
      return;
    }
    const { run_id, status, model_id, created_at } = detail;
    const made = created_at === undefined ? {} : { created_at };
    const row: RunSummary = { run_id, status, model_id, ...made, artifacts_available: false };
    this.#insert(row, phaseOf(row, detail) === 'finished');
  }

  #insert(row: RunSummary, hasEnded = false): void {
    this.#loaded.insert(row, hasEnded);
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

/** Returns the cursor if the service says that there is more (spec: "Pagination envelope") and it is new. */
function cursorAfter(page: RunPage, before: string | undefined): string | undefined {
  const isOdd = page.has_more && (page.next_cursor === undefined || page.next_cursor === before);
  return counted('odd-cursor', isOdd) || !page.has_more ? undefined : page.next_cursor;
}
