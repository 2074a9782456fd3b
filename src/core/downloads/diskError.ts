import { ExpectedError } from '../base/errors.ts';

/** The disk did not take the file. */
export class DiskError extends ExpectedError {
  readonly code: 'disk-full' | 'no-permission' | 'folder-missing' | 'disk';

  constructor(cause: NodeJS.ErrnoException) {
    super(`writing the download failed: ${cause.code ?? 'unknown'}`);
    this.code = codeOf(cause.code);
  }
}

function codeOf(code: string | undefined): DiskError['code'] {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
    // A quota of the process, or more than the file system lets one file hold.
    case 'EFBIG':
      return 'disk-full';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'no-permission';
    case 'ENOENT':
    case 'ENOTDIR':
      return 'folder-missing';
    default:
      return 'disk';
  }
}

/** Names what the file system says. @throws DiskError, and expected errors as they are */
export async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ExpectedError || !(error instanceof Error) || !('code' in error)) throw error;
    throw new DiskError(error as NodeJS.ErrnoException);
  }
}
