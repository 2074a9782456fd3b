import * as v from 'valibot';
import { currency, runDetail, type RunSummary } from '../api/types.ts';
import { sequencer } from '../base/async.ts';
import type { Disposable } from '../base/disposable.ts';
import type { StateStore, Tables } from '../storage/state.ts';
import { type KnownDetail, phaseOf } from './run.ts';
import type { Moved } from './loadedRuns.ts';
import type { RunStore } from './runStore.ts';

/** How many details are stored per account; the oldest are deleted first. */
const MAX_STORED = 2_000;
/** Far more than a detail with the longest label needs, however it is escaped. */
const MAX_BYTES = 3_500;
const TOPIC = 'run-details';

/** Without a currency if the balance wasn't known. */
const storedDetail = v.object({ ...runDetail.entries, assumedCurrency: currency });

/** A row of the table. */
interface Stored {
  run_id: string;
  /** The run's status in the list when the detail was stored. */
  listed: string;
  detail: string;
}

/**
 * Owns the `run_detail` table. Stores an account's final details for all windows, and gives its run store
 * those that still match the list.
 */
export class StoredDetails implements Disposable {
  readonly #runs: RunStore;
  readonly #state: StateStore;
  readonly #accountId: string;
  readonly #onError: (error: unknown) => void;
  readonly #disposables: Disposable[];
  /** Details that were read from or written to the table. */
  readonly #stored = new WeakSet<KnownDetail>();
  readonly #inTurn = sequencer();

  /** @param onError called with store errors; the details are then read from the service another time */
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
      // Read what another window has just stored: the newest rows.
      state.follow(TOPIC, accountId, () => {
        this.#inTurn(() => this.#read('ORDER BY id DESC LIMIT 100')).catch(this.#onError);
      }),
    ];
    this.#exchange(runs.rows ?? []);
  }

  /** Resolves once the run store has the stored details of its runs. Never rejects. */
  idle(): Promise<void> {
    return this.#inTurn(() => Promise.resolve());
  }

  dispose(): void {
    for (const one of this.#disposables) one.dispose();
  }

  /** Deletes the details of runs that are no longer finished, because they may end differently. */
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

  /** Reads the missing details of these runs and stores the final ones. A stored currency stays. */
  #exchange(rows: readonly RunSummary[]): void {
    const isMissing = (run: RunSummary) =>
      phaseOf(run) === 'finished' && this.#runs.detail(run.run_id) === undefined;
    const due = rows.filter((run) => isMissing(run) || this.#newsOf(run) !== undefined);
    if (due.length === 0) return;
    const runIds = due.map(({ run_id }) => run_id);
    this.#inTurn(async () => {
      await this.#read('AND run_id IN (SELECT value FROM json_each(?))', JSON.stringify(runIds));
      await this.#write(runIds.flatMap((runId) => this.#runs.get(runId) ?? []));
    }).catch(this.#onError);
  }

  /** Returns the detail of a run if it is final and not stored yet. */
  #newsOf(run: RunSummary): KnownDetail | undefined {
    const detail = this.#runs.detail(run.run_id);
    return detail === undefined || this.#stored.has(detail) || !isFinal(run, detail) ? undefined : detail;
  }

  async #write(runs: readonly RunSummary[]): Promise<void> {
    const news = runs.flatMap((run): Stored[] => {
      const detail = this.#newsOf(run);
      if (detail === undefined) return [];
      this.#stored.add(detail);
      const text = JSON.stringify(detail);
      const { run_id, status } = run;
      return Buffer.byteLength(text) > MAX_BYTES ? [] : [{ run_id, listed: status, detail: text }];
    });
    if (news.length === 0) return;
    await this.#state.transaction((tables) => {
      for (const one of news) store(tables, this.#accountId, one);
      tables.touch(TOPIC, this.#accountId);
    });
  }

  async #read(which: string, ...values: string[]): Promise<void> {
    const sql = `SELECT run_id, listed, detail FROM run_detail WHERE account = ? ${which}`;
    const found = await this.#state.read((tables) => tables.all<Stored>(sql, this.#accountId, ...values));
    const details = found.flatMap((one) => {
      const { run_id: runId, listed } = one;
      const run = this.#runs.get(runId);
      // If the run has a detail, only the stored currency is taken, whatever the run's status.
      const isOfState = run?.status === listed || this.#runs.detail(runId) !== undefined;
      return (isOfState && run && detailOf(one)) || [];
    });
    for (const detail of details) this.#stored.add(detail);
    this.#runs.addDetails(details);
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

/** Returns the row to store; undefined if the detail is too long to conform to the contract. */
/** Returns a stored detail if it is valid. */
function detailOf({ detail: text }: Stored): KnownDetail | undefined {
  try {
    return v.parse(storedDetail, JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Whether both list and detail say that the run has ended; one of them may lag behind. */
function isFinal(run: RunSummary, detail: KnownDetail): boolean {
  if (phaseOf(run) !== 'finished') return false;
  const ofDetail: RunSummary = { ...run, status: detail.status, artifacts_available: false };
  return detail.status === run.status || phaseOf(ofDetail, detail) === 'finished';
}
