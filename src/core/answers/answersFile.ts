import { ExpectedError } from '../base/errors.ts';
import type { FileStamp } from '../base/fileStamp.ts';
import type { AnswerRow, LeftOut } from './answerRow.ts';

export const MAX_ROWS = 2_000;
export const MAX_BYTES = 32 * 1024 * 1024;

/** Why a file can't be read. */
export type AnswersFailure = 'missing' | 'folder' | 'not-a-file' | 'unreadable';

export class AnswersError extends ExpectedError {
  readonly code: AnswersFailure;

  constructor(code: AnswersFailure) {
    super(`the answers can't be read: ${code}`);
    this.code = code;
  }
}

/** What a file says besides its rows. */
export interface AnswersFile {
  /** When it was opened. */
  stamp: FileStamp;
  /** Of the bytes that were read, in hexadecimal digits: of the complete file if that has at most 32 MB. Votes are bound to it. */
  sha256: string;
  /** Without those that were left out. None: the file has no answers. */
  rows: readonly AnswerRow[];
  /** Lines that aren't answers, of those that were read. Blank lines and one that is being written don't count. */
  leftOut: Readonly<Partial<Record<LeftOut, number>>>;
  /** Which limit was reached, so that not all rows are shown. */
  cutBy: 'rows' | 'bytes' | undefined;
  /** Whether the last line is part of an answer without a line end: a program is still writing it. */
  isBeingWritten: boolean;
}

/**
 * Reads a regular file, up to the limits. Blocks for long: it is for the thread and for tests, see `openAnswers`.
 * @throws AnswersError
 */
export function readAnswers(path: string): Promise<AnswersFile> {
  throw new Error(`not implemented ${path}`);
}

/**
 * Whether a file begins with an answer, and so isn't a dataset. Reads only its first line. Never rejects: a file that can't be read
 * has none.
 */
export function isAnswersFile(path: string): Promise<boolean> {
  throw new Error(`not implemented ${path}`);
}
