import { link as linkFile, lstat, open, rm, stat } from 'node:fs/promises';
import { ExpectedError } from './errors.ts';
import { renameOver } from './renameOver.ts';

/** `link` of Node, which tests replace to simulate other file systems. */
export type Link = (from: string, to: string) => Promise<void>;

/** Another file has the name already; it is unchanged. */
export class NameTakenError extends ExpectedError {
  readonly code = 'file-exists';

  constructor() {
    super('the name is taken');
  }
}

/**
 * Gives a complete file its final name in the same folder. Unlike `rename`, it never replaces an existing
 * file. After a failure, the target is unchanged. The file may keep its old name, too.
 * @throws NameTakenError, and any error of the file system
 */
export async function nameExclusively(part: string, target: string, link: Link = linkFile): Promise<void> {
  try {
    await link(part, target);
  } catch (error) {
    throwIfTaken(error);
    // Some file systems have no hard links (exFAT, some network shares).
    await renameExclusively(part, target);
  }
}

/** Claims the name by an empty file with the part's time. Then the part replaces it atomically. */
async function renameExclusively(part: string, target: string): Promise<void> {
  try {
    const { atime, mtime } = await stat(part);
    const claim = await open(target, 'wx');
    await claim.utimes(atime, mtime).catch(() => undefined);
    await claim.close();
  } catch (error) {
    throwIfTaken(error);
    throw error;
  }
  try {
    // Another program may have written to the empty file meanwhile.
    if ((await stat(target)).size > 0) throw new NameTakenError();
    await renameOver(part, target);
  } catch (error) {
    if (!(error instanceof NameTakenError)) await rm(target, { force: true }).catch(() => undefined);
    throw error;
  }
}

/**
 * Removes the empty file that a process killed in `renameExclusively` left. It is recognized by its time, which
 * is the part's.
 * @param partMs when the part was last written to, in milliseconds since the epoch
 */
export async function removeClaim(target: string, partMs: number): Promise<void> {
  const found = await lstat(target).catch(() => undefined);
  // A `Date` has whole milliseconds.
  if (found?.isFile() && found.size === 0 && Math.abs(found.mtimeMs - partMs) < 1)
    await rm(target, { force: true }).catch(() => undefined);
}

function throwIfTaken(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new NameTakenError();
}

/** Whether two paths are names of the same file. False where the file system doesn't number its files. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [one, other].map((file) => lstat(file, { bigint: true }).catch(() => undefined)),
  );
  return first !== undefined && first.ino !== 0n && first.ino === second?.ino && first.dev === second.dev;
}
