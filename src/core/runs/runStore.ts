import type { Client } from '../api/client.ts';
import type { RunCreation, RunDetail, RunSummary } from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { Budget } from './pacing.ts';
import { DetailStore } from './detailStore.ts';
import { phaseOf, type Phase } from './phase.ts';
import { RunList } from './runList.ts';
import type { Moved, RowChange } from './runRows.ts';
import type { SavedList, SavedRuns } from './savedList.ts';

export type { Moved };

export interface RunChange {
  added: readonly string[];
  /** Rows, details or labels; what moved is among them. */
  changed: readonly string[];
  moved: readonly Moved[];
}

/** Owns what is known of an account's runs, newest first; details and labels are added as they become known. */
export class RunStore implements Disposable {
  readonly #onDidChange = new Emitter<RunChange>();
  readonly #list: RunList;
  readonly #details: DetailStore;
  readonly #labels = new Map<string, string>();
  #isRead = false;
  #failed = false;
  #wasIncomplete = false;

  /** Fires when rows or details changed, and when reading them began to fail or succeeded again. */
  readonly onDidChange = this.#onDidChange.event;

  /** @param now milliseconds since the epoch */
  constructor(call: <T>(work: (client: Client) => Promise<T>) => Promise<T>, now: () => number = Date.now) {
    this.#details = new DetailStore(call, (runId, detail) => this.#acceptDetail(runId, detail));
    const listener = {
      watched: () => this.watched,
      onRead: (change: RowChange) => this.#accept(change),
      onFailed: () => this.#setFailed(),
    };
    this.#list = new RunList(call, listener, now);
  }

  /**
   * Reads the newest page and merges it, and those behind it until all active runs were seen; calls that overlap share
   * it. @throws ApiError, KeyMissingError
   */
  refresh(): Promise<void> {
    return this.#list.refresh();
  }

  /**
   * Reads as `refresh` does, with nobody waiting for it: no request is repeated, and a refresh that runs or begins takes
   * its place. @throws ApiError, KeyMissingError
   */
  poll(budget: Budget): Promise<void> {
    return this.#list.poll(budget);
  }

  /** Reads older pages until one brings a run that was not loaded; calls that overlap share it. @throws ApiError, KeyMissingError */
  loadMore(): Promise<void> {
    return this.#list.loadMore();
  }

  /** Whether the newest page could not be read at the last try. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Undefined until the first page was read. */
  get rows(): readonly RunSummary[] | undefined {
    return this.#list.rows.all;
  }

  get hasMore(): boolean {
    return this.#list.hasMore;
  }

  /** Whether the service said last that there are more runs, and sent none that was new; `loadMore` tries again. */
  get isIncomplete(): boolean {
    return this.#list.isIncomplete;
  }

  /** Rows of the last pages that could not be read. */
  get skipped(): number {
    return this.#list.skipped;
  }

  /** When the last reading of the newest rows began that was answered, here or in the window that polls. */
  get readAtMs(): number {
    return this.#list.readAtMs;
  }

  get(runId: string): RunSummary | undefined {
    return this.#list.rows.get(runId);
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
    const isActive = (run: RunSummary) => this.#list.rows.isActive(run, this.phase(run));
    return (this.rows ?? []).filter(isActive).length;
  }

  /** The loaded runs of which a change is waited for. */
  get watched(): readonly RunSummary[] {
    return (this.rows ?? []).filter((run) => this.#list.rows.isWatched(run, this.phase(run)));
  }

  /** When a run was last seen to change, in milliseconds since the epoch by this machine's clock. */
  changedAtMs(run: RunSummary): number {
    return this.#list.rows.changedAtMs(run);
  }

  /** What is stored for other windows; undefined until something was read. */
  save(): SavedRuns | undefined {
    return this.#list.save((runId) => this.label(runId));
  }

  /** Takes in what the window that polls has read, unless something was read here since. */
  acceptSaved({
    readAtMs,
    runs,
    offlineSinceMs,
  }: Pick<SavedList, 'readAtMs' | 'runs' | 'offlineSinceMs'>): void {
    if (runs !== undefined) {
      this.knowLabels(runs.labels);
      if (this.#list.acceptSaved(runs, readAtMs)) this.#failed = false;
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
    if (changed.length > 0) this.#onDidChange.fire({ added: [], changed, moved: [] });
  }

  /** Lets details that could not be read be read again, as the user asked. */
  retryDetails(): void {
    const changed = this.#details.forgetFailures();
    if (changed.length > 0) this.#onDidChange.fire({ added: [], changed, moved: [] });
  }

  /** Takes in a run that was just submitted, before any list names it. */
  insertCreated(run: RunCreation, modelId: string, label: string | undefined): void {
    if (label !== undefined) this.#labels.set(run.run_id, label);
    if (this.get(run.run_id) !== undefined) {
      this.#onDidChange.fire({ added: [], changed: [run.run_id], moved: [] });
      return;
    }
    this.#insert({
      run_id: run.run_id,
      status: run.status ?? 'queued',
      model_id: modelId,
      artifacts_available: false,
    });
  }

  /** Takes in labels that are known from elsewhere: the list has none. */
  knowLabels(labels: Iterable<readonly [runId: string, label: string]>): void {
    const changed: string[] = [];
    for (const [runId, label] of labels) {
      if (this.label(runId) !== undefined) continue;
      this.#labels.set(runId, label);
      if (this.get(runId) !== undefined) changed.push(runId);
    }
    if (changed.length > 0) this.#onDidChange.fire({ added: [], changed, moved: [] });
  }

  /** Lets what is on its way be read again: the API key or the address changed. */
  drop(): void {
    this.#list.drop();
    this.#details.drop();
  }

  /** Forgets everything, also what is on its way, after the sandbox was reset. */
  clear(): void {
    this.#list.clear();
    this.#details.drop();
    this.#details.clear();
    this.#isRead = false;
    this.#labels.clear();
    this.#onDidChange.fire({ added: [], changed: [], moved: [] });
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }

  #setFailed(): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#onDidChange.fire({ added: [], changed: [], moved: [] });
  }

  /** A run that no page has shown yet gets a row. */
  #acceptDetail(runId: string, detail: RunDetail): void {
    const row = rowOf(detail);
    if (this.get(runId) === undefined) this.#insert(row, phaseOf(row, detail) === 'finished');
    else this.#onDidChange.fire({ added: [], changed: [runId], moved: [] });
  }

  #insert(row: RunSummary, hasEnded = false): void {
    this.#list.insert(row, hasEnded);
    this.#onDidChange.fire({ added: [row.run_id], changed: [], moved: [] });
  }

  #accept({ added, changed, moved, isAnyRemoved }: RowChange): void {
    const isNews = !this.#isRead || this.#failed || this.#wasIncomplete !== this.isIncomplete;
    this.#wasIncomplete = this.isIncomplete;
    this.#isRead = true;
    this.#failed = false;
    // Nothing is left of what was there: the sandbox was reset in another window, and its runs may come again under their ids.
    const isEmptied = isAnyRemoved && this.rows?.length === 0 && !this.hasMore && this.skipped === 0;
    if (isEmptied) this.#details.clear();
    // The detail of a run that changed is old; a finished one stays so when its artifacts go.
    for (const { runId, before, after } of moved)
      if (before.status !== after.status) this.#forgetDetail(runId);
    // The service answers again.
    const retried = this.#details.forgetFailures(true).filter((runId) => !changed.includes(runId));
    if (isNews || isAnyRemoved || added.length + changed.length + retried.length > 0)
      this.#onDidChange.fire({ added, changed: [...changed, ...retried], moved });
  }

  #forgetDetail(runId: string): void {
    const label = this.label(runId);
    if (label !== undefined) this.#labels.set(runId, label);
    this.#details.forget(runId);
  }
}

function rowOf(detail: RunDetail): RunSummary {
  return {
    run_id: detail.run_id,
    status: detail.status,
    model_id: detail.model_id,
    ...(detail.created_at === undefined ? {} : { created_at: detail.created_at }),
    artifacts_available: false,
  };
}
