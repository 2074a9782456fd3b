import { ExpectedError } from './errors.ts';

type DiskProblem = 'disk-full' | 'no-permission' | 'folder-missing' | 'disk';

const PROBLEMS: Readonly<Record<string, DiskProblem>> = {
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
  // A quota of the process, or more than the file system allows in one file.
  EFBIG: 'disk-full',
  EACCES: 'no-permission',
  EPERM: 'no-permission',
  EROFS: 'no-permission',
  ENOENT: 'folder-missing',
  ENOTDIR: 'folder-missing',
};

/** A file could not be written or read: what the file system's error means for the user. */
export class DiskError extends ExpectedError {
  readonly code: DiskProblem;
  /** `submissions`: the journal; `folder`: one that the user chose. */
  readonly place: 'folder' | 'submissions';

  constructor(cause: NodeJS.ErrnoException, place: DiskError['place'] = 'folder') {
    // Node's message has the path.
    super(`the file system failed: ${cause.code ?? 'unknown'}`);
    this.code = PROBLEMS[cause.code ?? ''] ?? 'disk';
    this.place = place;
  }
}

/** Whether an error comes from the file system. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/** Whether an error means that a file or folder does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** An error of the file system as a DiskError, any other as it is. */
export function asDiskError(error: unknown, place: DiskError['place']): unknown {
  return isSystemError(error) ? new DiskError(error, place) : error;
}

/** @throws DiskError in place of the file system's errors, and what else the work throws */
export async function onDisk<T>(work: Promise<T>, place?: DiskError['place']): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ExpectedError || !(error instanceof Error) || !('code' in error)) throw error;
    throw new DiskError(error as NodeJS.ErrnoException, place);
  }
}
