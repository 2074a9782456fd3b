import type { DatabaseSync } from 'node:sqlite';
import { StateUnavailableError } from './stateProblem.ts';

/**
 * All tables of `state.sqlite`, in order. Append only: a file's version is its number of migrations. A
 * migration only adds, so that older versions of the extension can still use the file. If they would corrupt
 * the new data, it excludes them: `min_reader` in `meta` becomes its own number. One module owns all queries
 * of a table and always names the columns. Tables are STRICT; the first column is the account's ID.
 */
export const MIGRATIONS: readonly string[] = [
  // core/downloads/downloadStore.ts
  `CREATE TABLE download (
        account TEXT NOT NULL, path TEXT NOT NULL, run TEXT NOT NULL, type TEXT NOT NULL, filename TEXT,
        size INTEGER NOT NULL, sha256 TEXT NOT NULL, verified TEXT NOT NULL, completed_ms INTEGER NOT NULL,
        PRIMARY KEY (account, path)
      ) STRICT;
      CREATE TABLE unfinished_download (
        account TEXT NOT NULL, id TEXT NOT NULL, run TEXT NOT NULL, type TEXT NOT NULL, filename TEXT,
        target TEXT NOT NULL, discarded INTEGER NOT NULL, PRIMARY KEY (account, id)
      ) STRICT`,
  // core/runs/storedRuns.ts
  'CREATE TABLE run_list (account TEXT PRIMARY KEY, list TEXT NOT NULL) STRICT',
  // core/runs/storedDetails.ts
  `CREATE TABLE run_detail (
      account TEXT NOT NULL,
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      run_id TEXT NOT NULL,
      listed TEXT NOT NULL,
      detail TEXT NOT NULL,
      UNIQUE (account, run_id)
    ) STRICT`,
  // core/runs/notificationLedger.ts
  `CREATE TABLE notification (
      account TEXT NOT NULL,
      key TEXT NOT NULL,
      claimed_at_ms INTEGER NOT NULL,
      is_unseen INTEGER NOT NULL,
      PRIMARY KEY (account, key)
    ) STRICT`,
];

/** Creates the tables that a database lacks. @throws StateUnavailableError if a later version excluded this one */
export function migrate(database: DatabaseSync, migrations: readonly string[]): void {
  // Begin even without pending migrations, to fail if the file cannot be locked or written.
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(`
      CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
      CREATE TABLE IF NOT EXISTS revision (
        account TEXT NOT NULL, topic TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (account, topic)
      ) STRICT`);
    const read = database.prepare('SELECT value FROM meta WHERE key = ?');
    const meta = (key: string) => Number(read.get(key)?.['value'] ?? 0);
    if (meta('min_reader') > migrations.length) throw new StateUnavailableError('newer');
    const version = meta('version');
    for (const sql of migrations.slice(version)) database.exec(sql);
    if (version < migrations.length)
      database
        .prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('version', ?)")
        .run(migrations.length);
    database.exec('COMMIT');
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** Some errors have already ended the transaction, and a damaged file cannot roll back. */
export function rollBack(database: DatabaseSync): void {
  try {
    if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
  } catch {
    database.close();
  }
}
