import { ExpectedError } from '../base/errors.ts';
import { isBusy, primaryCodeOf } from './lease.ts';

/** SQLite result codes. */
const READONLY = 8;
const CORRUPT = 11;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;
/** Reported by SQLite or by us: the path leads to another file now. */
export const MOVED = 1032;

/**
 * Why this window cannot share state with others. `newer`: a later version of the extension excluded this one;
 * `busy`: another process held the lock for seconds.
 */
export type StateProblem =
  | 'module-missing'
  | 'no-locks'
  | 'read-only'
  | 'newer'
  | 'corrupt'
  | 'busy'
  | 'failed';

/** There is no usable store, so windows cannot coordinate. */
export class StateUnavailableError extends ExpectedError {
  readonly code = 'state-unavailable';
  readonly problem: StateProblem;

  constructor(problem: StateProblem, cause?: unknown) {
    super(`state.sqlite: ${problem}`, { cause });
    this.problem = problem;
  }
}

/** Returns what an error of opening the file means. */
export function problemOf(error: unknown): StateUnavailableError {
  if (error instanceof StateUnavailableError) return error;
  if (isBusy(error)) return new StateUnavailableError('no-locks', error);
  if (isDamaged(error)) return new StateUnavailableError('corrupt', error);
  const { code } = error as NodeJS.ErrnoException;
  const isReadOnly = [READONLY, CANNOT_OPEN].includes(primaryCodeOf(error) ?? 0);
  if (isReadOnly || code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
    return new StateUnavailableError('read-only', error);
  return new StateUnavailableError('failed', error);
}

/** Whether the file is no database, or a broken one. */
export function isDamaged(error: unknown): boolean {
  return [CORRUPT, NOT_A_DATABASE].includes(primaryCodeOf(error) ?? 0);
}

export function isOfFile(error: unknown): boolean {
  return isDamaged(error) || (error as { errcode?: unknown }).errcode === MOVED;
}
