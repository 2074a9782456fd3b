// How a version is stored: as a file or, without hard links, as a folder with one file, `record`. A version gets
// its name only when it is complete, and never replaces another one.
import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, mkdir, readFile, rename, rm, truncate } from 'node:fs/promises';
import path from 'node:path';
import { isMissing } from '../base/diskError.ts';
import { isSameFile, type Link } from '../base/exclusiveName.ts';
import { syncDirectory } from '../base/folders.ts';
import { renameOver } from '../base/renameOver.ts';
import { writeNewFile } from './durableFile.ts';

/** For tests: called after each step of writing a version, and after each version that was emptied. */
export type At = (point: 'temporary' | 'linked' | 'synced' | 'emptied') => Promise<void>;

export const MAX_VERSION_BYTES = 1024 * 1024;
const INSIDE = 'record';
/** Errors of `link` that say nothing about hard links. Any other one, except EEXIST, may mean that there are none. */
const DISK_ERRORS: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'ENOENT']);

/**
 * Writes a version, which is durable when this resolves.
 * @returns false if the name exists
 * @throws file system errors, after which the version may exist
 */
export async function writeVersion(file: string, text: string, link: Link, at: At): Promise<boolean> {
  const temporary = temporaryOf(file);
  try {
    await writeNewFile(temporary, text);
    await at('temporary');
    if (!(await nameVersion(temporary, file, text, link))) return false;
    await at('linked');
    await syncDirectory(path.dirname(file));
  } finally {
    await rm(temporary, { force: true, recursive: true }).catch(() => undefined);
  }
  await at('synced');
  return true;
}

/** Returns a version's text: '' if emptied, undefined if it can't be a record. @throws file system errors */
export async function readVersion(file: string): Promise<string | undefined> {
  const content = await contentOf(file);
  if (content === undefined || content.size > MAX_VERSION_BYTES) return undefined;
  const bytes = await readFile(content.file);
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

/** Removes the text of a version and keeps its name. @throws file system errors */
export async function emptyVersion(file: string): Promise<void> {
  const content = await contentOf(file);
  if (content !== undefined) await truncate(content.file, 0);
}

/** Removes the temporary of a killed window. @throws file system errors */
export async function removeTemporary(file: string): Promise<void> {
  // That window may only have been suspended. Renaming first keeps it from naming a folder without a record.
  const aside = temporaryOf(file);
  await rename(file, aside);
  await rm(aside, { force: true, recursive: true });
}

/** Undefined if nothing has the name. @throws other file system errors */
export async function statsOf(file: string): Promise<Stats | undefined> {
  try {
    return await lstat(file);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function temporaryOf(file: string): string {
  return `${file}.${randomUUID()}.tmp`;
}

/** Returns the file with a version's content; undefined if there is none. Opens nothing: a named pipe would block. */
async function contentOf(version: string): Promise<{ file: string; size: number } | undefined> {
  for (const file of [version, path.join(version, INSIDE)]) {
    const stats = await statsOf(file);
    if (stats?.isFile()) return { file, size: stats.size };
    if (!stats?.isDirectory()) return undefined;
  }
  return undefined;
}

/** Gives a complete file its name. @returns false if the name exists */
async function nameVersion(temporary: string, file: string, text: string, link: Link): Promise<boolean> {
  try {
    await link(temporary, file);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // NFS repeats a request whose answer was lost, and then finds its own link.
    if (code === 'EEXIST') return isSameFile(temporary, file);
    if (DISK_ERRORS.has(code)) throw error;
  }
  return renameFolder(temporary, file, text);
}

/** Names a version as a folder: renaming a folder never replaces a file, or a folder that isn't empty. */
async function renameFolder(temporary: string, file: string, text: string): Promise<boolean> {
  await rm(temporary);
  await mkdir(temporary, { mode: 0o700 });
  await writeNewFile(path.join(temporary, INSIDE), text);
  await syncDirectory(temporary);
  let isTaken = false;
  await renameOver(temporary, file, async (from, to) => {
    try {
      await rename(from, to);
    } catch (error) {
      // Systems differ in the error for a name that exists. On Windows it is the one for a file in use.
      isTaken = (await statsOf(file)) !== undefined;
      if (!isTaken) throw error;
    }
  });
  return !isTaken;
}
