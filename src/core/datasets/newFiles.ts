import { createHash, randomBytes } from 'node:crypto';
import { lstat, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import {
  isSameFile,
  nameExclusively,
  NameTakenError,
  removeClaim,
  type Link,
} from '../base/exclusiveName.ts';
import { syncDirectory } from '../base/folders.ts';

/** Host, process, and a random part. */
const PART_NAME = /^\.fine-tuning-([0-9a-f]{8})-(\d{1,10})-[0-9a-f]{16}\.part$/;
/** If so many names are taken, something else is wrong. */
const MAX_NUMBER = 1_000;
/** An hour: a part written later may belong to a running process that we can't see, for example in a container. */
const ABANDONED_MS = 60 * 60_000;

interface Part {
  path: string;
  handle: FileHandle;
}

/** Owns files that are being written beside a dataset. They get their names only when all are complete and synced. */
export class NewFiles {
  readonly #folder: string;
  readonly #mode: number;
  readonly #link: Link | undefined;
  readonly #host = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
  #parts: readonly Part[] = [];
  #syncing: Promise<unknown> | undefined;
  #syncFailure: Error | undefined;
  #cleaning: Promise<void> | undefined;
  /** When ended processes last wrote to their parts. They may have been killed while naming files. */
  #leftAtMs: readonly number[] = [];
  #isDisposed = false;

  /**
   * @param source the dataset, whose folder gets the files
   * @param mode of the dataset: the files get its read permissions
   * @param link replaced in tests, to simulate other file systems
   */
  constructor(source: string, mode: number, link?: Link) {
    this.#folder = path.dirname(source);
    this.#mode = (mode & 0o666) | 0o200;
    this.#link = link;
  }

  /**
   * Creates one more file, empty and open for writing.
   * @throws errors of the file system
   */
  async add(): Promise<FileHandle> {
    await (this.#cleaning ??= this.#removeLeftovers());
    const name = `.fine-tuning-${this.#host}-${process.pid}-${randomBytes(8).toString('hex')}.part`;
    const file = path.join(this.#folder, name);
    const handle = await open(file, 'wx', this.#mode);
    this.#parts = [...this.#parts, { path: file, handle }];
    if (this.#isDisposed) await this.dispose();
    return handle;
  }

  /** Begins to sync what is written so far, while more is written. For large files, this saves most of the wait at the end. */
  beginSync(): void {
    this.#syncing ??= Promise.all(this.#parts.map(({ handle }) => handle.datasync()))
      // The system reports a failure only once, so the last sync of the file may succeed.
      .catch((error: unknown) => (this.#syncFailure ??= error as Error))
      .finally(() => (this.#syncing = undefined));
  }

  /**
   * Syncs, closes and names the files, in the order in which they were added. The names are `{name}.jsonl`, else
   * `{name}-2.jsonl` and so on, with the same number for all. Never replaces a file. If it fails, no file keeps its name.
   * @param names without folder and extension
   * @returns the paths
   * @throws NameTakenError if a thousand numbers are taken; errors of the file system
   */
  async name(names: readonly string[]): Promise<string[]> {
    await this.#syncing;
    if (this.#syncFailure !== undefined) throw this.#syncFailure;
    for (const { handle } of this.#parts) {
      await handle.sync();
      await handle.close();
    }
    for (let number = 1; ; number++) {
      const ending = number === 1 ? '.jsonl' : `-${number}.jsonl`;
      const targets = names.map((name) => path.join(this.#folder, name + ending));
      for (const partMs of this.#leftAtMs)
        await Promise.all(targets.map((target) => removeClaim(target, partMs)));
      const isLast = number >= MAX_NUMBER;
      if (!isLast && (await isAnyTaken(targets))) continue;
      try {
        await this.#nameAll(targets);
        return targets;
      } catch (error) {
        if (isLast || !(error instanceof NameTakenError)) throw error;
      }
    }
  }

  /** Closes and removes the files that have no name yet. Never rejects. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const parts = this.#parts;
    this.#parts = [];
    for (const part of parts) {
      await part.handle.close().catch(() => undefined);
      await rm(part.path, { force: true }).catch(() => undefined);
    }
  }

  async #nameAll(targets: readonly string[]): Promise<void> {
    const named: [part: string, target: string][] = [];
    try {
      for (const [index, part] of this.#parts.entries()) {
        const target = targets[index] ?? '';
        await nameExclusively(part.path, target, this.#link);
        named.push([part.path, target]);
      }
    } catch (error) {
      for (const [part, target] of named) await takeBack(part, target);
      throw error;
    }
    // The files are complete and named. They stay, even if the folder can't be synced.
    await this.dispose();
    await syncDirectory(this.#folder).catch(() => undefined);
  }

  /** Removes parts that ended processes of this machine left an hour or more ago. Never rejects. */
  async #removeLeftovers(): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names) {
      const [, host, pid] = PART_NAME.exec(name) ?? [];
      if (host !== this.#host || isRunning(Number(pid))) continue;
      const part = path.join(this.#folder, name);
      const writtenAtMs = await lstat(part).then(
        ({ mtimeMs }) => mtimeMs,
        () => Infinity,
      );
      if (Date.now() - writtenAtMs < ABANDONED_MS) continue;
      this.#leftAtMs = [...this.#leftAtMs, writtenAtMs];
      await rm(part, { force: true }).catch(() => undefined);
    }
  }
}

async function isAnyTaken(files: readonly string[]): Promise<boolean> {
  const found = await Promise.allSettled(files.map((file) => lstat(file)));
  return found.some(({ status }) => status === 'fulfilled');
}

/** Takes back the name that a file just got, so that it is a part again. */
async function takeBack(part: string, target: string): Promise<void> {
  // With a hard link the part still exists; `rename` would do nothing.
  if (await isSameFile(part, target)) await rm(target, { force: true });
  else await rename(target, part);
}

/** Whether a process of this machine exists. Without permission to signal it, it does. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
