import { accessSync, chmodSync, constants, existsSync, renameSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError, ExpectedError } from '../base/errors.ts';
import { FolderWatch } from './folderWatch.ts';
import { hasLocks, identityOf, isBusy, Lease, primaryCodeOf } from './lease.ts';

const FILE = 'state.sqlite';
/** A statement blocks the extension host at most this long; the rest is waited for asynchronously. */
const BUSY_MS = 20;
const RETRY_FOR_MS = 5_000;
const RETRY_EVERY_MS = 25;
const TICK_MS = 5_000;
/** Result codes of SQLite. */
const READONLY = 8;
const CORRUPT = 11;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;
const MOVED = 1032;

/**
 * All tables of `state.sqlite`, in the order in which they came. Append only: the version of a file is how many of these it
 * has. One only adds: versions of the extension that do not know it still read and write beside it. One that they would spoil
 * sets `min_reader` in `meta` to its own number: they use the file no longer. The queries of a table are in one module of its
 * room, and always name their columns. A table is STRICT, and its first column is the account's id.
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

/**
 * Why windows cannot share state. `newer`: a later version of the extension refused this one. Only while it is `busy`, another
 * window holding the lock, is that tried again.
 */
export type StateProblem =
  'module-missing' | 'no-locks' | 'read-only' | 'newer' | 'corrupt' | 'busy' | 'failed';

/** There is no usable store, so nothing can be agreed on with other windows. */
export class StateUnavailableError extends ExpectedError {
  readonly code = 'state-unavailable';
  readonly problem: StateProblem;

  constructor(problem: StateProblem, cause?: unknown) {
    super(`state.sqlite: ${problem}`, { cause });
    this.problem = problem;
  }
}

/** The tables inside one transaction. Statements are prepared once for each text of SQL, so values belong into parameters. */
export class Tables {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** The revisions that the running transaction made. */
  readonly touched = new Map<string, number>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** @typeParam Row what the columns of the query hold */
  all<Row = Record<string, SQLOutputValue>>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values) as Row[];
  }

  /** The first row, if any. */
  get(sql: string, ...values: SQLInputValue[]): Record<string, SQLOutputValue> | undefined {
    return this.#prepared(sql).get(...values);
  }

  /** @returns how many rows were changed */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  /** Has the other windows that follow this topic read it again. */
  touch(topic: string, accountId: string): void {
    const row = this.get(
      `INSERT INTO revision (account, topic, number) VALUES (?, ?, 1)
       ON CONFLICT (account, topic) DO UPDATE SET number = number + 1 RETURNING number`,
      accountId,
      topic,
    );
    this.touched.set(keyOf(topic, accountId), Number(row?.['number']));
  }

  #prepared(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** What is needed to work with one file; another file has another one. */
interface Opened {
  readonly database: DatabaseSync;
  readonly tables: Tables;
  /** Undefined in memory. */
  readonly identity: string | undefined;
}

/**
 * Owns `state.sqlite`: what all windows of this machine share, money aside (that is in the journal of submissions). The file
 * may be deleted at any time. Where it cannot be used, the same tables live in this window's memory, and `problem` says why.
 *
 *     const rows = await state.read((tables) => tables.all('SELECT run_id FROM run WHERE account = ?', id));
 *     await state.transaction((tables) => {
 *       const claimed = tables.run('INSERT INTO ... ON CONFLICT DO NOTHING', ...) === 1;
 *       if (claimed) tables.touch('runs', id); // the other windows read again
 *     });
 *     state.follow('runs', id, () => void reread()); // another window touched it, or the file was replaced
 *
 * Add a table to `MIGRATIONS`, and one module of your room that holds all its queries. Every transaction that writes costs
 * a sync of the disk, which blocks the extension host: write nothing for progress, or where nothing changed. Only this module
 * may open the file, read or copy it: closing any descriptor of it drops this process's lock.
 */
export class StateStore implements Disposable {
  readonly #file: string;
  readonly #onSetAside: (file: string) => void;
  readonly #migrations: readonly string[];
  readonly #followers = new Map<string, Set<() => void>>();
  /** The revisions that this window has seen. */
  readonly #seen = new Map<string, number>();
  #opening: Promise<void> | undefined;
  #opened: Opened | undefined;
  #problem: StateUnavailableError | undefined;
  #dataVersion: number | undefined;
  #watch: FolderWatch | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isDisposed = false;

  /**
   * @param folder the extension's storage
   * @param onSetAside gets the path to which a damaged file was moved
   * @param migrations for tests: another version of the extension
   */
  constructor(folder: string, onSetAside: (file: string) => void = () => undefined, migrations = MIGRATIONS) {
    this.#file = path.join(folder, FILE);
    this.#onSetAside = onSetAside;
    this.#migrations = migrations;
  }

  /** Opens the file, or says in `problem` why it cannot be used. Every other method does this by itself. */
  open(): Promise<void> {
    return (this.#opening ??= this.#begin());
  }

  /** Known once it is open: why nothing is shared with other windows; undefined where all is well. */
  get problem(): StateProblem | undefined {
    return this.#problem?.problem;
  }

  /** For what must not be done without other windows knowing. @throws StateUnavailableError */
  async requireShared(): Promise<void> {
    await this.open();
    if (this.#problem !== undefined) throw this.#problem;
  }

  /**
   * Reads one state of the tables.
   * @param work synchronous; may run more than once
   * @throws StateUnavailableError where not even memory is available, CancelledError after `dispose`, and SQLite's errors
   */
  read<T>(work: (tables: Tables) => T): Promise<T> {
    return this.#retried('BEGIN', work);
  }

  /**
   * Reads and writes alone among all windows: all of it is durable once this resolves, or nothing.
   * @param work synchronous; may run more than once
   * @throws as `read`, and an error with a `cause` where COMMIT failed: read before doing it again
   */
  transaction<T>(work: (tables: Tables) => T): Promise<T> {
    return this.#retried('BEGIN IMMEDIATE', work);
  }

  /** Calls back when another window touched a topic of an account, and when the file has become another one. */
  follow(topic: string, accountId: string, listener: () => void): Disposable {
    const key = keyOf(topic, accountId);
    const listeners = this.#followers.get(key) ?? new Set();
    // The same function may follow twice.
    const own = () => listener();
    this.#followers.set(key, listeners.add(own));
    return { dispose: () => listeners.delete(own) };
  }

  /** Checks what other windows changed; happens every 5 seconds and when the folder changes. Never rejects. */
  async check(): Promise<void> {
    await this.open();
    if (this.problem === 'busy') await this.#openShared();
    if (this.#isDisposed || this.#problem !== undefined) return;
    try {
      const changed = await this.read((tables) => this.#changedSince(tables));
      this.#dataVersion = changed.dataVersion;
      for (const [key, number] of changed.revisions) this.#notice(key, number);
    } catch {
      // The next tick reads it.
    }
  }

  /** Ends it without waiting for anything; later calls reject as cancelled. */
  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    this.#watch?.dispose();
    this.#close();
  }

  async #begin(): Promise<void> {
    const folder = path.dirname(this.#file);
    await mkdir(folder, { recursive: true }).catch(() => undefined);
    await this.#openFile();
    if (this.#isDisposed || (this.#problem !== undefined && this.problem !== 'busy')) return;
    this.#acknowledge();
    // A commit makes and removes a journal in the folder.
    this.#watch = new FolderWatch(folder, `${FILE}-journal`, () => this.check());
    this.#tick();
  }

  #tick(): void {
    if (this.#isDisposed) return;
    this.#timer = setTimeout(() => {
      this.#watch?.renew();
      void this.check().finally(() => this.#tick());
    }, TICK_MS).unref();
  }

  async #retried<T>(begin: string, work: (tables: Tables) => T): Promise<T> {
    await this.open();
    const endMs = performance.now() + RETRY_FOR_MS;
    let isRecovered = false;
    for (;;)
      try {
        return this.#once(begin, work);
      } catch (error) {
        if (isBusy(error) && performance.now() < endMs) await delay(RETRY_EVERY_MS * (0.5 + Math.random()));
        else if (isOfFile(error) && !isRecovered) {
          isRecovered = true;
          await this.#recover(error);
        } else throw error;
      }
  }

  #once<T>(begin: string, work: (tables: Tables) => T): T {
    if (this.#isDisposed) throw new CancelledError();
    if (this.#opened === undefined) throw this.#problem ?? new StateUnavailableError('failed');
    const { database, tables, identity } = this.#opened;
    tables.touched.clear();
    database.exec(begin);
    let result: T;
    try {
      // Renamed or deleted: what is written there nobody else would see. Compared under the lock.
      if (identity !== undefined && identityOf(this.#file) !== identity)
        throw Object.assign(new Error('state.sqlite was moved or replaced'), { errcode: MOVED });
      result = work(tables);
      this.#commit(database);
    } catch (error) {
      rollBack(database);
      throw error;
    }
    // Where another window changed it as well, what that one did is still to be read.
    for (const [key, number] of tables.touched)
      if (number === (this.#seen.get(key) ?? 0) + 1) this.#seen.set(key, number);
    return result;
  }

  #commit(database: DatabaseSync): void {
    try {
      database.exec('COMMIT');
    } catch (error) {
      // Others are reading: nothing was stored.
      if (isBusy(error)) throw error;
      // It may have been stored; only a new connection reads what the disk has.
      this.#close();
      this.#dataVersion = undefined;
      this.#opening = this.#openFile();
      throw new Error('state.sqlite: it is unknown whether the change was stored', { cause: error });
    }
  }

  async #recover(error: unknown): Promise<void> {
    const identity = this.#opened?.identity;
    this.#close();
    if (isDamaged(error)) await this.#setAside(identity);
    this.#opening = this.#openFile();
    await this.#opening;
    this.#haveAllRead();
  }

  /** Leaves this window's memory for the file. Never rejects. */
  async #openShared(): Promise<void> {
    const { DatabaseSync: Database } = await import('node:sqlite');
    if (this.#isDisposed || this.problem !== 'busy') return;
    try {
      const opened = this.#openOnce(Database);
      this.#close();
      this.#opened = opened;
      this.#problem = undefined;
      this.#haveAllRead();
    } catch {
      // The next tick tries again.
    }
  }

  /** The file has become another one. */
  #haveAllRead(): void {
    this.#acknowledge();
    for (const listeners of this.#followers.values()) for (const listener of [...listeners]) listener();
  }

  /** Whoever reads from now on reads at least what the file holds now. */
  #acknowledge(): void {
    this.#seen.clear();
    this.#dataVersion = undefined;
    if (this.#opened === undefined) return;
    try {
      const { dataVersion, revisions } = this.#changedSince(this.#opened.tables);
      this.#dataVersion = dataVersion;
      for (const [key, number] of revisions) this.#seen.set(key, number);
    } catch {
      // Everything counts as changed at the next check.
    }
  }

  /** Opens the file and brings its tables up to date; without a usable one, tables in memory. Never rejects. */
  async #openFile(): Promise<void> {
    this.#problem = undefined;
    const { DatabaseSync: Database } = await import('node:sqlite').catch(() => ({ DatabaseSync: undefined }));
    if (Database === undefined) {
      this.#problem = new StateUnavailableError('module-missing');
      return;
    }
    const endMs = performance.now() + RETRY_FOR_MS;
    for (let isRecovered = false; ;)
      try {
        if (this.#isDisposed) return;
        this.#opened = this.#openOnce(Database);
        return;
      } catch (error) {
        const isHeld = isBusy(error) && hasLocks(path.dirname(this.#file), Database);
        if (isHeld && performance.now() < endMs) await delay(RETRY_EVERY_MS * (0.5 + Math.random()));
        else if (isDamaged(error) && !isRecovered) {
          isRecovered = true;
          await this.#setAside(identityOf(this.#file));
        } else {
          this.#problem = isHeld ? new StateUnavailableError('busy', error) : problemOf(error);
          const database = new Database(':memory:');
          migrate(database, this.#migrations);
          this.#opened = { database, tables: new Tables(database), identity: undefined };
          return;
        }
      }
  }

  #openOnce(Database: typeof DatabaseSync): Opened {
    // A journal is made beside it.
    accessSync(path.dirname(this.#file), constants.W_OK);
    const database = new Database(this.#file, { timeout: BUSY_MS });
    try {
      const identity = identityOf(this.#file);
      // Not WAL: SQLite up to 3.51.2 can lose commits in it, and the oldest VS Code that is supported has 3.50.4.
      database.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
      migrate(database, this.#migrations);
      chmodSync(this.#file, 0o600);
      return { database, tables: new Tables(database), identity };
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Moves a damaged file away with its journal, if no other window has done so. */
  async #setAside(identity: string | undefined): Promise<void> {
    const lease = await Lease.take(`${this.#file}.lock`, 100).catch(() => undefined);
    try {
      if (lease === undefined || identity === undefined || identityOf(this.#file) !== identity) return;
      const aside = `${this.#file}.damaged-${Date.now()}`;
      // The journal first: beside a new file it would be rolled back into that one.
      if (existsSync(`${this.#file}-journal`)) renameSync(`${this.#file}-journal`, `${aside}-journal`);
      renameSync(this.#file, aside);
      this.#onSetAside(aside);
    } catch {
      // It cannot be moved: opening it says so.
    } finally {
      lease?.release();
    }
  }

  #changedSince(tables: Tables): { dataVersion: number; revisions: [string, number][] } {
    // Changes with each commit of another connection, and costs microseconds.
    const dataVersion = Number(tables.get('PRAGMA data_version')?.['data_version']);
    if (dataVersion === this.#dataVersion) return { dataVersion, revisions: [] };
    const rows = tables.all<{ account: string; topic: string; number: number }>(
      'SELECT account, topic, number FROM revision',
    );
    return {
      dataVersion,
      revisions: rows.map(({ account, topic, number }) => [keyOf(topic, account), number]),
    };
  }

  #notice(key: string, number: number): void {
    if (this.#seen.get(key) === number) return;
    this.#seen.set(key, number);
    for (const listener of [...(this.#followers.get(key) ?? [])]) listener();
  }

  #close(): void {
    if (this.#opened?.database.isOpen === true) this.#opened.database.close();
    this.#opened = undefined;
  }
}

/** @throws StateUnavailableError when a later version refused older ones */
function migrate(database: DatabaseSync, migrations: readonly string[]): void {
  // Also where nothing is to be done: it fails where the file cannot be locked or written.
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

/** Some errors have ended the transaction already, and a damaged file cannot end it. */
function rollBack(database: DatabaseSync): void {
  try {
    if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
  } catch {
    database.close();
  }
}

function problemOf(error: unknown): StateUnavailableError {
  if (error instanceof StateUnavailableError) return error;
  if (isBusy(error)) return new StateUnavailableError('no-locks', error);
  if (isDamaged(error)) return new StateUnavailableError('corrupt', error);
  const { code } = error as NodeJS.ErrnoException;
  const isReadOnly = [READONLY, CANNOT_OPEN].includes(primaryCodeOf(error) ?? 0);
  if (isReadOnly || code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
    return new StateUnavailableError('read-only', error);
  return new StateUnavailableError('failed', error);
}

function isDamaged(error: unknown): boolean {
  return [CORRUPT, NOT_A_DATABASE].includes(primaryCodeOf(error) ?? 0);
}

/** Whether another connection may help. */
function isOfFile(error: unknown): boolean {
  return isDamaged(error) || (error as { errcode?: unknown }).errcode === MOVED;
}

function keyOf(topic: string, accountId: string): string {
  return `${topic}\n${accountId}`;
}
