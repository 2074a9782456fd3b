import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { DiskError, isSystemError } from '../base/diskError.ts';
import { ExpectedError, throwIfCancelled } from '../base/errors.ts';
import { markOfTheWeb } from '../base/markOfTheWeb.ts';
import { renameOver } from '../base/renameOver.ts';
import { readThrough, type Archive } from './archive/bytes.ts';
import { chooseAdapter, readContents } from './archive/contents.ts';
import { isUnpacked, safeParts } from './archive/entryNames.ts';
import { openArchive } from './archive/openArchive.ts';
import { BrokenArchiveError, NotAnAdapterError, printable } from './problems.ts';
import type { Progress } from './report.ts';
import { readSafetensorsHeader } from './safetensors.ts';

/** `unread`: an archive or safetensors file that couldn't be verified. `unknown`: another kind of file. */
export type VerifiedKind = 'zip' | 'gzip' | 'tar' | 'safetensors' | 'unread' | 'unknown';

/**
 * Verifies that a file is complete by its content, in one pass. ZIP: each CRC-32, and that the headers agree.
 * gzip: CRC-32 and length. tar: checksums and the end. safetensors: the header and the lengths. An
 * archive that is unsafe, encrypted or too large isn't broken: it is `unread`, and inspecting it shows why.
 * @throws BrokenArchiveError, CancelledError, and errors of the file system
 */
export async function verifyArchive(
  file: string,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<VerifiedKind> {
  let archive: Archive | undefined;
  try {
    archive = await openArchive(file, signal);
    for await (const member of archive.members()) {
      if (archive.container === 'zip') await readThrough(member.open());
      else if (archive.container === 'safetensors')
        await readSafetensorsHeader(member.open(), member.sizeBytes);
    }
  } catch (error) {
    if (!(error instanceof NotAnAdapterError) || error.verdict.code === 'broken') throw error;
    if (error instanceof BrokenArchiveError) return 'unread';
    // A gzip file may be complete without containing a tar.
    if (archive === undefined) return 'unknown';
  } finally {
    await archive?.close();
  }
  const { container } = archive;
  return container === 'tar.gz' ? 'gzip' : container === 'folder' ? 'unknown' : container;
}

export interface ExtractOptions {
  signal?: AbortSignal | undefined;
  onProgress?: (progress: Progress) => void;
}

/** Thrown if a file or folder with the target's name exists. It stays unchanged. */
export class FolderExistsError extends ExpectedError {
  readonly code = 'folder-exists';

  constructor() {
    super('the folder exists');
  }
}

/** Unpacking never takes this long, so the process must have died. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;

/**
 * Unpacks what an adapter needs into a new folder, which appears complete or not at all.
 * @returns the printable names of the files that were left out
 * @throws FolderExistsError, BrokenArchiveError, NotAnAdapterError, DiskError, CancelledError
 */
export async function extractAdapter(
  file: string,
  folder: string,
  { signal, onProgress }: ExtractOptions = {},
): Promise<string[]> {
  const prefix = `.${path.basename(folder).slice(0, 100)}.`;
  const part = path.join(path.dirname(folder), `${prefix}${randomUUID()}.part`);
  try {
    const archive = await openArchive(file, signal);
    try {
      await mkdir(path.dirname(folder), { recursive: true });
      await removeAbandoned(path.dirname(folder), prefix);
      await mkdir(part, { mode: 0o755 });
      const leftOut = await unpack(archive, part, onProgress);
      throwIfCancelled(signal);
      await nameFolder(part, folder);
      return leftOut;
    } finally {
      await archive.close();
    }
  } catch (error) {
    throw isSystemError(error) ? new DiskError(error) : error;
  } finally {
    await rm(part, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Claims the name first, so that nothing existing is replaced. */
async function nameFolder(part: string, folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? new FolderExistsError() : error;
  }
  // Windows can't rename a folder over another one, not even an empty one.
  if (process.platform === 'win32') await rmdir(folder);
  try {
    await renameOver(part, folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another program created or filled the folder meanwhile.
    if (code === 'ENOTEMPTY' || code === 'EEXIST') throw new FolderExistsError();
    await rmdir(folder).catch(() => undefined);
    throw error;
  }
}

async function unpack(
  archive: Archive,
  folder: string,
  onProgress: ExtractOptions['onProgress'],
): Promise<string[]> {
  // Check everything first, so that an unsafe archive or a non-adapter never creates a file.
  const contents = await readContents(archive);
  const weights = chooseAdapter(contents)?.weights;
  if (weights === undefined) throw new NotAnAdapterError({ code: 'no-adapter' });
  if (!isUnpacked(weights)) throw new BrokenArchiveError('name', weights);
  const totalBytes = contents.entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const leftOut: string[] = [];
  let doneBytes = 0;
  for await (const member of archive.members()) {
    if (!isUnpacked(member.name)) {
      leftOut.push(printable(member.name));
      doneBytes += member.sizeBytes;
      continue;
    }
    // The names were checked when read; checking again ensures that only safe ones reach the disk.
    const file = path.join(folder, ...safeParts(member.name));
    await mkdir(path.dirname(file), { recursive: true });
    const handle = await open(file, 'wx', 0o644);
    try {
      for await (const piece of member.open()) {
        await handle.writeFile(piece);
        doneBytes += piece.length;
        onProgress?.({ doneBytes, totalBytes });
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await markOfTheWeb(file);
  }
  return leftOut;
}

/** Removes parts that dead processes left at least a day ago. Never throws. */
async function removeAbandoned(parent: string, prefix: string): Promise<void> {
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(prefix) || !/^[0-9a-f-]{36}\.part$/.test(name.slice(prefix.length))) continue;
    const part = path.join(parent, name);
    // A part that can't be removed does no harm.
    const madeAtMs = (await lstat(part).catch(() => undefined))?.mtimeMs ?? Infinity;
    if (Date.now() - madeAtMs > ABANDONED_MS) await rm(part, { recursive: true }).catch(() => undefined);
  }
}
