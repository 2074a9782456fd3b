import { accessSync, chmodSync, constants, existsSync, renameSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError } from '../base/errors.ts';
import { FolderWatch } from './folderWatch.ts';
import { hasLocks, identityOf, isBusy, Lease } from './lease.ts';
import { MIGRATIONS, migrate, rollBack } from './migrations.ts';
import {
  isDamaged,
  isOfFile,
  MOVED,
  problemOf,
  StateUnavailableError,
  type StateProblem,
} from './stateProblem.ts';

const FILE = 'state.sqlite';
/** A statement blocks the extension host at most this long; further waiting is asynchronous. */
const BUSY_MS = 20;
const RETRY_FOR_MS = 5_000;
const RETRY_EVERY_MS = 25;
const TICK_MS = 5_000;

/** The tables within one transaction. Statements are cached by their SQL, so pass values as parameters. */
export class Tables {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** The revisions that the current transaction set. */
  readonly touched = new Map<string, number>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** @typeParam Row the columns of the query */
  all<Row = Record<string, SQLOutputValue>>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values) as Row[];
  }

  /** Returns the first row, if any. */
  get(sql: string, ...values: SQLInputValue[]): Record<string, SQLOutputValue> | undefined {
    return this.#prepared(sql).get(...values);
  }

  /** @returns the number of changed rows */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  /** Notifies the other windows that follow a topic, so that they read it again. */
  touch(topic: string, accountId: string): void {
    const row = this.get(
      `INSERT INTO revision (account, topic, number) VALUES (?, ?, 1)
       ON CONFLICT (account, topic) DO UPDATE SET number = number + 1 RETURNING number`,
      accountId,
      topic,
    );
    this.touched.set(revisionKey(topic, accountId), Number(row?.['number']));
  }

  #prepared(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** An open database file, or one in memory. */
interface Opened {
  readonly database: DatabaseSync;
  readonly tables: Tables;
  /** Undefined for a database in memory. */
  readonly identity: string | undefined;
}

/**
 * Owns `state.sqlite`, which all windows on this machine share (money is in the journal). The file may be
 * deleted at any time. If it cannot be used, this window has the tables in memory, and `problem` says why.
 * ```ts
 * const rows = await state.read((tables) => tables.all('SELECT run_id FROM run WHERE account = ?', id));
 * await state.transaction((tables) => {
 *   const claimed = tables.run('INSERT INTO ... ON CONFLICT DO NOTHING', ...) === 1;
 *   if (claimed) tables.touch('runs', id); // the other windows read again
 * });
 * state.follow('runs', id, () => void reread()); // another window touched it, or the file was replaced
 * ```
 * Add tables to `MIGRATIONS` (`migrations.ts`), with one module for all queries of a table. Every write syncs
 * the disk, which blocks the extension host, so don't write progress or unchanged data. Only this module may
 * open, read, or copy the file: closing any of its descriptors drops this process's lock.
 */
export class StateStore implements Disposable {
  readonly #file: string;
  readonly #onUnreadable: (file: string) => void;
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
   * @param onUnreadable called with the path to which a damaged file was moved
   * @param migrations for tests: another version of the extension
   */
  constructor(
    folder: string,
    onUnreadable: (file: string) => void = () => undefined,
    migrations = MIGRATIONS,
  ) {
    this.#file = path.join(folder, FILE);
    this.#onUnreadable = onUnreadable;
    this.#migrations = migrations;
  }

  /** Opens the file, or sets `problem`. Every other method calls this automatically. */
  open(): Promise<void> {
    return (this.#opening ??= this.#begin());
  }

  /** Why nothing is shared with other windows. Set once the store is open; undefined without a problem. */
  get problem(): StateProblem | undefined {
    return this.#problem?.problem;
  }

  /** Ensures that the store is shared with other windows. @throws StateUnavailableError */
  async requireShared(): Promise<void> {
    await this.open();
    if (this.#problem !== undefined) throw this.#problem;
  }

  /**
   * Reads a consistent state of the tables.
   * @param work synchronous; may run more than once
   * @throws StateUnavailableError without even memory, CancelledError after `dispose`, SQLite errors
   */
  read<T>(work: (tables: Tables) => T): Promise<T> {
    return this.#retried('BEGIN', work);
  }

  /**
   * Reads and writes exclusively among all windows. All changes are durable once this resolves, or none.
   * @param work synchronous; may run more than once
   * @throws as `read`, and an error with a `cause` if COMMIT failed: read again before retrying
   */
  transaction<T>(work: (tables: Tables) => T): Promise<T> {
    return this.#retried('BEGIN IMMEDIATE', work);
  }

  /** Calls back when another window touches a topic of an account, or the file is replaced. */
  follow(topic: string, accountId: string, listener: () => void): Disposable {
    const key = revisionKey(topic, accountId);
    const listeners = this.#followers.get(key) ?? new Set();
    // Wrapped, because the same function may follow twice.
    const own = () => listener();
    this.#followers.set(key, listeners.add(own));
    return { dispose: () => listeners.delete(own) };
  }

  /** Checks for changes by other windows. Runs every 5 seconds and on folder changes. Never rejects. */
  async check(): Promise<void> {
    await this.open();
    if (this.problem === 'busy') await this.#openShared();
    if (this.#isDisposed || this.#problem !== undefined) return;
    try {
      const changed = await this.read((tables) => this.#changedSince(tables));
      this.#dataVersion = changed.dataVersion;
      for (const [key, number] of changed.revisions) this.#notice(key, number);
    } catch {
      // The next tick checks again.
    }
  }

  /** Closes the store without waiting; later calls reject with CancelledError. */
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
    // A commit creates and removes a journal file in the folder.
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
      // In a renamed or deleted file, no other window would see the change. Compared while locked.
      if (identity !== undefined && identityOf(this.#file) !== identity)
        throw Object.assign(new Error('state.sqlite was moved or replaced'), { errcode: MOVED });
      result = work(tables);
      this.#commit(database);
    } catch (error) {
      rollBack(database);
      throw error;
    }
    // If another window also changed a topic, its change must still be read.
    for (const [key, number] of tables.touched)
      if (number === (this.#seen.get(key) ?? 0) + 1) this.#seen.set(key, number);
    return result;
  }

  #commit(database: DatabaseSync): void {
    try {
      database.exec('COMMIT');
    } catch (error) {
      // Other windows are reading, so nothing was stored.
      if (isBusy(error)) throw error;
      // It may have been stored. Only a new connection reads what is on disk.
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

  /** Switches from memory to the file. Never rejects. */
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

  /** Notifies all followers after the file was replaced. */
  #haveAllRead(): void {
    this.#acknowledge();
    for (const listeners of this.#followers.values()) for (const listener of [...listeners]) listener();
  }

  /** Marks the current revisions as seen. Followers that read from now on get at least these. */
  #acknowledge(): void {
    this.#seen.clear();
    this.#dataVersion = undefined;
    if (this.#opened === undefined) return;
    try {
      const { dataVersion, revisions } = this.#changedSince(this.#opened.tables);
      this.#dataVersion = dataVersion;
      for (const [key, number] of revisions) this.#seen.set(key, number);
    } catch {
      // The next check treats everything as changed.
    }
  }

  /** Opens the file and migrates its tables; if it is unusable, creates them in memory. Never rejects. */
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
    // SQLite must be able to create a journal in the folder.
    accessSync(path.dirname(this.#file), constants.W_OK);
    const database = new Database(this.#file, { timeout: BUSY_MS });
    try {
      const identity = identityOf(this.#file);
      // Not WAL: SQLite up to 3.51.2 can lose commits with it, and the oldest supported VS Code has 3.50.4.
      database.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
      migrate(database, this.#migrations);
      chmodSync(this.#file, 0o600);
      return { database, tables: new Tables(database), identity };
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Moves a damaged file and its journal away, unless another window has done so. */
  async #setAside(identity: string | undefined): Promise<void> {
    const lease = await Lease.take(`${this.#file}.lock`, 100).catch(() => undefined);
    try {
      if (lease === undefined || identity === undefined || identityOf(this.#file) !== identity) return;
      const aside = `${this.#file}.damaged-${Date.now()}`;
      // Move the journal first: SQLite would roll it back into a new file beside it.
      if (existsSync(`${this.#file}-journal`)) renameSync(`${this.#file}-journal`, `${aside}-journal`);
      renameSync(this.#file, aside);
      this.#onUnreadable(aside);
    } catch {
      // If it cannot be moved, opening it reports that.
    } finally {
      lease?.release();
    }
  }

  #changedSince(tables: Tables): { dataVersion: number; revisions: [string, number][] } {
    // Changes with each commit of another connection, and takes microseconds to read.
    const dataVersion = Number(tables.get('PRAGMA data_version')?.['data_version']);
    if (dataVersion === this.#dataVersion) return { dataVersion, revisions: [] };
    const rows = tables.all<{ account: string; topic: string; number: number }>(
      'SELECT account, topic, number FROM revision',
    );
    return {
      dataVersion,
      revisions: rows.map(({ account, topic, number }) => [revisionKey(topic, account), number]),
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

function revisionKey(topic: string, accountId: string): string {
  return `${topic}\n${accountId}`;
}
