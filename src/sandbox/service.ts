import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { IDEMPOTENCY_WINDOW_MS, type RunCreation } from '../core/api/types.ts';
import { primaryCodeOf } from '../core/storage/lease.ts';
import { type PriceOf, STARTING_BALANCE_CENTS } from './catalog.ts';
import { DEFAULT_SPEED, type EveryOther, type Scenario } from './scenarios.ts';

const SCHEMA_VERSION = 4;
const BUSY_TIMEOUT_MS = 5_000;
/** SQLite's primary result codes for an invalid database file, as opposed to temporary errors. */
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

const SCHEMA = `
  CREATE TABLE account (
    singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
    account_id TEXT NOT NULL,
    balance_cents INTEGER NOT NULL CHECK (balance_cents >= 0),
    scenario TEXT NOT NULL,
    speed REAL NOT NULL
  ) STRICT;
  CREATE TABLE runs (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL UNIQUE,
    model_id TEXT NOT NULL,
    label TEXT,
    price_cents INTEGER NOT NULL,
    plan TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    starts_at INTEGER NOT NULL,
    completes_at INTEGER NOT NULL,
    course TEXT NOT NULL
  ) STRICT;
  CREATE INDEX runs_newest_first ON runs (created_at DESC, sequence DESC);
  CREATE TABLE used_idempotency_keys (
    idempotency_key TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    used_at INTEGER NOT NULL,
    answer TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** What endpoints get: the store, which all windows share, and the state of this server. */
export interface Service {
  readonly store: Store;
  /** Milliseconds since 1970; the only clock, also used for the `Date` header. */
  readonly now: () => number;
  readonly priceOf: PriceOf;
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly everyOther: EveryOther;
}

/** The sandbox's only account. All windows share its balance, scenario and clock. */
interface AccountRow {
  account_id: string;
  balance_cents: number;
  scenario: Scenario;
  speed: number;
}

/** How a run ends, decided on submission. */
export type Course = 'plain' | 'failed-run' | 'short-retention';

/** The times of a run, in ms since 1970. */
export interface Timeline {
  created_at: number;
  starts_at: number;
  completes_at: number;
  course: Course;
}

/** A stored run. Its status is not stored but follows from the clock. */
export interface RunRow extends Timeline {
  run_id: string;
  model_id: string;
  label: string | null;
  price_cents: number;
  plan: string;
}

/** A place in the list of runs; only older runs follow it. */
export interface Position {
  created_at: number;
  sequence: number;
}

/** The response to the first use of an Idempotency-Key, and a fingerprint of that request. */
export interface FirstUse {
  fingerprint: string;
  answer: Required<RunCreation>;
}

/** Owns the database that all windows share: the account, its runs, and the used Idempotency-Keys. */
class Store {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Runs `work` in a transaction, during which no other process can write; rolls back if it throws. */
  transaction<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
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

  setScenario(scenario: Scenario): void {
    this.#run('UPDATE account SET scenario = ?', scenario);
  }

  create(): void {
    this.#database.exec(SCHEMA);
    this.#run("INSERT INTO account VALUES (1, ?, 0, '', 0)", randomUUID());
    this.reset();
  }

  /** Deletes everything except the account, which is reset. */
  reset(): void {
    this.#run('DELETE FROM runs');
    this.#run('DELETE FROM used_idempotency_keys');
    const first = [STARTING_BALANCE_CENTS, 'none', DEFAULT_SPEED];
    this.#run('UPDATE account SET balance_cents = ?, scenario = ?, speed = ?', ...first);
  }

  insertRun(run: RunRow): void {
    this.#database
      .prepare(
        `INSERT INTO runs (run_id, model_id, label, price_cents, plan, created_at, starts_at, completes_at, course)
         VALUES (:run_id, :model_id, :label, :price_cents, :plan, :created_at, :starts_at, :completes_at, :course)`,
      )
      .run({ ...run });
  }

  findRun(runId: string): RunRow | undefined {
    return this.#database.prepare('SELECT * FROM runs WHERE run_id = ?').get(runId) as RunRow | undefined;
  }

  /** Returns the newest runs after a position; later insertions don't shift them. */
  pageOfRuns(after: Position | undefined, limit: number): (RunRow & Position)[] {
    const { created_at, sequence } = after ?? { created_at: Number.MAX_SAFE_INTEGER, sequence: 0 };
    return this.#database
      .prepare(
        `SELECT * FROM runs WHERE (created_at, sequence) < (?, ?)
         ORDER BY created_at DESC, sequence DESC LIMIT ?`,
      )
      .all(created_at, sequence, limit) as unknown as (RunRow & Position)[];
  }

  /** Returns the first use of an Idempotency-Key; after 24 hours it counts as unused (spec: "Limits"). */
  firstUse(idempotencyKey: string, now: number): FirstUse | undefined {
    const row = this.#database
      .prepare(
        'SELECT fingerprint, answer FROM used_idempotency_keys WHERE idempotency_key = ? AND used_at > ?',
      )
      .get(idempotencyKey, now - IDEMPOTENCY_WINDOW_MS) as
      | { fingerprint: string; answer: string }
      | undefined;
    return row && { ...row, answer: JSON.parse(row.answer) as Required<RunCreation> };
  }

  /** Records a first use and deletes those older than 24 hours. */
  recordFirstUse(idempotencyKey: string, { fingerprint, answer }: FirstUse, now: number): void {
    this.#run('DELETE FROM used_idempotency_keys WHERE used_at <= ?', now - IDEMPOTENCY_WINDOW_MS);
    const values = [idempotencyKey, fingerprint, now, JSON.stringify(answer)];
    this.#run('INSERT INTO used_idempotency_keys VALUES (?, ?, ?, ?)', ...values);
  }

  #run(sql: string, ...values: SQLInputValue[]): void {
    this.#database.prepare(sql).run(...values);
  }
}

/**
 * Opens the sandbox's database, which several processes may share, or creates it. Replaces a corrupt file, or one with
 * an earlier schema: it has only play money. @throws if a later version of the extension wrote it
 */
export function openStore(directory: string, log: (line: string) => void): Store {
  mkdirSync(directory, { recursive: true });
  // This lock keeps windows from replacing each other's database. It is an SQLite lock on an empty file, so it ends
  // with the process.
  const lock = new DatabaseSync(path.join(directory, 'sandbox.lock'), { timeout: BUSY_TIMEOUT_MS });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    const file = path.join(directory, 'sandbox.sqlite');
    if (existsSync(file)) {
      const database = openValid(file);
      if (database) return new Store(database);
      for (const suffix of ['', '-journal']) rmSync(file + suffix, { force: true });
      log('the database was not readable, or of an earlier version; a new one was made');
    }
    const store = new Store(connect(file));
    store.transaction(() => store.create());
    return store;
  } finally {
    lock.close();
  }
}

/** Returns undefined if the file is not a valid sandbox database. @throws other errors (locked, disk full) */
function openValid(file: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = connect(file);
    const { user_version } = database.prepare('PRAGMA user_version').get() ?? {};
    if (Number(user_version) > SCHEMA_VERSION)
      throw new Error('the database is of a later version of the extension');
    const { quick_check } = database.prepare('PRAGMA quick_check(1)').get() ?? {};
    if (user_version === SCHEMA_VERSION && quick_check === 'ok') return database;
    database.close();
  } catch (error) {
    database?.close();
    const code = primaryCodeOf(error);
    if (code !== SQLITE_CORRUPT && code !== SQLITE_NOTADB) throw error;
  }
  return undefined;
}

function connect(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  // Survives a crash of the process; a power failure may lose the last changes, which are only play money.
  database.exec('PRAGMA synchronous = NORMAL');
  return database;
}
