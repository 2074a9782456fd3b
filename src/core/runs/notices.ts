import { hash } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { accountFolder } from '../accounts/account.ts';
import { lazyBy } from '../base/async.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';

/** Older files are removed: their runs no longer change. */
const STORED_FOR_MS = 90 * 24 * 60 * 60_000;
const COUNT_EVERY_MS = 5_000;
const UNSEEN = '.unseen';

/**
 * Owns the folder `notices` of each account: which notifications about runs were shown in any window on this machine.
 * Each notification has an empty file, which only one window can create. A run that ended has another file until the
 * user has seen it.
 */
export class Notices implements Disposable {
  readonly #runsFolder: string;
  readonly #nowMs: () => number;
  readonly #onDidChangeUnseen = new Emitter<string>();
  readonly #claimed = new Set<string>();
  readonly #unseen = new Map<string, number>();
  /** Runs once for each account. */
  readonly #removeOld = lazyBy((folder) => this.#removeOldFiles(folder));

  /** Fires with the account's ID when its number of unseen runs was seen to change. */
  readonly onDidChangeUnseen = this.#onDidChangeUnseen.event;

  /** @param runsFolder the folder of all accounts' runs, shared by all windows */
  constructor(runsFolder: string, nowMs: () => number = Date.now) {
    this.#runsFolder = runsFolder;
    this.#nowMs = nowMs;
  }

  /**
   * Claims a notification for this window. Resolves to true in exactly one window, once. If no file can be created,
   * resolves to true once in each window: better shown twice than never.
   * @param isUnseen counts the run as unseen until `markSeen`
   */
  async claim(accountId: string, runId: string, what: string, isUnseen = false): Promise<boolean> {
    const folder = this.#folderOf(accountId);
    const file = path.join(folder, nameOf(runId, what));
    if (this.#claimed.has(file)) return false;
    this.#claimed.add(file);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 }).catch(() => undefined);
      await writeFile(file, '', { flag: 'wx', mode: 0o600 });
      if (isUnseen) await writeFile(path.join(folder, nameOf(runId, '') + UNSEEN), '', { mode: 0o600 });
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'EEXIST';
    }
    void this.#removeOld(folder);
    if (isUnseen) await this.#count(accountId);
    return true;
  }

  /** The number of ended runs of an account that the user has not seen; 0 until `follow` has read it. */
  unseenCount(accountId: string): number {
    return this.#unseen.get(accountId) ?? 0;
  }

  /** Reads the number of unseen runs now and every five seconds. */
  follow(accountId: string): Disposable {
    const count = () => void this.#count(accountId);
    const timer = setInterval(count, COUNT_EVERY_MS).unref();
    count();
    return { dispose: () => clearInterval(timer) };
  }

  /** Marks all ended runs of an account as seen. Never rejects; if it fails, they stay unseen. */
  async markSeen(accountId: string): Promise<void> {
    const folder = this.#folderOf(accountId);
    for (const name of await unseenIn(folder)) await rm(path.join(folder, name)).catch(() => undefined);
    await this.#count(accountId);
  }

  dispose(): void {
    this.#onDidChangeUnseen.dispose();
  }

  #folderOf(accountId: string): string {
    return path.join(accountFolder(this.#runsFolder, accountId), 'notices');
  }

  async #removeOldFiles(folder: string): Promise<void> {
    for (const name of await readdir(folder).catch(() => [])) {
      const file = path.join(folder, name);
      const changedMs = (await stat(file).catch(() => undefined))?.mtimeMs ?? Infinity;
      if (this.#nowMs() - changedMs > STORED_FOR_MS) await rm(file).catch(() => undefined);
    }
  }

  /** Counts the unseen runs again, and fires if their number changed. */
  async #count(accountId: string): Promise<void> {
    const { length } = await unseenIn(this.#folderOf(accountId));
    if (length === this.unseenCount(accountId)) return;
    this.#unseen.set(accountId, length);
    this.#onDidChangeUnseen.fire(accountId);
  }
}

/** Returns the files of unseen runs; none if the folder is missing or can't be read. */
async function unseenIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith(UNSEEN));
}

/** Returns a file name. It is a hash, because run IDs and statuses are service text of any length. */
function nameOf(runId: string, what: string): string {
  return hash('sha256', JSON.stringify([runId, what])).slice(0, 40);
}
