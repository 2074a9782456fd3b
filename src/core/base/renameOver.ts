import { rename } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { counted } from './rareCases.ts';

/**
 * The delays between attempts. Windows can't rename or replace a file while a program, such as a virus scanner,
 * reads it.
 */
const RENAME_WAITS_MS = [5, 10, 20, 50, 100, 200, 400] as const;
const IN_USE: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'EBUSY']);

/**
 * Renames a file or folder. Replaces a file at the target, and waits up to a second while it is in use.
 * @param renameFile for tests: simulates a file that is in use
 */
export async function renameOver(from: string, to: string, renameFile = rename): Promise<void> {
  for (const waitMs of RENAME_WAITS_MS)
    try {
      await renameFile(from, to);
      return;
    } catch (error) {
      if (!counted('file-in-use', IN_USE.has((error as NodeJS.ErrnoException).code ?? ''))) throw error;
      await delay(waitMs);
    }
  await renameFile(from, to);
}
