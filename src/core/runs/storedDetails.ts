import * as v from 'valibot';
import { runDetail, type RunDetail, type RunSummary } from '../api/types.ts';
import { sequencer } from '../base/async.ts';
import type { Disposable } from '../base/disposable.ts';
import { instantOf } from '../base/clock.ts';
import type { StateStore, Tables } from '../storage/state.ts';
import { phaseOf } from './runList.ts';
import type { Moved, RunStore } from './runStore.ts';

/** How many details are stored of an account; the oldest are removed first. */
const MAX_STORED = 2_000;
/** Far more than a detail with the longest label, however that is escaped. */
const MAX_BYTES = 3_500;
/** How far the times of creation in list and detail may differ: one of them may be in whole seconds. */
const SAME_TIME_MS = 1_000;
const TOPIC = 'run-details';

/** What the table says of a run. */
interface Stored {
  run_id: string;
  /** Its status in the list when this was stored. */
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
  /** What came from the table, or goes there. */
  readonly #stored = new WeakSet<RunDetail>();
  readonly #inTurn = sequencer();

  /** @param onError gets what the store did not take: it is read from the service again another time */
  constructor(runs: RunStore, state: StateStore, accountId: string, onError: (error: unknown) => void) {
    this.#runs = runs;
    this.#state = state;
    this.#accountId = accountId;
    this.#onError = onError;
    this.#disposables = [
      runs.onDidChange(({ added, changed, moved }) => {
        this.#forget(moved);
        this.#exchange([...added, ...changed].flatMap((runId) => runs.get(runId) ?? []));
      }),
      // What another window just stored is the newest.
      state.follow(TOPIC, accountId, () => this.#learn('ORDER BY id DESC LIMIT 100')),
    ];
    this.#exchange(runs.rows ?? []);
  }

  /** Resolves once the run store has what is stored of its runs. Never rejects. */
  idle(): Promise<void> {
    return this.#inTurn(() => Promise.resolve());
  }

  dispose(): void {
    for (const one of this.#disposables) one.dispose();
  }

  /** Removes what is stored of runs that are finished no longer: once they are again, it may be another end. */
  #forget(moved: readonly Moved[]): void {
    const left = moved.filter(
      ({ before, after }) => before.status !== after.status && phaseOf(before) === 'finished',
    );
    if (left.length === 0) return;
    const sql = 'DELETE FROM run_detail WHERE account = ? AND run_id = ? AND listed = ?';
    this.#state
      .transaction((tables) => {
        for (const { runId, before } of left) tables.run(sql, this.#accountId, runId, before.status);
      })
      .catch(this.#onError);
  }

  /** Stores those details of these runs that are final, and reads those that are not known. */
  #exchange(rows: readonly RunSummary[]): void {
    const finished = rows.filter((run) => phaseOf(run) === 'finished');
    const news = finished.flatMap((run) => this.#newsOf(run, this.#runs.detail(run.run_id)) ?? []);
    if (news.length > 0)
      this.#state
        .transaction((tables) => {
          for (const one of news) store(tables, this.#accountId, one);
          tables.touch(TOPIC, this.#accountId);
        })
        .catch(this.#onError);
    const unknown = finished.map(({ run_id }) => run_id).filter((id) => this.#runs.detail(id) === undefined);
    if (unknown.length > 0)
      this.#learn('AND run_id IN (SELECT value FROM json_each(?))', JSON.stringify(unknown));
  }

  #learn(which: string, ...values: string[]): void {
    this.#inTurn(() => this.#read(which, values)).catch(this.#onError);
  }

  #newsOf(run: RunSummary, detail: RunDetail | undefined): Stored | undefined {
    if (detail === undefined || this.#stored.has(detail) || !isFinal(run, detail)) return undefined;
    this.#stored.add(detail);
    return entryOf(run, detail);
  }

  async #read(which: string, values: readonly string[]): Promise<void> {
    const sql = `SELECT run_id, listed, detail FROM run_detail WHERE account = ? ${which}`;
    const found = await this.#state.read((tables) => tables.all<Stored>(sql, this.#accountId, ...values));
    const details = found.flatMap((one) => detailOf(this.#runs.get(one.run_id), one) ?? []);
    for (const detail of details) this.#stored.add(detail);
    this.#runs.knowDetails(details);
  }
}

function store(tables: Tables, accountId: string, { run_id, listed, detail }: Stored): void {
  tables.run(
    'INSERT OR REPLACE INTO run_detail (account, run_id, listed, detail) VALUES (?, ?, ?, ?)',
    accountId,
    run_id,
    listed,
    detail,
  );
  tables.run(
    `DELETE FROM run_detail WHERE account = ?1 AND id <= (
       SELECT id FROM run_detail WHERE account = ?1 ORDER BY id DESC LIMIT 1 OFFSET ${MAX_STORED})`,
    accountId,
  );
}

/** As it is stored; undefined where it is too long to be of the contract. */
function entryOf({ run_id, status }: RunSummary, detail: RunDetail): Stored | undefined {
  const text = JSON.stringify(detail);
  return Buffer.byteLength(text) > MAX_BYTES ? undefined : { run_id, listed: status, detail: text };
}

/** What is stored of a run, if it is of this run in this state, and ours. */
function detailOf(run: RunSummary | undefined, { listed, detail: text }: Stored): RunDetail | undefined {
  if (run?.status !== listed) return undefined;
  try {
    const detail = v.parse(runDetail, JSON.parse(text));
    const apartMs = Math.abs(instantOf(run.created_at) - instantOf(detail.created_at));
    // Runs of the sandbox come again under their ids after it was reset.
    return Number.isNaN(apartMs) || apartMs < SAME_TIME_MS ? detail : undefined;
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
