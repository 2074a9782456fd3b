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
const TOPIC = 'run-details';

/** What the table says of a run. */
interface Stored {
  run_id: string;
  /** Its status in the list when this was stored. */
  listed: string;
  detail: string;
}

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
  /** By run: what the table has, as far as this window knows. */
  readonly #stored = new Map<string, Stored>();
  /** The highest id that was read. */
  #lastId = 0;
  #reading: Promise<void> = Promise.resolve();

  /** @param onError gets what the store did not take: it is read from the service again another time */
  constructor(runs: RunStore, state: StateStore, accountId: string, onError: (error: unknown) => void) {
    this.#runs = runs;
    this.#state = state;
    this.#accountId = accountId;
    this.#onError = onError;
    this.#disposables = [
      runs.onDidChange((change) => this.#follow(change)),
      state.follow(TOPIC, accountId, () => this.#read()),
    ];
    this.#read();
  }

  /** Resolves once the run store has what is stored of its runs. Never rejects. */
  idle(): Promise<void> {
    return this.#reading;
  }

  dispose(): void {
    for (const one of this.#disposables) one.dispose();
  }

  /** Reads what was stored since this was last called. */
  #read(): void {
    const read = async () => {
      const seenId = this.#lastId;
      const found = await this.#state.read((tables) => {
        this.#lastId = Number(tables.get('SELECT max(id) AS id FROM run_detail')?.['id'] ?? 0);
        return tables.all<Stored>(
          'SELECT run_id, listed, detail FROM run_detail WHERE +account = ? AND id > ?',
          this.#accountId,
          // In another file they begin again.
          seenId > this.#lastId ? 0 : seenId,
        );
      });
      for (const one of found) this.#stored.set(one.run_id, one);
      this.#offer(found.flatMap(({ run_id }) => this.#runs.get(run_id) ?? []));
    };
    this.#reading = this.#reading.then(read).catch(this.#onError);
  }

  /** Gives the run store what is stored of those runs whose final detail it does not have. */
  #offer(rows: readonly RunSummary[]): void {
    const details = rows.flatMap((run) => {
      const stored = this.#stored.get(run.run_id);
      const isMissing = phaseOf(run) === 'finished' && this.#runs.detail(run.run_id) === undefined;
      return (isMissing && stored && detailOf(run, stored)) || [];
    });
    this.#runs.knowDetails(details);
  }

  #follow({ added, changed, moved }: RunChange): void {
    const rows = [...added, ...changed].flatMap((runId) => this.#runs.get(runId) ?? []);
    // A final detail is stored of finished runs alone. What this window has not heard of, another one may have stored.
    const left = moved.filter(
      ({ before, after }) => before.status !== after.status && phaseOf(before) === 'finished',
    );
    for (const { runId } of left) this.#stored.delete(runId);
    const final = rows.flatMap((run) => {
      const detail = this.#runs.detail(run.run_id);
      const entry = detail && isFinal(run, detail) ? entryOf(run, detail) : undefined;
      const stored = this.#stored.get(run.run_id);
      const isStored = stored?.detail === entry?.detail && stored?.listed === entry?.listed;
      return entry === undefined || isStored ? [] : [entry];
    });
    for (const entry of final) this.#stored.set(entry.run_id, entry);
    if (left.length + final.length > 0)
      this.#state
        .transaction((tables) => {
          let changes = 0;
          for (const { runId, before } of left)
            changes += tables.run(
              'DELETE FROM run_detail WHERE account = ? AND run_id = ? AND listed = ?',
              this.#accountId,
              runId,
              before.status,
            );
          for (const entry of final) store(tables, this.#accountId, entry);
          if (changes + final.length > 0) tables.touch(TOPIC, this.#accountId);
        })
        .catch(this.#onError);
    this.#offer(rows);
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
  // Through JSON: a field that the service did not provide is left out.
  const text = JSON.stringify(v.parse(detailSchema, JSON.parse(JSON.stringify(detail))));
  return Buffer.byteLength(text) > MAX_BYTES ? undefined : { run_id, listed: status, detail: text };
}

/** What is stored of a run, if it is of this run in this state, and ours. */
function detailOf(run: RunSummary, { listed, detail: text }: Stored): RunDetail | undefined {
  if (run.status !== listed) return undefined;
  try {
    const detail = v.parse(detailSchema, JSON.parse(text));
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
