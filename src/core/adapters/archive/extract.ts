import { mkdir, open, rename, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectoryDurably, syncDirectory } from '../../storage/durableFile.ts';
import { DiskError, isSystemError } from '../../base/diskError.ts';
import { ExpectedError, throwIfCancelled } from '../../base/errors.ts';
import type { Archive, Member } from './archive.ts';
import { chooseAdapter, readContents } from './contents.ts';
import { kindOf } from './entryKind.ts';
import { BrokenArchiveError } from '../faults.ts';
import { isForeign, openArchive } from './openArchive.ts';
import { partOf, removeLeftovers } from './leftovers.ts';
import { NotAnAdapterError } from '../measure/measure.ts';
import { printable } from '../printable.ts';
import type { Progress } from '../report.ts';
import { safeParts } from './entryNames.ts';

export interface ExtractOptions {
  signal?: AbortSignal | undefined;
  onProgress?: (progress: Progress) => void;
}

/** What stands in the folder now. */
export interface Extracted {
  /** Where `adapter_config.json` and the weights are: the folder, or one below it. */
  adapterFolder: string;
  files: number;
  sizeBytes: number;
  /** Pickle files, which were left out. Printable, at most 10. */
  leftOut: readonly string[];
}

/** Something of that name exists already; it was left as it is. */
export class FolderExistsError extends ExpectedError {
  readonly code = 'folder-exists';

  constructor() {
    super('the folder exists');
  }
}

const MAX_LEFT_OUT = 10;

/**
 * Unpacks an archive into a new folder, which appears whole or not at all. Pickle files are left out.
 * @throws FolderExistsError, BrokenArchiveError, NotAnAdapterError, DiskError, CancelledError; none leaves anything behind
 */
export async function extractAdapter(
  file: string,
  folder: string,
  { signal, onProgress }: ExtractOptions = {},
): Promise<Extracted> {
  const part = partOf(folder);
  try {
    const archive = await openArchive(file, signal);
    try {
      await makeDirectoryDurably(path.dirname(folder));
      await removeLeftovers(folder);
      await mkdir(part, { mode: 0o755 });
      const unpacked = await new Unpacking(part, archive, signal, onProgress).run();
      throwIfCancelled(signal);
      await nameFolder(part, folder);
      await syncDirectory(path.dirname(folder)).catch(() => undefined);
      const { root, ...rest } = unpacked;
      return { adapterFolder: path.join(folder, ...root.split('/')), ...rest };
    } finally {
      await archive.close();
    }
  } catch (error) {
    throw expected(error);
  } finally {
    await rm(part, { recursive: true, force: true }).catch(() => undefined);
  }
}

function expected(error: unknown): unknown {
  if (isForeign(error)) return new NotAnAdapterError({ code: 'not-an-archive' });
  return isSystemError(error) ? new DiskError(error) : error;
}

/** Takes the name first, so that nothing that is there is replaced. */
async function nameFolder(part: string, folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? new FolderExistsError() : error;
  }
  // A folder cannot be renamed over another one there, not even an empty one.
  if (process.platform === 'win32') await rmdir(folder);
  try {
    await rename(part, folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Somebody wrote into it meanwhile.
    if (code === 'ENOTEMPTY' || code === 'EEXIST') throw new FolderExistsError();
    await rmdir(folder).catch(() => undefined);
    throw error;
  }
}

class Unpacking {
  readonly #folder: string;
  readonly #archive: Archive;
  readonly #signal: AbortSignal | undefined;
  readonly #onProgress: ExtractOptions['onProgress'];
  readonly #folders = new Set<string>();
  readonly #leftOut: string[] = [];
  #files = 0;
  #doneBytes = 0;
  #totalBytes = 0;

  constructor(
    folder: string,
    archive: Archive,
    signal: AbortSignal | undefined,
    onProgress: ExtractOptions['onProgress'],
  ) {
    this.#folder = folder;
    this.#archive = archive;
    this.#signal = signal;
    this.#onProgress = onProgress;
  }

  async run(): Promise<Omit<Extracted, 'adapterFolder'> & { root: string }> {
    // Everything is looked at before anything is written: what is unsafe or no adapter makes no file.
    const contents = await readContents(this.#archive, this.#signal);
    const choice = chooseAdapter(contents);
    if (choice === undefined || choice.weights.length === 0)
      throw new NotAnAdapterError({ code: 'no-adapter' });
    this.#totalBytes = contents.entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    for await (const member of this.#archive.members()) {
      if (kindOf(member.name) === 'pickle') {
        if (this.#leftOut.length < MAX_LEFT_OUT) this.#leftOut.push(printable(member.name));
        this.#doneBytes += member.sizeBytes;
      } else await this.#write(member);
    }
    for (const made of this.#folders) await syncDirectory(made).catch(() => undefined);
    await syncDirectory(this.#folder).catch(() => undefined);
    const sizeBytes = this.#doneBytes;
    return { root: choice.root, files: this.#files, sizeBytes, leftOut: this.#leftOut };
  }

  async #write(member: Member): Promise<void> {
    // The names were made safe when they were read; no other comes to a disk.
    const parts = safeParts(member.name);
    const parent = path.join(this.#folder, ...parts.slice(0, -1));
    if (parts.length > 1 && !this.#folders.has(parent)) {
      await mkdir(parent, { recursive: true });
      this.#folders.add(parent);
    }
    const handle = await open(path.join(this.#folder, ...parts), 'wx', 0o644);
    try {
      let left = member.sizeBytes;
      for await (const piece of member.open()) {
        throwIfCancelled(this.#signal);
        left -= piece.length;
        await handle.writeFile(piece);
        this.#doneBytes += piece.length;
        this.#onProgress?.({ doneBytes: this.#doneBytes, totalBytes: this.#totalBytes });
      }
      if (left !== 0) throw new BrokenArchiveError('truncated', member.name);
      await handle.sync();
    } finally {
      await handle.close();
    }
    this.#files++;
  }
}
