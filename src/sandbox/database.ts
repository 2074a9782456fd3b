import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { primaryCodeOf } from '../core/storage/lease.ts';
import { STARTING_BALANCE_CENTS } from './catalog.ts';
import { DEFAULT_SPEED } from './scenarios.ts';

const SCHEMA_VERSION = 2;
const BUSY_TIMEOUT_MS = 5_000;
/** Primary result codes of SQLite that mean "these bytes are no sound database", and not a passing trouble. */
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

const SCHEMA = `
  CREATE TABLE account (
    singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
    account_id TEXT NOT NULL,
    signing_secret BLOB NOT NULL,
    balance_cents INTEGER NOT NULL CHECK (balance_cents >= 0),
    scenario TEXT NOT NULL,
    speed REAL NOT NULL,
    price_rule TEXT NOT NULL
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
    course TEXT NOT NULL,
    generated INTEGER NOT NULL
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

/**
 * Opens the sandbox's database in a directory, which several processes may share, and makes it where there is none. A
 * file that is corrupt or of another schema version is replaced: it holds play money.
 */
export function openDatabase(directory: string, log: (line: string) => void): DatabaseSync {
  mkdirSync(directory, { recursive: true });
  // SQLite's own lock on an empty file: it dies with its process, so two windows never replace each other's file.
  const lock = new DatabaseSync(path.join(directory, 'sandbox.lock'), { timeout: BUSY_TIMEOUT_MS });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return openAlone(path.join(directory, 'sandbox.sqlite'), log);
  } finally {
    lock.close();
  }
}

/** Runs `work` as one transaction that no other process can come between; rolls back when it throws. */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function openAlone(file: string, log: (line: string) => void): DatabaseSync {
  if (existsSync(file)) {
    const database = openSound(file);
    if (database) return database;
    for (const suffix of ['', '-journal']) rmSync(file + suffix, { force: true });
    log('the database was not readable, or of another version; a new one was made');
  }
  const database = connect(file);
  transaction(database, () => {
    database.exec(SCHEMA);
    database
      .prepare('INSERT INTO account VALUES (1, ?, ?, ?, ?, ?, ?)')
      .run(randomUUID(), randomBytes(32), STARTING_BALANCE_CENTS, 'none', DEFAULT_SPEED, 'default');
  });
  return database;
}

/** Undefined when the file's bytes are no sound sandbox database; other errors (locked, disk full) are thrown. */
function openSound(file: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = connect(file);
    const { user_version } = database.prepare('PRAGMA user_version').get() ?? {};
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
  // Safe against the end of a process; only a power cut may lose the last moments of play money.
  database.exec('PRAGMA synchronous = NORMAL');
  return database;
}
