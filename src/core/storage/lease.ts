import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { ExpectedError } from '../base/errors.ts';

/** How often a lock is tried: another may hold it for a moment, only to see whether it is free. */
const TRIES = 5;
/** Never so often in a row is a lock file replaced while it is locked: the file system reports another identity each time. */
const MAX_OTHER_FILES = 3;
const TRY_AGAIN_MS = 12;
const SQLITE_BUSY = 5;
const PROBE = '.probe';

/** The file system does not lock, or not here: who owns something cannot be known, so nobody does. */
export class LeaseUnavailableError extends ExpectedError {
  readonly code = 'lease-unavailable';

  constructor(cause?: unknown) {
    super('the lock file cannot be locked', { cause });
  }
}

/**
 * Ownership of something by one holder among all processes of this machine, and within this one: the operating system's
 * lock on an empty file. It ends with its process and not before, however long the machine sleeps. Who holds it must stay
 * reachable for it and release it; nothing but this class may open a lock file (POSIX drops a process's locks of a file
 * as soon as any descriptor of that file is closed).
 */
export class Lease {
  readonly file: string;
  readonly #database: DatabaseSync;
  readonly #identity: string;

  private constructor(file: string, database: DatabaseSync, identity: string) {
    this.file = file;
    this.#database = database;
    this.#identity = identity;
  }

  /**
   * Takes the lease of a lock file, which is made where it is missing. Undefined when another living holder has it.
   * @param tries one does not wait for those that hold it for a moment only
   * @throws LeaseUnavailableError
   */
  static async take(file: string, tries = TRIES): Promise<Lease | undefined> {
    const found = await Lease.#find(file, tries, true);
    return found instanceof Lease ? found : undefined;
  }

  /**
   * Whether a living holder, in whichever process, has the lease of a lock file; one that is missing is not made.
   * @throws LeaseUnavailableError
   */
  static async isTaken(file: string): Promise<boolean> {
    const found = await Lease.#find(file, TRIES, false);
    if (found instanceof Lease) found.release();
    return found === 'busy';
  }

  /** @param makesFile where it is missing; else that is `missing` @throws LeaseUnavailableError */
  static async #find(file: string, tries: number, makesFile: boolean): Promise<Lease | 'busy' | 'missing'> {
    try {
      if (makesFile) await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      const { DatabaseSync: Database } = await import('node:sqlite');
      for (let [left, otherFiles] = [tries, 0]; ;) {
        const isMissing = identityOf(file) === undefined;
        if (isMissing && !makesFile) return 'missing';
        // SQLite alone makes the file: closing a descriptor of our own could drop a lock of this process.
        if (isMissing) new Database(file).close();
        const found = Lease.#tryOnce(file, Database);
        if (found instanceof Lease) return found;
        otherFiles = found === 'other-file' ? otherFiles + 1 : 0;
        // Nobody has it: to call it busy would blame another window.
        if (otherFiles >= MAX_OTHER_FILES) throw new Error('the file system does not say which file it is');
        if (found === 'other-file') continue;
        if (--left <= 0) {
          if (tries > 1 && !hasLocks(path.dirname(file), Database))
            throw new Error('no file can be locked here');
          return 'busy';
        }
        await delay(TRY_AGAIN_MS * (0.5 + Math.random()));
      }
    } catch (error) {
      throw new LeaseUnavailableError(error);
    }
  }

  /** Takes that of a file that is there; who has it may be about to remove it. */
  static #tryOnce(file: string, Database: typeof DatabaseSync): Lease | 'busy' | 'other-file' {
    const identity = identityOf(file);
    let database: DatabaseSync | undefined;
    let lease: Lease | undefined;
    try {
      database = new Database(withoutMaking(file));
      // With a journal in memory nothing is written: the file stays empty, and has no other beside it.
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE');
      // A former owner may have removed the file meanwhile: then what was locked is not what others find.
      if (identity !== undefined && identityOf(file) === identity)
        lease = new Lease(file, database, identity);
      return lease ?? 'other-file';
    } catch (error) {
      const isGone = database === undefined && identityOf(file) === undefined;
      if (!isGone && !isBusy(error)) throw error;
      return 'busy';
    } finally {
      if (lease === undefined) database?.close();
    }
  }

  /** Whether it is still held, read from the disk again: not after the file was removed or replaced, or it was released. */
  isHeld(): boolean {
    try {
      return this.#database.isTransaction && identityOf(this.file) === this.#identity;
    } catch {
      // It is closed.
      return false;
    }
  }

  /** Gives it up; the file stays. May be called again. */
  release(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  /**
   * Gives it up and removes its file, unless another's is there. Only when what is owned has ended: one who takes it
   * could miss that the file was removed twice meanwhile, since a file system uses its numbers again. May be called again.
   */
  remove(): void {
    const { file } = this;
    // While it is held nobody else owns the file. Windows removes no open file: there only one that nobody has.
    if (process.platform === 'win32') this.release();
    if (process.platform === 'win32' || this.isHeld())
      try {
        unlinkSync(file);
      } catch {
        // It stays, free, and is swept another time.
      }
    this.release();
  }
}

/** A database that is opened only where its file exists: an empty one, left behind by who only asked, would be nobody's. */
function withoutMaking(file: string): URL {
  const url = pathToFileURL(file);
  url.searchParams.set('mode', 'rw');
  return url;
}

/** Which file is at a path: another one has another identity as long as this one is open. */
export function identityOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

/** The lower byte of SQLite's result code; undefined for errors of others. */
export function primaryCodeOf(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
}

export function isBusy(error: unknown): boolean {
  return primaryCodeOf(error) === SQLITE_BUSY;
}

/**
 * Whether files of a folder can be locked: a file system without locks answers as if another process had the lock, also for
 * a file that no other process knows.
 */
export function hasLocks(folder: string, Database: typeof DatabaseSync): boolean {
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

/** Also those of processes that were killed; another one that is probing has no use for the name. */
function removeProbes(folder: string): void {
  try {
    for (const name of readdirSync(folder))
      if (name.endsWith(PROBE)) rmSync(path.join(folder, name), { force: true });
  } catch {
    // One is open on Windows, or the folder is gone: another time.
  }
}
