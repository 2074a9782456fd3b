import { createHash } from 'node:crypto';
import { open, readdir, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectoryDurably, syncDirectory } from '../storage/durableFile.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { FolderWatch } from '../storage/folderWatch.ts';

/** What is older is forgotten: no list says any more that such a run just went on. */
const KEPT_MS = 90 * 24 * 60 * 60_000;
const UNSEEN = '.unseen';

/**
 * Owns what was told of runs, for all windows of the machine: an empty file for each thing, made exclusively, and one more
 * for each finished run that nobody has seen yet.
 */
export class Told implements Disposable {
  readonly #folderOf: (accountId: string) => string;
  readonly #nowMs: () => number;
  readonly #onDidChangeUnseen = new Emitter<string>();
  readonly #claimed = new Set<string>();
  readonly #unseen = new Map<string, { count: number; watch: FolderWatch }>();
  readonly #pruned = new Set<string>();
  #disposed = false;

  /** Fires with the account's id when another number of its finished runs is unseen, in whichever window it changed. */
  readonly onDidChangeUnseen = this.#onDidChangeUnseen.event;

  /** @param folderOf the folder of an account, which need not exist */
  constructor(folderOf: (accountId: string) => string, nowMs: () => number = Date.now) {
    this.#folderOf = folderOf;
    this.#nowMs = nowMs;
  }

  /**
   * Takes upon this window to tell something of a run: true for exactly one, ever. Where the disk takes no file it is true for
   * each window once: rather told twice than never.
   */
  async claim(accountId: string, runId: string, what: string): Promise<boolean> {
    const folder = this.#folderOf(accountId);
    const name = nameOf(runId, what);
    const key = path.join(folder, name);
    if (this.#claimed.has(key)) return false;
    this.#claimed.add(key);
    if (!(await make(folder, name))) return false;
    if (!this.#pruned.has(folder)) {
      this.#pruned.add(folder);
      await this.#prune(folder);
    }
    return true;
  }

  /** Counts a finished run as unseen, until `see`. Of what the disk does not take nobody learns. */
  async addUnseen(accountId: string, runId: string): Promise<void> {
    const folder = this.#folderOf(accountId);
    await make(folder, `${nameOf(runId, 'finished')}${UNSEEN}`);
    await this.#count(accountId);
  }

  /** How many finished runs of an account nobody has seen yet: 0 until `follow` has read them. */
  unseen(accountId: string): number {
    return this.#unseen.get(accountId)?.count ?? 0;
  }

  /** Reads how many are unseen, and goes on with what other windows do. Never rejects. */
  async follow(accountId: string): Promise<void> {
    if (this.#disposed) return;
    const folder = this.#folderOf(accountId);
    const known = this.#unseen.get(accountId);
    // It may be another folder than before: an account's is made anew where it was removed.
    known?.watch.dispose();
    const watch = new FolderWatch(folder, UNSEEN, () => this.#count(accountId));
    this.#unseen.set(accountId, { count: known?.count ?? 0, watch });
    // There may be none yet to be followed.
    await makeDirectoryDurably(folder).catch(() => undefined);
    watch.renew();
    await this.#count(accountId);
  }

  /** All of an account's finished runs were seen. Never rejects. */
  async see(accountId: string): Promise<void> {
    const folder = this.#folderOf(accountId);
    for (const name of await namesIn(folder))
      if (name.endsWith(UNSEEN)) await unlink(path.join(folder, name)).catch(() => undefined);
    await this.#count(accountId);
  }

  dispose(): void {
    this.#disposed = true;
    for (const { watch } of this.#unseen.values()) watch.dispose();
    this.#onDidChangeUnseen.dispose();
  }

  async #count(accountId: string): Promise<void> {
    const names = await namesIn(this.#folderOf(accountId));
    const known = this.#unseen.get(accountId);
    const count = names.filter((name) => name.endsWith(UNSEEN)).length;
    if (known === undefined || known.count === count) return;
    known.count = count;
    this.#onDidChangeUnseen.fire(accountId);
  }

  async #prune(folder: string): Promise<void> {
    for (const name of await namesIn(folder)) {
      const file = path.join(folder, name);
      const ageMs = await stat(file).then(
        ({ mtimeMs }) => this.#nowMs() - mtimeMs,
        () => 0,
      );
      if (ageMs > KEPT_MS) await unlink(file).catch(() => undefined);
    }
  }
}

/** Makes an empty file that is not there. @returns whether it was not there, as far as the disk can tell */
async function make(folder: string, name: string): Promise<boolean> {
  try {
    await makeDirectoryDurably(folder);
  } catch {
    return true;
  }
  try {
    const handle = await open(path.join(folder, name), 'wx', 0o600);
    await handle.close();
    await syncDirectory(folder);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EEXIST';
  }
  return true;
}

/** Run ids and statuses are a stranger's texts: a file name is made of neither. */
function nameOf(runId: string, what: string): string {
  return createHash('sha256')
    .update(JSON.stringify([runId, what]))
    .digest('hex')
    .slice(0, 40);
}

function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
