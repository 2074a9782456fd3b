/**
 * All tables of `state.sqlite`, in the order in which they came. Append only: the version of a file is how many of these it
 * has. One only adds: versions of the extension that do not know it still read and write beside it. One that they would spoil
 * sets `min_reader` in `meta` to its own number: they use the file no longer. The queries of a table are in one module of its room, and always name their columns. A table is
 * STRICT, and its first column is the account's id.
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
  // core/runs/sharedList.ts
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
