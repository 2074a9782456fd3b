import type { Client } from '../api/client.ts';
import type { RunCreation, RunDetail, RunPage, RunSummary } from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { DetailStore } from './detailStore.ts';
import { mergeFirstPage, mergeLaterPage } from './mergeRuns.ts';
import { phaseOf, type Phase } from './phase.ts';
import { shared, type Shared } from './shared.ts';

/** Rows asked for at once: enough for most accounts in one request, small enough to stand at once. */
const PAGE_SIZE = 50;

export interface RunChange {
  added: readonly string[];
  changed: readonly string[];
}

/** Owns what is known of an account's runs, newest first; details and labels are kept as they become known. */
export class RunStore implements Disposable {
  readonly #call: <T>(work: (client: Client) => Promise<T>) => Promise<T>;
  readonly #onDidChange = new Emitter<RunChange>();
  readonly #details: DetailStore;
  readonly #labels = new Map<string, string>();
  #rows: readonly RunSummary[] | undefined;
  #rowsById: ReadonlyMap<string, RunSummary> = new Map();
  #nextCursor: string | undefined;
  #skipped = 0;
  #failed = false;

  /** Fires when rows or details changed, and when reading them began to fail. */
  readonly onDidChange = this.#onDidChange.event;

  /** Reads the newest page and merges it; calls that overlap share one request. @throws ApiError, KeyMissingError */
  readonly refresh: Shared<void>;

  /** Reads the next older page and merges it; calls that overlap share one request. @throws ApiError, KeyMissingError */
  readonly loadMore: Shared<void>;

  constructor(call: <T>(work: (client: Client) => Promise<T>) => Promise<T>) {
    this.#call = call;
    this.#details = new DetailStore(call, (runId, detail) => this.#acceptDetail(runId, detail));
    this.refresh = shared(async (isCurrent) => {
      let page: RunPage;
      try {
        page = await this.#list();
      } catch (error) {
        if (isCurrent()) this.#setFailed();
        throw error;
      }
      if (!isCurrent()) return;
      this.#failed = false;
      const merged = mergeFirstPage(this.#rows ?? [], page);
      // The cursor of the oldest loaded page stays valid while rows of older pages are kept.
      if (merged.restarted) this.#nextCursor = cursorAfter(page);
      this.#accept(merged.rows, page);
    });
    this.loadMore = shared(async (isCurrent) => {
      const cursor = this.#nextCursor;
      if (cursor === undefined) return;
      const page = await this.#list(cursor);
      // Meanwhile the list began anew: this page would leave a gap before it.
      if (!isCurrent() || this.#nextCursor !== cursor) return;
      const next = cursorAfter(page);
      this.#nextCursor = next === cursor ? undefined : next;
      this.#accept(mergeLaterPage(this.#rows ?? [], page), page);
    });
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
    return this.#nextCursor !== undefined;
  }

  /** Rows of the last page that could not be read. */
  get skipped(): number {
    return this.#skipped;
  }

  get(runId: string): RunSummary | undefined {
    return this.#rowsById.get(runId);
  }

  detail(runId: string): RunDetail | undefined {
    return this.#details.get(runId);
  }

  /** Why the detail could not be read; forgotten when the run goes on, and by `retryDetails`. */
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

  /** How many of the loaded runs wait or are active. */
  get activeCount(): number {
    return (this.#rows ?? []).filter((row) => this.phase(row) !== 'finished').length;
  }

  /** Reads one run; calls that overlap share one request. A run that no page has shown yet gets a row. @throws ApiError, KeyMissingError */
  loadDetail(runId: string): Promise<RunDetail> {
    return this.#details.load(runId);
  }

  /** Lets details that could not be read be read anew, as the person asked. */
  retryDetails(): void {
    const changed = this.#details.forgetFailures();
    if (changed.length > 0) this.#onDidChange.fire({ added: [], changed });
  }

  /** Takes in a run that was just submitted, before any list names it. */
  insertCreated(run: RunCreation, modelId: string, label: string | undefined): void {
    if (label !== undefined) this.#labels.set(run.run_id, label);
    if (this.get(run.run_id) !== undefined) {
      this.#onDidChange.fire({ added: [], changed: [run.run_id] });
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
      if (this.#rowsById.has(runId)) changed.push(runId);
    }
    if (changed.length > 0) this.#onDidChange.fire({ added: [], changed });
  }

  /** Lets what is on its way be read anew: the API key or the address changed. */
  drop(): void {
    this.refresh.drop();
    this.loadMore.drop();
    this.#details.drop();
  }

  /** Forgets everything, also what is on its way, after the sandbox was reset. */
  clear(): void {
    this.drop();
    this.#details.clear();
    this.#setRows(undefined);
    this.#nextCursor = undefined;
    this.#skipped = 0;
    this.#labels.clear();
    this.#onDidChange.fire({ added: [], changed: [] });
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }

  #setFailed(): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#onDidChange.fire({ added: [], changed: [] });
  }

  #setRows(rows: readonly RunSummary[] | undefined): void {
    this.#rows = rows;
    this.#rowsById = new Map(rows?.map((row) => [row.run_id, row]));
  }

  #list(cursor?: string): Promise<RunPage> {
    return this.#call((client) =>
      client.listRuns({ limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) }),
    );
  }

  /** A run that no page has shown yet gets a row. */
  #acceptDetail(runId: string, detail: RunDetail): void {
    if (this.get(runId) === undefined) this.#insert(rowOf(detail));
    else this.#onDidChange.fire({ added: [], changed: [runId] });
  }

  #insert(row: RunSummary): void {
    this.#setRows(mergeLaterPage(this.#rows ?? [], { data: [row], has_more: false, skipped: 0 }));
    this.#onDidChange.fire({ added: [row.run_id], changed: [] });
  }

  #accept(rows: readonly RunSummary[], page: RunPage): void {
    const before = this.#rowsById;
    const isFirst = this.#rows === undefined;
    const added = rows.filter((row) => !before.has(row.run_id)).map((row) => row.run_id);
    const changed = rows
      .filter(
        (row) => before.has(row.run_id) && JSON.stringify(before.get(row.run_id)) !== JSON.stringify(row),
      )
      .map((row) => row.run_id);
    // A run that went on is not what its detail says any more.
    for (const runId of changed) this.#forgetDetail(runId);
    // The service answers again.
    const retried = this.#details.forgetFailures(true).filter((runId) => !changed.includes(runId));
    this.#setRows(rows);
    this.#skipped = page.skipped;
    const removed = before.size + added.length - rows.length;
    if (isFirst || removed > 0 || added.length + changed.length + retried.length > 0)
      this.#onDidChange.fire({ added, changed: [...changed, ...retried] });
  }

  #forgetDetail(runId: string): void {
    const label = this.label(runId);
    if (label !== undefined) this.#labels.set(runId, label);
    this.#details.forget(runId);
  }
}

/** A cursor counts only where the service says that there is more (spec: "Pagination envelope"). */
function cursorAfter(page: RunPage): string | undefined {
  return page.has_more ? page.next_cursor : undefined;
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
