import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/**
 * Removes the database of versions up to 0.6, and the remains of damaged ones. Its data is read again. Never
 * rejects.
 */
export async function removeOldStore(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    // On Windows, an older window may have it open: the next start removes it.
    if (/^state\.sqlite($|[-.])/.test(name))
      await rm(path.join(folder, name), { force: true }).catch(() => undefined);
}
