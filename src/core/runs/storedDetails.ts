import * as v from 'valibot';
import type { RunDetail, RunSummary } from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import { instantOf } from '../base/instant.ts';
import type { StateStore, Tables } from '../storage/state.ts';
import { phaseOf } from './phase.ts';
import type { RunChange, RunStore } from './runStore.ts';

/** How many details are stored of an account; the oldest are removed first. */
const MAX_STORED = 2_000;
/** Far more than a detail with the longest label, however that is escaped. */
const MAX_BYTES = 3_500;
/** How far the times of creation in list and detail may differ: one of them may be in whole seconds. */
const SAME_TIME_MS = 1_000;
/** For more runs, reading all that is stored is faster. */
const MAX_LOOKUPS = 500;
const TOPIC = 'run-details';

/** No other field of the service: what it is called or holds is unknown, and does not belong on the disk. */
const detailSchema = v.object({
  run_id: v.string(),
  status: v.string(),
  model_id: v.string(),
  label: v.exactOptional(v.string()),
  plan: v.exactOptional(v.string()),
  price_cents: v.exactOptional(v.number()),
  created_at: v.exactOptional(v.string()),
  started_at: v.exactOptional(v.string()),
  completed_at: v.exactOptional(v.string()),
});

interface StoredRow {
  id: number;
  /** The run's status in the list when the detail was read. */
  listed: string;
  detail: string;
}

/**
 * Stores the final details of an account for all windows, and gives its run store those that still match the list. Owns the
 * table `run_detail`.
 */
export class StoredDetails implements Disposable {
  readonly #runs: RunStore;
  readonly #state: StateStore;
  readonly #accountId: string;
  readonly #onError: (error: unknown) => void;
  readonly #disposables: Disposable[];
  /** The status under which the detail of each run is stored, as far as this window knows. */
  readonly #listed = new Map<string, string>();
  #lastId = 0;

  /** @param onError gets what the store did not take: it is read from the service again another time */
  constructor(runs: RunStore, state: StateStore, accountId: string, onError: (error: unknown) => void) {
    this.#runs = runs;
    this.#state = state;
    this.#accountId = accountId;
    this.#onError = onError;
    this.#disposables = [
      runs.onDidChange((change) => this.#follow(change)),
      state.follow(TOPIC, accountId, () => void this.open()),
    ];
  }

  /** Reads what was stored since, here or in another window. Never rejects. */
  async open(): Promise<void> {
    await this.#offer((tables) => {
      const [newest] = tables.all<{ id: number }>(
        'SELECT max(id) AS id FROM run_detail WHERE account = ?',
        this.#accountId,
      );
      // The file may have become another one.
      const after = (newest?.id ?? 0) < this.#lastId ? 0 : this.#lastId;
      this.#lastId = newest?.id ?? 0;
      return tables.all<StoredRow>(
        'SELECT id, listed, detail FROM run_detail WHERE account = ? AND id > ? ORDER BY id',
        this.#accountId,
        after,
      );
    });
  }

  dispose(): void {
    for (const one of this.#disposables) one.dispose();
  }

  #follow({ added, changed, moved }: RunChange): void {
    const missing: string[] = [];
    const final: { run: RunSummary; detail: RunDetail }[] = [];
    for (const runId of [...added, ...changed]) {
      const run = this.#runs.get(runId);
      const detail = this.#runs.detail(runId);
      if (run === undefined) continue;
      if (detail === undefined) missing.push(runId);
      else if (this.#listed.get(runId) !== run.status && isFinal(run, detail)) final.push({ run, detail });
    }
    // What this window has not heard of yet, another one may have stored: only what left its state is removed.
    const left = moved
      .filter(({ before, after }) => before.status !== after.status)
      .map(({ runId, before }) => ({ runId, listed: before.status }));
    if (left.length + final.length > 0) void this.#store(left, final);
    if (missing.length > 0) void this.#offerStored(missing, new Set(added));
  }

  async #store(
    left: readonly { runId: string; listed: string }[],
    final: readonly { run: RunSummary; detail: RunDetail }[],
  ): Promise<void> {
    for (const { runId } of left) this.#listed.delete(runId);
    for (const { run } of final) this.#listed.set(run.run_id, run.status);
    try {
      await this.#state.transaction((tables) => {
        let changes = 0;
        for (const { runId, listed } of left)
          changes += tables.run(
            'DELETE FROM run_detail WHERE account = ? AND run_id = ? AND listed = ?',
            this.#accountId,
            runId,
            listed,
          );
        for (const { run, detail } of final) changes += insert(tables, this.#accountId, run.status, detail);
        if (changes > 0) tables.touch(TOPIC, this.#accountId);
      });
    } catch (error) {
      this.#onError(error);
    }
  }

  /** @param added those of them that are new here: what is stored of another state is of a run that has changed since */
  async #offerStored(runIds: readonly string[], added: ReadonlySet<string>): Promise<void> {
    const columns = 'SELECT id, listed, detail FROM run_detail WHERE account = ?';
    const stale = await this.#offer((tables) =>
      runIds.length > MAX_LOOKUPS
        ? tables.all<StoredRow>(columns, this.#accountId)
        : tables.all<StoredRow>(
            `${columns} AND run_id IN (SELECT value FROM json_each(?))`,
            this.#accountId,
            JSON.stringify(runIds),
          ),
    );
    const left = stale.filter(({ runId }) => added.has(runId));
    if (left.length > 0) await this.#store(left, []);
  }

  /** Gives stored details to the run store. @returns those of another state of their run than the list's */
  async #offer(read: (tables: Tables) => StoredRow[]): Promise<{ runId: string; listed: string }[]> {
    const stale: { runId: string; listed: string }[] = [];
    const known: RunDetail[] = [];
    try {
      for (const { listed, detail: text } of await this.#state.read(read)) {
        const detail = detailOf(text);
        const run = detail && this.#runs.get(detail.run_id);
        if (detail === undefined || run === undefined) continue;
        if (!matches(run, listed, detail)) {
          stale.push({ runId: run.run_id, listed });
          continue;
        }
        this.#listed.set(run.run_id, listed);
        known.push(detail);
      }
    } catch (error) {
      this.#onError(error);
    }
    if (known.length > 0) this.#runs.knowDetails(known);
    return stale;
  }
}

function insert(tables: Tables, accountId: string, listed: string, detail: RunDetail): number {
  // Through JSON: a field that the service did not provide is left out.
  const text = JSON.stringify(v.parse(detailSchema, JSON.parse(JSON.stringify(detail))));
  if (Buffer.byteLength(text) > MAX_BYTES) return 0;
  const [stored] = tables.all(
    'SELECT id FROM run_detail WHERE account = ? AND run_id = ? AND listed = ? AND detail = ?',
    accountId,
    detail.run_id,
    listed,
    text,
  );
  if (stored !== undefined) return 0;
  // A new id, so that other windows find it.
  tables.run('DELETE FROM run_detail WHERE account = ? AND run_id = ?', accountId, detail.run_id);
  tables.run(
    'INSERT INTO run_detail (account, run_id, listed, detail) VALUES (?, ?, ?, ?)',
    accountId,
    detail.run_id,
    listed,
    text,
  );
  tables.run(
    `DELETE FROM run_detail WHERE account = ?1 AND id <= (
       SELECT id FROM run_detail WHERE account = ?1 ORDER BY id DESC LIMIT 1 OFFSET ${MAX_STORED})`,
    accountId,
  );
  return 1;
}

function detailOf(text: string): RunDetail | undefined {
  try {
    const parsed = v.safeParse(detailSchema, JSON.parse(text));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}

/** List and detail may not say at the same moment that a run has ended: stored is what says so in both. */
function isFinal(run: RunSummary, detail: RunDetail): boolean {
  if (phaseOf(run) !== 'finished') return false;
  const ofDetail: RunSummary = { ...run, status: detail.status, artifacts_available: false };
  return detail.status === run.status || phaseOf(ofDetail, detail) === 'finished';
}

function matches(run: RunSummary, listed: string, detail: RunDetail): boolean {
  if (run.status !== listed) return false;
  const apartMs = Math.abs(instantOf(run.created_at) - instantOf(detail.created_at));
  // Runs of the sandbox come again under their ids after it was reset.
  return Number.isNaN(apartMs) || apartMs < SAME_TIME_MS;
}
