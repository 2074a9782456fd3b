import { ExpectedError } from '../../core/base/errors.ts';

/** The folder of the extension in which submissions are kept could not be written to, or read. */
export class StorageError extends ExpectedError {
  readonly code: 'storage-full' | 'storage-denied' | 'storage-failed';

  constructor(code: StorageError['code'], cause: Error) {
    super(`the journal of submissions: ${code}`, { cause });
    this.code = code;
  }
}

/** What went wrong with the journal: an error of the file system as one that is expected, any other as it is. */
export function asStorageError(error: unknown): unknown {
  // Only the file system's errors name a system call; those of the network and of datasets have classes of their own.
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error;
  switch (error.code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new StorageError('storage-full', error);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new StorageError('storage-denied', error);
    default:
      return new StorageError('storage-failed', error);
  }
}

/** Works with the journal. @throws StorageError instead of what the file system says, and whatever else the work throws */
export async function usingStorage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asStorageError(error);
  }
}
