import { open } from 'node:fs/promises';
import { counted } from './rareCases.ts';

/** Some file systems (network shares, FUSE) can't sync a folder. SQLite accepts that, too. */
const NO_SYNC: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

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
    if (!counted('no-sync', NO_SYNC.has((error as NodeJS.ErrnoException).code ?? ''))) throw error;
  } finally {
    await handle.close();
  }
}
