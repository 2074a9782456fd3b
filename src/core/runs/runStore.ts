import * as v from 'valibot';
import {
  MAX_PAGE_SIZE,
  runSummary,
  type RunCreation,
  type RunDetail,
  type RunPage,
  type RunSummary,
} from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { shared, type Shared } from '../base/async.ts';
import { DetailStore, type Call } from './detailStore.ts';
import { UNKNOWN_WATCHED_MS, type Budget } from './pacing.ts';
import {
  phaseOf,
  type Phase,
  createdAtMs,
  mergeFirstPage,
  mergeLaterPage,
  oldestMs,
  PageSearch,
} from './runList.ts';

/** How many pages are read to close a gap between the newest runs and those that are loaded, or to find one that is new. */
const MAX_GAP_PAGES = 10;
/** How many pages are read at most in search of active runs, should a service's pages never end. */
const MAX_PAGES = 1_000;
/** How many runs are stored for other windows, besides the active ones. */
const MAX_SAVED_ROWS = 200;
/** How long artifacts are waited for after a run was seen to be finished without them. */
const ARTIFACTS_WATCHED_MS = 60 * 60_000;

/** A run that changed while it was known, also before this window began: its status or whether it has artifacts. */
export interface Moved {
  runId: string;
  before: RunSummary;
  after: RunSummary;
}

export interface RunChange {
  added: readonly string[];
  /** Rows, details or labels; what moved is among them. */
  changed: readonly string[];
  moved: readonly Moved[];
}

/** Values by ids. */
export const pairs = <T>(value: v.GenericSchema<unknown, T>) => v.array(v.tuple([v.string(), value]));

/** What of an account's runs is stored for other windows. */
export const savedRuns = v.object({
  /** The newest ones and all active ones; not those without a time, which no list has named yet. */
  rows: v.array(runSummary),
  /** How many at the beginning have no gap between them; what follows are older ones that are active. */
  contiguous: v.number(),
  /** Whether the service has older ones than the contiguous ones. */
  hasMore: v.boolean(),
  skipped: v.number(),
  /** By run ids. */
  labels: pairs(v.string()),
  /** When each active one was last seen to change. */
  changedAtMs: pairs(v.number()),
});
export type SavedRuns = v.InferOutput<typeof savedRuns>;

/** Where the loaded list ends. */
interface ListEnd {
  hasMore: boolean;
  /** Where it continues; undefined, while there is more, where the rows came from another window. */
  cursor: string | undefined;
  isIncomplete: boolean;
}
const ALL: Readonly<ListEnd> = { hasMore: false, cursor: undefined, isIncomplete: false };

/**
 * Owns what is known of an account's runs, newest first: the service's list as far as it was read, and where it continues;
 * details and labels are added as they become known.
 */
export class RunStore implements Disposable {
  readonly #call: Call;
  readonly #now: () => number;
  readonly #onDidChange = new Emitter<RunChange>();
  readonly #details: DetailStore;
  readonly #labels = new Map<string, string>();
  #rows: readonly RunSummary[] | undefined;
  #byId = new Map<string, RunSummary>();
  /** When runs were seen to change, by this machine's clock. */
  readonly #changedAtMs = new Map<string, number>();
  /** Runs that had ended when only a detail was known of them: it does not say whether there are artifacts. */
  readonly #endedUnlisted = new Set<string>();
  /** Since when every run is listed; older ones came alone, and others may be missing between them. */
  #listedSinceMs = Infinity;
  #end: Readonly<ListEnd> = ALL;
  #skipped = 0;
  #readAtMs = 0;
  #failed = false;
  /** Whose answers count: a later reading of the newest rows makes those of an earlier one old. */
  #reading = 0;

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
  constructor(call: Call, now: () => number = Date.now) {
    this.#call = call;
    this.#now = now;
    this.#details = new DetailStore(call, (runId, detail) => this.#acceptDetail(runId, detail));
    this.refresh = shared(() => this.#readNewest());
    this.loadMore = shared((isCurrent) => this.#readOlder(isCurrent));
  }

  /**
   * Reads as `refresh` does, with nobody waiting for it: no request is repeated, and a refresh that runs or begins takes
   * its place. @throws ApiError, KeyMissingError
   */
  async poll(budget: Budget): Promise<void> {
    if (!this.refresh.isRunning()) await this.#readNewest(budget);
    if (this.refresh.isRunning()) await this.refresh();
  }

  /** Whether the newest page could not be read at the last try. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Undefined until the first page was read. */
  get rows(): readonly RunSummary[] | undefined {
    return this.#rows;
  }

  get hasMore(): boolean {
    return this.#end.hasMore;
  }

  /** Whether the service said last that there are more runs, and sent none that was new, or not where they are; `loadMore` tries again. */
  get isIncomplete(): boolean {
    return this.#end.isIncomplete;
  }

  /** Rows of the last pages that could not be read. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Whether every run that was created since then is loaded: milliseconds since the epoch. */
  isCompleteSince(timeMs: number): boolean {
    if (this.#rows === undefined || this.#skipped > 0) return false;
    return !this.hasMore || this.#listedSinceMs < timeMs;
  }

  /** When the last reading of the newest rows began that was answered, here or in the window that polls. */
  get readAtMs(): number {
    return this.#readAtMs;
  }

  get(runId: string): RunSummary | undefined {
    return this.#byId.get(runId);
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

  /** How many of the loaded runs wait or are active; an unknown status may be the last one, and counts for a week. */
  get activeCount(): number {
    return (this.#rows ?? []).filter((run) => this.phase(run) !== 'ended' && this.#isGoing(run)).length;
  }

  /** The loaded runs of which a change is waited for. */
  get watched(): readonly RunSummary[] {
    const nowMs = this.#now();
    const lacksArtifacts = ({ run_id, artifacts_available, artifacts_expires_at }: RunSummary) =>
      !artifacts_available &&
      artifacts_expires_at === undefined &&
      nowMs - (this.#changedAtMs.get(run_id) ?? -Infinity) < ARTIFACTS_WATCHED_MS;
    return (this.#rows ?? []).filter((run) =>
      this.phase(run) === 'finished' ? lacksArtifacts(run) : this.#isGoing(run),
    );
  }

  /** When a run was last seen to change, or else was made, in milliseconds since the epoch by this machine's clock. */
  changedAtMs(run: RunSummary): number {
    // A clock may have been set back since.
    return Math.min(this.#now(), this.#changedAtMs.get(run.run_id) ?? createdAtMs(run));
  }

  /** What is stored for other windows; undefined until something was read. */
  save(): SavedRuns | undefined {
    if (this.#rows === undefined) return undefined;
    const isListed = (row: RunSummary) => createdAtMs(row) !== Infinity;
    const newest = this.#rows
      .slice(0, MAX_SAVED_ROWS)
      .filter((row) => isListed(row) && createdAtMs(row) >= this.#listedSinceMs);
    const watched = this.watched.filter(isListed);
    const rows = [...new Set([...newest, ...watched])];
    return {
      rows,
      contiguous: newest.length,
      hasMore: this.hasMore || this.#rows.length > MAX_SAVED_ROWS,
      skipped: this.#skipped,
      labels: rows.flatMap(({ run_id }) => {
        const label = this.label(run_id);
        return label === undefined ? [] : [[run_id, label]];
      }),
      changedAtMs: watched.map((row) => [row.run_id, this.changedAtMs(row)]),
    };
  }

  /** Takes in what the window that polls has read, unless something was read here since. */
  acceptSaved(saved: SavedRuns, readAtMs: number): void {
    this.knowLabels(saved.labels);
    // Where what was read here is of the future, the clock was set back.
    if (readAtMs < this.#readAtMs && this.#readAtMs <= this.#now()) return;
    this.#readAtMs = readAtMs;
    // What is on its way here may be older.
    if (!this.refresh.isRunning()) this.#reading++;
    const { hasMore, skipped, contiguous } = saved;
    const newest = { data: saved.rows.slice(0, contiguous), has_more: hasMore, skipped };
    const alone = { ...newest, data: saved.rows.slice(contiguous) };
    const { rows, restarted } = mergeFirstPage(this.#rows ?? [], newest);
    this.#extendListed(newest.data, restarted);
    const end = restarted ? { ...ALL, hasMore } : this.#end;
    this.#publish(mergeLaterPage(rows, alone), saved.rows, skipped, end, new Map(saved.changedAtMs));
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
  knowDetails(details: readonly RunDetail[]): void {
    const known = details.filter((detail) => this.#details.know(detail));
    this.#haveChanged(known.map(({ run_id }) => run_id).filter((runId) => this.#byId.has(runId)));
  }

  /** Lets details that could not be read be read again, as the user asked. */
  retryDetails(): void {
    this.#haveChanged(this.#details.forgetFailures());
  }

  /** Takes in a run that was just submitted, before any list names it. */
  insertCreated(run: RunCreation, modelId: string, label: string | undefined): void {
    if (label !== undefined) this.#labels.set(run.run_id, label);
    const { run_id, status = 'queued' } = run;
    if (this.#byId.has(run_id)) this.#haveChanged([run_id]);
    else this.#insert({ run_id, status, model_id: modelId, artifacts_available: false });
  }

  /** Takes in labels that are known from elsewhere: the list has none. */
  knowLabels(labels: Iterable<readonly [runId: string, label: string]>): void {
    const news = [...labels].filter(([runId]) => this.label(runId) === undefined);
    for (const [runId, label] of news) this.#labels.set(runId, label);
    this.#haveChanged(news.map(([runId]) => runId).filter((runId) => this.#byId.has(runId)));
  }

  /** Lets what is on its way be read again: the API key or the address changed. */
  drop(): void {
    this.#reading++;
    this.refresh.drop();
    this.loadMore.drop();
    this.#details.drop();
  }

  /** Forgets everything, also what is on its way, after the sandbox was reset. */
  clear(): void {
    this.drop();
    for (const one of [this.#details, this.#byId, this.#changedAtMs, this.#endedUnlisted, this.#labels])
      one.clear();
    this.#rows = undefined;
    this.#listedSinceMs = Infinity;
    this.#end = ALL;
    this.#skipped = this.#readAtMs = 0;
    this.#fire();
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }

  #isGoing(run: RunSummary): boolean {
    const phase = this.phase(run);
    if (phase === 'waiting' || phase === 'finished') return phase === 'waiting';
    return this.#now() - this.changedAtMs(run) < UNKNOWN_WATCHED_MS;
  }

  /** @param budget nobody waits for it */
  async #readNewest(budget?: Budget): Promise<void> {
    const reading = ++this.#reading;
    const counts = () => reading === this.#reading;
    const startedMs = this.#now();
    const watched = this.watched;
    const search = new PageSearch(this.#rows ?? [], watched, MAX_GAP_PAGES);
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
    const index = run === undefined ? 0 : (this.#rows ?? []).indexOf(run);
    return Math.floor(Math.max(0, index) / MAX_PAGE_SIZE) + 1;
  }

  async #readOlder(isCurrent: () => boolean): Promise<void> {
    for (let pages = 1; this.hasMore && pages <= MAX_GAP_PAGES; pages++) {
      // Where the list continues is only known from its beginning.
      if (this.#end.cursor === undefined) await this.refresh();
      const { cursor } = this.#end;
      if (cursor === undefined) return;
      const page = await this.#list(cursor, false);
      // Meanwhile the list was read from its beginning: this page would leave a gap before it.
      if (!isCurrent() || this.#end.cursor !== cursor) return;
      const isAnyNew = page.data.some(({ run_id }) => !this.#byId.has(run_id));
      const end = endAt(page.has_more, cursor, cursorAfter(page, cursor));
      // It may continue like this forever.
      const isEndless = page.has_more && !isAnyNew && pages === MAX_GAP_PAGES;
      this.#extendListed(page.data);
      this.#publish(mergeLaterPage(this.#rows ?? [], page), page.data, page.skipped, {
        ...end,
        isIncomplete: end.isIncomplete || isEndless,
      });
      if (isAnyNew || this.isIncomplete) return;
    }
  }

  #list(cursor: string | undefined, isBackground: boolean): Promise<RunPage> {
    return this.#call((client) => client.listRuns({ limit: MAX_PAGE_SIZE, cursor }, { isBackground }));
  }

  /**
   * @param cursor of the last page that was read
   * @param next where the list continues behind it
   * @param continues whether that is read now
   */
  #acceptNewest(
    { listed, touches }: PageSearch,
    rowsNow: readonly RunSummary[],
    cursor: string | undefined,
    next: string | undefined,
    continues: boolean,
  ): void {
    const { rows, restarted } = mergeFirstPage(this.#rows ?? [], listed, continues || touches);
    this.#extendListed(listed.data, restarted);
    // The cursor of the oldest loaded page stays valid while rows of older pages are kept.
    const isNewEnd = restarted || (this.hasMore && this.#end.cursor === undefined);
    this.#publish(rows, rowsNow, listed.skipped, isNewEnd ? endAt(listed.has_more, cursor, next) : this.#end);
  }

  /** @param restarted whether what was listed before is no longer loaded, or behind a gap */
  #extendListed(rows: readonly RunSummary[], restarted = false): void {
    this.#listedSinceMs = Math.min(restarted ? Infinity : this.#listedSinceMs, oldestMs(rows));
  }

  /**
   * Takes over a merged list.
   * @param listed the rows of it that were read now: the others are as they were
   * @param changedAtMs when some of them changed, where another window saw it
   */
  #publish(
    rows: readonly RunSummary[],
    listed: readonly RunSummary[],
    skipped: number,
    end: Readonly<ListEnd>,
    changedAtMs: ReadonlyMap<string, number> = new Map(),
  ): void {
    const isFirst = this.#rows === undefined;
    const isNews = isFirst || this.#failed || end.isIncomplete !== this.#end.isIncomplete;
    const { added, changed, moved } = this.#compare(listed, changedAtMs);
    const isAnyRemoved = this.#byId.size > rows.length;
    if (isAnyRemoved) {
      this.#byId = new Map(rows.map((row) => [row.run_id, row]));
      for (const runId of this.#changedAtMs.keys())
        if (!this.#byId.has(runId)) this.#changedAtMs.delete(runId);
    }
    this.#rows = rows;
    this.#skipped = skipped;
    this.#end = end;
    this.#failed = false;
    // Nothing is left of what was there: the sandbox was reset in another window, and its runs may come again under their ids.
    if (isAnyRemoved && rows.length === 0 && !end.hasMore && skipped === 0) this.#details.clear();
    // The detail of a run that changed is old; a finished one stays so when its artifacts go.
    for (const { runId, before, after } of moved)
      if (before.status !== after.status) this.#forgetDetail(runId);
    // The service answers again.
    const retried = this.#details.forgetFailures(true).filter((runId) => !changed.includes(runId));
    if (isNews || isAnyRemoved || added.length + changed.length + retried.length > 0)
      this.#fire({ added, changed: [...changed, ...retried], moved });
  }

  /** Takes in rows, and finds out what is different since they were read before. */
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

  #setFailed(): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#fire();
  }

  /** A run that no page has shown yet gets a row. */
  #acceptDetail(runId: string, detail: RunDetail): void {
    if (this.#byId.has(runId)) {
      this.#haveChanged([runId]);
      return;
    }
    const { run_id, status, model_id, created_at } = detail;
    const made = created_at === undefined ? {} : { created_at };
    const row: RunSummary = { run_id, status, model_id, ...made, artifacts_available: false };
    this.#insert(row);
    if (phaseOf(row, detail) === 'finished') this.#endedUnlisted.add(runId);
  }

  /** Takes in a run that came alone. */
  #insert(row: RunSummary): void {
    this.#compare([row], new Map());
    this.#rows = mergeLaterPage(this.#rows ?? [], { data: [row], has_more: false, skipped: 0 });
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

/** @param next undefined where the service does not say where it has more: the page before is read again, another time */
function endAt(hasMore: boolean, cursor: string | undefined, next: string | undefined): Readonly<ListEnd> {
  return hasMore ? { hasMore, cursor: next ?? cursor, isIncomplete: next === undefined } : ALL;
}

/** A cursor counts only where the service says that there is more (spec: "Pagination envelope"), and leads further. */
function cursorAfter(page: RunPage, before: string | undefined): string | undefined {
  return page.has_more && page.next_cursor !== before ? page.next_cursor : undefined;
}
