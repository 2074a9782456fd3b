import type { DatabaseSync } from 'node:sqlite';
import { IDEMPOTENCY_WINDOW_MS, type RunCreation } from '../core/api/types.ts';
import { STARTING_BALANCE_CENTS } from './catalog.ts';
import type { Timeline } from './lifecycle.ts';
import { DEFAULT_SPEED, type EveryOther, type Scenario } from './scenarios.ts';

/** All that the endpoints work on: what the windows share (the database) and what one server has of its own. */
export interface Service {
  readonly database: DatabaseSync;
  readonly account: Account;
  readonly runs: RunTable;
  readonly idempotency: IdempotencyTable;
  /** Milliseconds since 1970; the only clock, also of the `Date` header. */
  readonly now: () => number;
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly everyOther: EveryOther;
  /** Aborted when the server closes, so that nothing waits on. */
  readonly closing: AbortSignal;
}

interface AccountRow {
  account_id: string;
  /** Signs download addresses; the same in all windows, so each honours the others' signatures. */
  signing_secret: Uint8Array;
  balance_cents: number;
  scenario: Scenario;
  speed: number;
}

/** The sandbox's one account: its balance, and the scenario and clock speed that all windows share. */
export class Account {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get row(): AccountRow {
    return this.#database.prepare('SELECT * FROM account').get() as unknown as AccountRow;
  }

  /** Adds to the balance (a charge is negative) and returns the new one, in cents. */
  add(cents: number): number {
    this.#database.prepare('UPDATE account SET balance_cents = balance_cents + ?').run(cents);
    return this.row.balance_cents;
  }

  setScenario(scenario: Scenario): void {
    this.#database.prepare('UPDATE account SET scenario = ?').run(scenario);
  }

  setSpeed(speed: number): void {
    this.#database.prepare('UPDATE account SET speed = ?').run(speed);
  }

  reset(): void {
    this.#database
      .prepare('UPDATE account SET balance_cents = ?, scenario = ?, speed = ?')
      .run(STARTING_BALANCE_CENTS, 'none', DEFAULT_SPEED);
  }
}

/** One run as it is stored. Its status is not: that follows from the clock. */
export interface RunRow extends Timeline {
  run_id: string;
  model_id: string;
  label: string | null;
  price_cents: number;
}

/** A place in the list: everything that comes after it is older. */
export interface Position {
  created_at: number;
  sequence: number;
}

/** The stored runs. */
export class RunTable {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** @param generated whether a scenario made them, which ends with it */
  insert(runs: readonly RunRow[], generated = false): void {
    const statement = this.#database.prepare(`
      INSERT INTO runs (run_id, model_id, label, price_cents, created_at, starts_at, completes_at, course, generated)
      VALUES (:run_id, :model_id, :label, :price_cents, :created_at, :starts_at, :completes_at, :course, :generated)`);
    for (const run of runs) statement.run({ ...run, generated: Number(generated) });
  }

  find(runId: string): RunRow | undefined {
    return this.#database.prepare('SELECT * FROM runs WHERE run_id = ?').get(runId) as RunRow | undefined;
  }

  /** The newest runs after a position; later insertions do not move what follows it. */
  page(after: Position | undefined, limit: number): (RunRow & Position)[] {
    const { created_at, sequence } = after ?? { created_at: Number.MAX_SAFE_INTEGER, sequence: 0 };
    return this.#database
      .prepare(
        `SELECT * FROM runs WHERE (created_at, sequence) < (?, ?)
         ORDER BY created_at DESC, sequence DESC LIMIT ?`,
      )
      .all(created_at, sequence, limit) as unknown as (RunRow & Position)[];
  }

  /** Stretches what is left of unfinished runs by a factor. */
  rescale(now: number, factor: number): void {
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

  deleteGenerated(): void {
    this.#database.exec('DELETE FROM runs WHERE generated = 1');
  }

  deleteAll(): void {
    this.#database.exec('DELETE FROM runs');
  }
}

/** What was answered when an Idempotency-Key was used first, and what identifies the parameters of that request. */
export interface FirstUse {
  fingerprint: string;
  answer: Required<RunCreation>;
}

/** The Idempotency-Keys used within 24 hours; older ones are as good as never used (spec: "Limits"). */
export class IdempotencyTable {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  find(idempotencyKey: string, now: number): FirstUse | undefined {
    const row = this.#database
      .prepare(
        'SELECT fingerprint, answer FROM used_idempotency_keys WHERE idempotency_key = ? AND used_at > ?',
      )
      .get(idempotencyKey, now - IDEMPOTENCY_WINDOW_MS) as
      { fingerprint: string; answer: string } | undefined;
    return row && { ...row, answer: JSON.parse(row.answer) as Required<RunCreation> };
  }

  /** Records a first use, and deletes those that are out of the window. */
  insert(idempotencyKey: string, { fingerprint, answer }: FirstUse, now: number): void {
    this.#database
      .prepare('DELETE FROM used_idempotency_keys WHERE used_at <= ?')
      .run(now - IDEMPOTENCY_WINDOW_MS);
    this.#database
      .prepare('INSERT INTO used_idempotency_keys VALUES (?, ?, ?, ?)')
      .run(idempotencyKey, fingerprint, now, JSON.stringify(answer));
  }

  deleteAll(): void {
    this.#database.exec('DELETE FROM used_idempotency_keys');
  }
}
