import type { FileHandle } from 'node:fs/promises';
import { link as linkFile, open, rename, rm, stat } from 'node:fs/promises';
import { ExpectedError } from '../base/errors.ts';

/** The target exists already; it was left as it is. */
export class FileExistsError extends ExpectedError {
  readonly code = 'file-exists';

  constructor() {
    super('a file of that name exists');
  }
}

/**
 * Gives a whole file its final name in the same folder, like a rename, but never over a file: `rename` would replace it
 * silently. Where it fails, the target is as it was.
 * @param link for file systems that are not there in a test
 * @throws FileExistsError, and what the file system says
 */
export async function nameExclusively(part: string, target: string, link = linkFile): Promise<void> {
  try {
    await link(part, target);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new FileExistsError();
    // File systems without hard links (exFAT, some network shares).
    await renameExclusively(part, target);
  }
}

/** Takes the name with an empty file, which the whole one then replaces in one step. */
async function renameExclusively(part: string, target: string): Promise<void> {
  let place: FileHandle;
  try {
    place = await open(target, 'wx');
  } catch (error) {
    throw codeOf(error) === 'EEXIST' ? new FileExistsError() : error;
  }
  await place.close();
  try {
    // Somebody may have found the empty file and written into it.
    if ((await stat(target)).size > 0) throw new FileExistsError();
    await rename(part, target);
  } catch (error) {
    if (!(error instanceof FileExistsError)) await rm(target, { force: true }).catch(() => undefined);
    throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
