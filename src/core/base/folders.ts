import { mkdir, open, stat } from 'node:fs/promises';
import path from 'node:path';
import { isMissing } from './diskError.ts';

/** Some file systems (network shares, FUSE) can't sync a folder. SQLite accepts that, too. */
const NO_SYNC: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** `mkdir` of Node, which tests replace. */
type MakeFolder = (
  folder: string,
  options: { recursive?: boolean; mode: number },
) => Promise<string | undefined>;

/**
 * Creates a folder and its missing parents.
 * @returns the first folder that was created, if any
 * @throws errors of the file system: EROFS on a read-only disk, where a recursive `mkdir` says ENOENT
 */
export async function makeFolder(
  folder: string,
  mode = 0o777,
  make: MakeFolder = mkdir,
): Promise<string | undefined> {
  const makeAll = () => make(folder, { recursive: true, mode });
  try {
    return await makeAll();
  } catch (error) {
    if (!isMissing(error)) throw error;
    // Creating the first missing folder alone says what prevents it.
    const first = await firstMissing(folder);
    if (first === undefined) throw error;
    await make(first, { mode });
    await makeAll();
    return first;
  }
}

/** Undefined if not even the root exists, such as a drive. */
async function firstMissing(folder: string): Promise<string | undefined> {
  const parent = path.dirname(folder);
  if (parent === folder) return undefined;
  const isThere = await stat(parent).then(
    () => true,
    () => false,
  );
  return isThere ? folder : firstMissing(parent);
}

/**
 * Makes renames and new names in a folder durable, as far as the file system can; not on Windows, which cannot
 * open a folder. @throws file system errors, for example EIO and ENOSPC
 */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!NO_SYNC.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    await handle.close();
  }
}
