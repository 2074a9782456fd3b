import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { isMissing } from '../base/diskError.ts';
import { ExpectedError } from '../base/errors.ts';
import { stampOf, type FileStamp } from '../base/fileStamp.ts';
import { isAnswersLine, MAX_ROW_UNITS, parseAnswerRow, type AnswerRow, type LeftOut } from './answerRow.ts';

export const MAX_ROWS = 2_000;
export const MAX_BYTES = 32 * 1024 * 1024;
/** Lines that aren't blank, most of which aren't answers: no file of answers has so many. */
export const MAX_LINES = 20_000;
/** Bytes that most first lines have; longer ones are read again, twice as far each time. */
const CHUNK_BYTES = 64 * 1024;
const LF = 0x0a;

/** Why a file can't be read. */
export type AnswersFailure = 'missing' | 'folder' | 'not-a-file' | 'unreadable';

export class AnswersError extends ExpectedError {
  readonly code: AnswersFailure;

  constructor(code: AnswersFailure) {
    super(`the answers could not be read: ${code}`);
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
  cutBy: 'rows' | 'lines' | 'bytes' | undefined;
  /** Whether the last line is the beginning of an object: a program is still writing it. */
  isBeingWritten: boolean;
}

/**
 * Reads a regular file, up to the limits. A large one takes a second: it is for the thread and for tests, see `openAnswers`.
 * @throws AnswersError
 */
export async function readAnswers(path: string): Promise<AnswersFile> {
  const { bytes, stamp } = await readBeginning(path);
  const isWhole = bytes.length >= stamp.sizeBytes;
  const rows: AnswerRow[] = [];
  const leftOut: Partial<Record<LeftOut, number>> = {};
  let cutBy: AnswersFile['cutBy'] = isWhole ? undefined : 'bytes';
  let isBeingWritten = false;
  let lines = 0;
  for (const { number, text, isEnded } of linesOf(bytes)) {
    if (rows.length === MAX_ROWS || ++lines > MAX_LINES) {
      cutBy = rows.length === MAX_ROWS ? 'rows' : 'lines';
      break;
    }
    if (!isEnded && !isWhole) break;
    const row = parseAnswerRow(text, number);
    if (typeof row === 'object') rows.push(row);
    else if (!isEnded && row === 'not-json' && /^\uFEFF?\s*\{/.test(text)) isBeingWritten = true;
    else leftOut[row] = (leftOut[row] ?? 0) + 1;
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { stamp, sha256, rows, leftOut, cutBy, isBeingWritten };
}

/**
 * Whether a file begins with an answer, and so isn't a dataset. Reads only its first line that isn't blank. Never rejects: a file
 * that can't be read has none.
 */
export async function isAnswersFile(path: string): Promise<boolean> {
  try {
    return await withFile(path, async (handle) => isAnswersLine(await firstLine(handle)));
  } catch {
    return false;
  }
}

/** Returns the first line that isn't blank; '' if it ends later than a row may. */
async function firstLine(handle: FileHandle): Promise<string> {
  for (let size = CHUNK_BYTES; size <= MAX_ROW_UNITS; size *= 2) {
    const bytes = await fill(handle, Buffer.allocUnsafeSlow(size), 0);
    const [line] = linesOf(bytes);
    if (line?.isEnded === true || bytes.length < size) return line?.text ?? '';
  }
  return '';
}

/** Returns the first bytes of a regular file, at most 32 MB. @throws AnswersError */
export function readBeginning(path: string): Promise<{ bytes: Buffer; stamp: FileStamp }> {
  return withFile(path, async (handle, stamp) => {
    const bytes = Buffer.allocUnsafeSlow(Math.min(stamp.sizeBytes, MAX_BYTES));
    return { bytes: await fill(handle, bytes, 0), stamp };
  });
}

/** Opens a regular file while it is read. @throws AnswersError, also for errors of the file system in `read` */
async function withFile<T>(
  path: string,
  read: (handle: FileHandle, stamp: FileStamp) => Promise<T>,
): Promise<T> {
  let handle: FileHandle | undefined;
  try {
    // Without waiting for the writer of a pipe. Windows has no such flag, and no such pipes.
    handle = await open(path, constants.O_RDONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0));
    const found = await handle.stat({ bigint: true });
    if (!found.isFile()) throw new AnswersError(found.isDirectory() ? 'folder' : 'not-a-file');
    return await read(handle, stampOf(found));
  } catch (error) {
    if (error instanceof AnswersError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    // On Windows a folder can't be opened.
    if (code === 'EISDIR') throw new AnswersError('folder');
    throw new AnswersError(isMissing(error) ? 'missing' : 'unreadable');
  } finally {
    await handle?.close();
  }
}

/** Fills a buffer, up to the end of the file. */
async function fill(handle: FileHandle, buffer: Buffer, position: number): Promise<Buffer> {
  let filled = 0;
  while (filled < buffer.length) {
    const left = buffer.length - filled;
    const { bytesRead } = await handle.read(buffer, filled, left, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** A line that isn't blank. */
export interface Line {
  /** From 1; lines end at LF only. */
  number: number;
  /** Without its LF, but with a CR before that. */
  text: string;
  isEnded: boolean;
}

/** Returns the lines of some bytes, of which invalid ones are replaced. */
export function* linesOf(bytes: Buffer): Generator<Line> {
  for (let number = 1, from = 0; from < bytes.length; number++) {
    const end = bytes.indexOf(LF, from);
    const text = bytes.toString('utf8', from, end === -1 ? bytes.length : end);
    if (/\S/.test(text)) yield { number, text, isEnded: end !== -1 };
    from = end === -1 ? bytes.length : end + 1;
  }
}
