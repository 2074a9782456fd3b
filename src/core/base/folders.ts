import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { isMissing } from './diskError.ts';

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
