import { ExpectedError } from './errors.ts';

type DiskProblem = 'disk-full' | 'no-permission' | 'folder-missing' | 'name-too-long' | 'disk';

const PROBLEMS: Readonly<Record<string, DiskProblem>> = {
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
  // A process quota or the file system's maximum file size was exceeded.
  EFBIG: 'disk-full',
  EACCES: 'no-permission',
  EPERM: 'no-permission',
  EROFS: 'no-permission',
  ENOENT: 'folder-missing',
  ENOTDIR: 'folder-missing',
  ENAMETOOLONG: 'name-too-long',
};

/** A file could not be read or written; `code` says what that means for the user. */
export class DiskError extends ExpectedError {
  readonly code: DiskProblem;
  /** `submissions`: the journal; `folder`: one that the user chose. */
  readonly place: 'folder' | 'submissions';

  constructor(cause: NodeJS.ErrnoException, place: DiskError['place'] = 'folder') {
    // Node's message contains the path, so it is not used.
    super(`the file system failed: ${cause.code ?? 'unknown'}`);
    this.code = PROBLEMS[cause.code ?? ''] ?? 'disk';
    this.place = place;
  }
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** Converts file system errors to DiskError, and returns any other error unchanged. */
export function asDiskError(error: unknown, place: DiskError['place']): unknown {
  return isSystemError(error) ? new DiskError(error, place) : error;
}

/**
 * Waits for work on files.
 * @throws DiskError in place of a file system error; other errors of the work as they are
 */
export async function onDisk<T>(work: Promise<T>, place?: DiskError['place']): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ExpectedError || !(error instanceof Error) || !('code' in error)) throw error;
    throw new DiskError(error as NodeJS.ErrnoException, place);
  }
}
