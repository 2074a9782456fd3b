import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { IDEMPOTENCY_WINDOW_MS, type RunCreation } from '../core/api/types.ts';
import { type PriceRule, STARTING_BALANCE_CENTS } from './catalog.ts';
import { transaction } from './database.ts';
import type { Timeline } from './lifecycle.ts';
import { DEFAULT_SPEED, type EveryOther, type Scenario } from './scenarios.ts';

/** All that the endpoints work on: what the windows share (the store) and what one server has of its own. */
export interface Service {
  readonly store: Store;
  /** Milliseconds since 1970; the only clock, also of the `Date` header. */
  readonly now: () => number;
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly everyOther: EveryOther;
  /** Aborted when the server closes, so that nothing waits on. */
  readonly closing: AbortSignal;
}

/** The sandbox's one account: its balance, and the scenario, clock speed and prices that all windows share. */
interface AccountRow {
  account_id: string;
  /** Signs download addresses; the same in all windows, so each honors the others' signatures. */
  signing_secret: Uint8Array;
  balance_cents: number;
  scenario: Scenario;
  speed: number;
  price_rule: PriceRule;
}

/** One run as it is stored. Its status is not: that follows from the clock. */
export interface RunRow extends Timeline {
  run_id: string;
  model_id: string;
  label: string | null;
  price_cents: number;
  plan: string;
}

/** A place in the list: everything that comes after it is older. */
export interface Position {
  created_at: number;
  sequence: number;
}

/** What was answered when an Idempotency-Key was used first, and what identifies the parameters of that request. */
export interface FirstUse {
  fingerprint: string;
  answer: Required<RunCreation>;
}

/** What the windows share: the account, its runs, and the used Idempotency-Keys. */
export class Store {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Runs `work` as one transaction that no other process can come between; rolls back when it throws. */
  transaction<T>(work: () => T): T {
    return transaction(this.#database, work);
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  get account(): AccountRow {
    return this.#database.prepare('SELECT * FROM account').get() as unknown as AccountRow;
  }

  /** Adds to the balance (a charge is negative) and returns the new one, in cents. */
  addToBalance(cents: number): number {
    this.#run('UPDATE account SET balance_cents = balance_cents + ?', cents);
    return this.account.balance_cents;
  }

  set<K extends 'scenario' | 'speed' | 'price_rule'>(what: K, value: AccountRow[K]): void {
    this.#run(`UPDATE account SET ${what} = ?`, value);
  }

  /** Deletes all but the account, which begins as a new one. */
  reset(): void {
    this.#run('DELETE FROM runs');
    this.#run('DELETE FROM used_idempotency_keys');
    const first = [STARTING_BALANCE_CENTS, 'none', DEFAULT_SPEED, 'default'];
    this.#run('UPDATE account SET balance_cents = ?, scenario = ?, speed = ?, price_rule = ?', ...first);
  }

  /** @param generated whether a scenario made them, which ends with it */
  insertRuns(runs: readonly RunRow[], generated = false): void {
    const statement = this.#database.prepare(`
      INSERT INTO runs (run_id, model_id, label, price_cents, plan, created_at, starts_at, completes_at, course, generated)
      VALUES (:run_id, :model_id, :label, :price_cents, :plan, :created_at, :starts_at, :completes_at, :course, :generated)`);
    for (const run of runs) statement.run({ ...run, generated: Number(generated) });
  }

  /** Of those that were submitted. */
  countRuns(): number {
    const row = this.#database.prepare('SELECT count(*) AS runs FROM runs WHERE generated = 0').get();
    return Number(row?.['runs']);
  }

  deleteGeneratedRuns(): void {
    this.#run('DELETE FROM runs WHERE generated = 1');
  }

  findRun(runId: string): RunRow | undefined {
    return this.#database.prepare('SELECT * FROM runs WHERE run_id = ?').get(runId) as RunRow | undefined;
  }

  /** The newest runs after a position; later insertions do not move what follows it. */
  pageOfRuns(after: Position | undefined, limit: number): (RunRow & Position)[] {
    const { created_at, sequence } = after ?? { created_at: Number.MAX_SAFE_INTEGER, sequence: 0 };
    return this.#database
      .prepare(
        `SELECT * FROM runs WHERE (created_at, sequence) < (?, ?)
         ORDER BY created_at DESC, sequence DESC LIMIT ?`,
      )
      .all(created_at, sequence, limit) as unknown as (RunRow & Position)[];
  }

  /** Stretches what is left of unfinished runs by a factor. */
  rescaleRuns(now: number, factor: number): void {
    this.#database
      .prepare(
        `UPDATE runs SET
           starts_at = CASE WHEN starts_at > :now THEN :now + CAST((starts_at - :now) * :factor AS INTEGER)
                            ELSE starts_at END,
           completes_at = :now + CAST((completes_at - :now) * :factor AS INTEGER)
         WHERE completes_at > :now`,
      )
      .run({ now, factor });
  }

  /** Of an Idempotency-Key within 24 hours; later it is as good as never used (spec: "Limits"). */
  firstUse(idempotencyKey: string, now: number): FirstUse | undefined {
    const row = this.#database
      .prepare(
        'SELECT fingerprint, answer FROM used_idempotency_keys WHERE idempotency_key = ? AND used_at > ?',
      )
      .get(idempotencyKey, now - IDEMPOTENCY_WINDOW_MS) as
      { fingerprint: string; answer: string } | undefined;
    return row && { ...row, answer: JSON.parse(row.answer) as Required<RunCreation> };
  }

  /** Records a first use, and deletes those that are out of the window. */
  recordFirstUse(idempotencyKey: string, { fingerprint, answer }: FirstUse, now: number): void {
    this.#run('DELETE FROM used_idempotency_keys WHERE used_at <= ?', now - IDEMPOTENCY_WINDOW_MS);
    const values = [idempotencyKey, fingerprint, now, JSON.stringify(answer)];
    this.#run('INSERT INTO used_idempotency_keys VALUES (?, ?, ?, ?)', ...values);
  }

  #run(sql: string, ...values: SQLInputValue[]): void {
    this.#database.prepare(sql).run(...values);
  }
}
