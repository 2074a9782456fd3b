import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { ExpectedError } from '../base/errors.ts';

/** Attempts to lock a file. Another process may lock it for a moment, in `isTaken`. */
const TRIES = 5;
const TRY_AGAIN_MS = 12;
const SQLITE_BUSY = 5;
const PROBE = '.probe';

/** Thrown if the file system doesn't support locks here, so that ownership cannot be determined. */
export class LeaseUnavailableError extends ExpectedError {
  readonly code = 'lease-unavailable';

  constructor(cause?: unknown) {
    super('the lock file cannot be locked', { cause });
  }
}

/**
 * Ownership by one process on this machine, held by an operating system lock on an empty file. It ends only with
 * `release` or its process, however long the machine sleeps. The holder must keep a reference to it. Only this
 * class may open a lock file: POSIX drops a process's locks on a file when the process closes any descriptor of it.
 */
export class Lease {
  readonly file: string;
  readonly #database: DatabaseSync | undefined;
  readonly #identity: string;
  #isReleased = false;

  private constructor(file: string, database: DatabaseSync | undefined, identity: string) {
    this.file = file;
    this.#database = database;
    this.#identity = identity;
  }

  /**
   * Acquires the lease of a lock file; creates a missing file. Undefined if a running process holds it.
   * @param tries 1: doesn't wait for brief probes by `isTaken`
   * @throws LeaseUnavailableError
   */
  static async take(file: string, tries = TRIES): Promise<Lease | undefined> {
    const found = await Lease.#find(file, tries, true);
    return found instanceof Lease ? found : undefined;
  }

  /**
   * Returns a lease without a lock: held until it is released, whatever other processes do. For work that is safe
   * without locks.
   */
  static unlocked(file: string): Lease {
    return new Lease(file, undefined, '');
  }

  /**
   * Whether any running process holds the lease of a lock file. Doesn't create a missing file.
   * @throws LeaseUnavailableError
   */
  static async isTaken(file: string): Promise<boolean> {
    const found = await Lease.#find(file, TRIES, false);
    if (found instanceof Lease) found.release();
    return found === 'busy';
  }

  /**
   * @param createsFile creates a missing file, else returns `missing`
   * @throws LeaseUnavailableError
   */
  static async #find(file: string, tries: number, createsFile: boolean): Promise<Lease | 'busy' | 'missing'> {
    try {
      if (createsFile) await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      const { DatabaseSync: Database } = await import('node:sqlite');
      for (let left = tries; ; left--) {
        const isMissing = identityOf(file) === undefined;
        if (isMissing && !createsFile) return 'missing';
        // Let SQLite create the file: closing our own descriptor could drop a lock of this process.
        if (isMissing) new Database(file).close();
        const found = Lease.#tryOnce(file, Database);
        if (found instanceof Lease) return found;
        if (left <= 1) {
          // `busy` would blame another window, although no file can be locked here or the file was replaced.
          if (found === 'other-file' || (tries > 1 && !hasLocks(path.dirname(file), Database)))
            throw new Error('no file can be locked here');
          return 'busy';
        }
        await delay(TRY_AGAIN_MS * (0.5 + Math.random()));
      }
    } catch (error) {
      throw new LeaseUnavailableError(error);
    }
  }

  /** Tries to lock an existing file. */
  static #tryOnce(file: string, Database: typeof DatabaseSync): Lease | 'busy' | 'other-file' {
    const identity = identityOf(file);
    const database = new Database(file);
    let lease: Lease | undefined;
    try {
      // With the journal in memory, nothing is written: the file stays empty, and no other is created.
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE');
      // If the folder was replaced meanwhile, other windows find another file than the locked one.
      if (identity !== undefined && identityOf(file) === identity)
        lease = new Lease(file, database, identity);
      return lease ?? 'other-file';
    } catch (error) {
      if (!isBusy(error)) throw error;
      return 'busy';
    } finally {
      if (lease === undefined) database.close();
    }
  }

  /** Whether the lease is still held. Checks the disk: the file may have been removed or replaced. */
  isHeld(): boolean {
    if (this.#database === undefined) return !this.#isReleased;
    try {
      return this.#database.isTransaction && identityOf(this.file) === this.#identity;
    } catch {
      // The database is closed.
      return false;
    }
  }

  /** Ends the lease; may be called again. The file stays: another process may be about to lock it. */
  release(): void {
    this.#isReleased = true;
    if (this.#database?.isOpen === true) this.#database.close();
  }
}

/** Returns the identity of the file at a path, unique while that file is open; undefined if there is none. */
function identityOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

/** Returns the lower byte of SQLite's result code; undefined for other errors. */
export function primaryCodeOf(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
}

function isBusy(error: unknown): boolean {
  return primaryCodeOf(error) === SQLITE_BUSY;
}

/**
 * Whether files in a folder can be locked. A file system without locks reports every file as locked, even one
 * that no other process knows.
 */
function hasLocks(folder: string, Database: typeof DatabaseSync): boolean {
  let database: DatabaseSync | undefined;
  try {
    database = new Database(path.join(folder, `${randomUUID()}${PROBE}`));
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    return !isBusy(error);
  } finally {
    database?.close();
    removeProbes(folder);
  }
}

/** Removes all probe files, also those of killed processes. A running probe works without its file name. */
function removeProbes(folder: string): void {
  try {
    for (const name of readdirSync(folder))
      if (name.endsWith(PROBE)) rmSync(path.join(folder, name), { force: true });
  } catch {
    // A probe is still open on Windows, or the folder is gone.
  }
}
