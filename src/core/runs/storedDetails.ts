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

interface Stored {
  run_id: string;
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
  /** Those that are stored, as far as this window knows. */
  readonly #stored = new WeakSet<RunDetail>();
  /** The highest id that was read of what other windows stored. */
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
      state.follow(TOPIC, accountId, () => this.#readNew()),
    ];
    this.#read(runs.rows ?? []);
  }

  /** Resolves once the run store has what is stored of its runs. Never rejects. */
  async idle(): Promise<void> {
    for (let seen; seen !== this.#reading;) {
      seen = this.#reading;
      await seen;
    }
  }

  dispose(): void {
    for (const one of this.#disposables) one.dispose();
  }

  #follow({ added, changed, moved }: RunChange): void {
    const rows = [...added, ...changed].flatMap((runId) => this.#runs.get(runId) ?? []);
    this.#read(rows);
    const final = rows.flatMap((run) => {
      const detail = this.#runs.detail(run.run_id);
      const isNews = detail !== undefined && !this.#stored.has(detail) && isFinal(run, detail);
      return isNews ? [{ run, detail }] : [];
    });
    const left = moved.filter(({ before, after }) => before.status !== after.status);
    if (left.length + final.length === 0) return;
    for (const { detail } of final) this.#stored.add(detail);
    this.#state
      .transaction((tables) => {
        let changes = 0;
        // What this window has not heard of yet, another one may have stored: only what left its state is removed.
        for (const { runId, before } of left)
          changes += tables.run(
            'DELETE FROM run_detail WHERE account = ? AND run_id = ? AND listed = ?',
            this.#accountId,
            runId,
            before.status,
          );
        for (const { run, detail } of final) changes += store(tables, this.#accountId, run.status, detail);
        if (changes > 0) tables.touch(TOPIC, this.#accountId);
      })
      .catch(this.#onError);
  }

  /** Gives the run store what is stored of those runs whose final detail it does not have. */
  #read(rows: readonly RunSummary[]): void {
    const missing = rows.filter((run) => this.#isMissing(run));
    if (missing.length === 0) return;
    const runIds = JSON.stringify(missing.map(({ run_id }) => run_id));
    this.#accept((tables) =>
      tables.all<Stored>(
        `SELECT run_id, listed, detail FROM run_detail
         WHERE account = ? AND run_id IN (SELECT value FROM json_each(?))`,
        this.#accountId,
        runIds,
      ),
    );
  }

  /** The same of what was stored since this was last called, whichever run it is of. */
  #readNew(): void {
    const seenId = this.#lastId;
    this.#accept((tables) => {
      this.#lastId = Number(tables.get('SELECT max(id) AS id FROM run_detail')?.['id'] ?? 0);
      return tables.all<Stored>(
        'SELECT run_id, listed, detail FROM run_detail WHERE +account = ? AND id > ?',
        this.#accountId,
        // In another file they begin again.
        seenId > this.#lastId ? 0 : seenId,
      );
    });
  }

  #accept(find: (tables: Tables) => Stored[]): void {
    const read = async () => {
      const known = (await this.#state.read(find)).flatMap(({ run_id, listed, detail: text }) => {
        const run = this.#runs.get(run_id);
        if (run === undefined || !this.#isMissing(run)) return [];
        const detail = detailOf(text);
        return detail !== undefined && matches(run, listed, detail) ? [detail] : [];
      });
      for (const detail of known) this.#stored.add(detail);
      this.#runs.knowDetails(known);
    };
    this.#reading = this.#reading.then(read).catch(this.#onError);
  }

  #isMissing(run: RunSummary): boolean {
    return phaseOf(run) === 'finished' && this.#runs.detail(run.run_id) === undefined;
  }
}

/** @returns how many rows it changed */
function store(tables: Tables, accountId: string, listed: string, detail: RunDetail): number {
  // Through JSON: a field that the service did not provide is left out.
  const text = JSON.stringify(v.parse(detailSchema, JSON.parse(JSON.stringify(detail))));
  if (Buffer.byteLength(text) > MAX_BYTES) return 0;
  tables.run(
    'INSERT OR REPLACE INTO run_detail (account, run_id, listed, detail) VALUES (?, ?, ?, ?)',
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
    return v.parse(detailSchema, JSON.parse(text));
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
