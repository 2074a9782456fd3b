import { DiskError, isSystemError } from '../../core/base/diskError.ts';

/** An error of the file system as a `DiskError` of the journal of submissions, any other as it is. */
export function asStorageError(error: unknown): unknown {
  return isSystemError(error) ? new DiskError(error, 'submissions') : error;
}

/** Works with the journal. @throws DiskError in place of the file system's errors, and what else the work throws */
export async function usingStorage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStorageError(error);
  }
}
