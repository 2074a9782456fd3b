import { createHash } from 'node:crypto';
import { dirname, extname, join } from 'node:path';
import type { FileStamp } from '../base/fileStamp.ts';
import { runThread } from '../base/thread.ts';
import { inspectDataset, isRequestRow, otherForm, type DatasetProblem } from '../datasets/fileKind.ts';
import { RowFile } from '../datasets/rowFile.ts';
import { answerRowOf, beginsObject, parseObject, type AnswerRow, type UnusableLine } from './answerRow.ts';
import type { RowScores } from './scores.ts';

export type { AnswerRow, ComparedSide, Message } from './answerRow.ts';
export { compareScores, type Comparison } from './comparison.ts';
export { labelsOf } from './labels.ts';
export type { RowScores } from './scores.ts';

/** Limits of one file. The recipe's program writes 50 rows. */
export const MAX_ANSWER_ROWS = 2_000;
export const MAX_BYTES = 8 * 1024 * 1024;
/** A longer first line is parsed in a thread: here, that would block the editor. */
const FIRST_BYTES = 256 * 1024;
/** Beside this file, also in the built extension. */
const WORKER = join(dirname(import.meta.filename), `answersWorker${extname(import.meta.filename)}`);
/** Enough for the most rows, even if each character is a value of its own. */
const LIMITS = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 8 } as const;
const LF = 0x0a;
/** Limit of one file. More are unlikely: each program writes its own file. */
const MAX_RUNS = 8;
/** Receipts keep no longer IDs. */
const MAX_RUN_UNITS = 200;

export interface AnswersJob {
  path: string;
  wants: 'answers' | 'kind';
}

/** The content of a file of answers. */
export interface AnswersFile {
  /** The file as it was when it was opened. */
  stamp: FileStamp;
  /** Digest of the bytes that were read, in hexadecimal digits. */
  sha256: string;
  /** Its answers; empty if it has none. */
  rows: readonly AnswerRow[];
  /** Counts lines that aren't answers, by reason. Blank lines, and one that is being written, don't count. */
  leftOut: Readonly<Partial<Record<UnusableLine, number>>>;
  /** Whether it has more than 2,000 lines that aren't blank, or more than 8 MB. */
  isCut: boolean;
  /** Whether the last line is the beginning of an object: a program is still writing it. */
  isBeingWritten: boolean;
  /** The rows as lines of chat that end with the expected answer. The scanner reads their prompts. */
  chat: Uint8Array;
  /** IDs of the runs that its rows name. They are untrusted. */
  runs: readonly string[];
}

/** A file, and the scores of each row, in order. */
export interface ScoredAnswers {
  file: AnswersFile;
  scores: readonly RowScores[];
}

/** Whether a file begins with an answer, and so isn't a dataset. Never rejects. */
export async function isAnswersFile(path: string): Promise<boolean> {
  return (await kindByFirstRow(path)) === 'answers';
}

type FirstRow = 'answers' | 'requests' | 'other-form' | undefined;

/**
 * Says whether a file begins with an answer, a request of a chat API, or a row of another service. Then it isn't a
 * dataset; nothing else decides that. Reads only the first line that isn't blank, a long one in a thread. Never
 * rejects: undefined if the file can't be read.
 */
export async function kindByFirstRow(path: string): Promise<FirstRow> {
  const kind = await kindIn(path, FIRST_BYTES).catch(() => undefined);
  if (kind !== 'too-long') return kind;
  return inThread<FirstRow>({ path, wants: 'kind' }).catch(() => undefined);
}

/**
 * Says the same if the first line ends within `maxBytes`, else `too-long`. Only for the thread: others use
 * `kindByFirstRow`.
 * @throws errors of the file system
 */
export async function kindIn(path: string, maxBytes: number): Promise<FirstRow | 'too-long'> {
  const read = await readBeginning(path, maxBytes);
  if (typeof read === 'string') return undefined;
  const [line] = byteLines(read.bytes);
  // Other lines aren't objects, however long they are.
  if (line !== undefined && !beginsObject(line.text)) return undefined;
  const isCut = line?.isEnded !== true && read.bytes.length >= maxBytes;
  if (isCut) return maxBytes < MAX_BYTES ? 'too-long' : undefined;
  const row = line && parseObject(line.text);
  if (typeof answerRowOf(row, 1) === 'object') return 'answers';
  if (isRequestRow(row)) return 'requests';
  return otherForm(row) === undefined ? undefined : 'other-form';
}

/**
 * Reads and scores a file in a thread, in at most about two seconds.
 * @returns the answers, or why the file can't be read
 * @throws CancelledError as soon as the signal is aborted
 */
export function openAnswers(path: string, signal: AbortSignal): Promise<ScoredAnswers | DatasetProblem> {
  return inThread({ path, wants: 'answers' }, signal);
}

function inThread<Result>(job: AnswersJob, signal?: AbortSignal): Promise<Result> {
  return runThread<never, Result, Error>(WORKER, job, { limits: LIMITS, signal, errorOf: (error) => error });
}

/** Reads a file up to the limits. Only for the thread: others use `openAnswers`. */
export async function readAnswers(path: string): Promise<AnswersFile | DatasetProblem> {
  const read = await readBeginning(path);
  if (typeof read === 'string') return read;
  const { bytes, stamp } = read;
  const rows: AnswerRow[] = [];
  const chat: string[] = [];
  const runs = new Set<string>();
  const leftOut: Partial<Record<UnusableLine, number>> = {};
  let isCut = bytes.length < stamp.sizeBytes;
  let isBeingWritten = false;
  let lines = 0;
  for (const { number, text, isEnded } of byteLines(bytes)) {
    if (++lines > MAX_ANSWER_ROWS) isCut = true;
    if (lines > MAX_ANSWER_ROWS || (isCut && !isEnded)) break;
    const read = parseObject(text);
    const row = answerRowOf(read, number);
    if (typeof row === 'object') {
      rows.push(row);
      chat.push(chatRowOf(read, row));
      const run = read?.['run'];
      if (typeof run === 'string' && run.length <= MAX_RUN_UNITS && runs.size < MAX_RUNS) runs.add(run);
    } else if (!isEnded && row === 'not-json' && /^\uFEFF?\s*\{/.test(text)) isBeingWritten = true;
    else leftOut[row] = (leftOut[row] ?? 0) + 1;
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const bytesOfChat = new TextEncoder().encode(chat.join(''));
  return { stamp, sha256, rows, leftOut, isCut, isBeingWritten, chat: bytesOfChat, runs: [...runs] };
}

/** Returns a line of chat, with the values as they are in the file. */
function chatRowOf(read: ReturnType<typeof parseObject>, { expected }: AnswerRow): string {
  const { messages, expected: content } = read as { messages: unknown[]; expected: unknown };
  const answer = { role: 'assistant', content: Array.isArray(content) ? (content as unknown) : expected };
  try {
    return `${JSON.stringify({ messages: [...messages, answer] })}\n`;
  } catch {
    // Nested too deeply to be written. A line without a prompt is compared with nothing.
    return '{}\n';
  }
}

/** Returns the first bytes of a regular file, or why it can't be read. @throws CheckError if it is replaced meanwhile */
export async function readBeginning(
  path: string,
  maxBytes = MAX_BYTES,
): Promise<{ bytes: Buffer; stamp: FileStamp } | DatasetProblem> {
  const found = await inspectDataset(path, Infinity);
  if (typeof found === 'string') return found;
  const file = await RowFile.open(path);
  try {
    const bytes = Buffer.allocUnsafeSlow(Math.min(file.sizeBytes, maxBytes));
    return { bytes: await file.read(bytes, 0), stamp: file.stamp };
  } finally {
    file.dispose();
  }
}

/** A line that isn't blank. */
export interface Line {
  /** From 1; lines end at LF only. */
  number: number;
  /** Without its LF, but with a CR before that. */
  text: string;
  isEnded: boolean;
}

/** Returns the lines of some bytes. Invalid bytes are replaced. */
export function* byteLines(bytes: Buffer): Generator<Line> {
  for (let number = 1, from = 0; from < bytes.length; number++) {
    const end = bytes.indexOf(LF, from);
    const text = bytes.toString('utf8', from, end === -1 ? bytes.length : end);
    if (/\S/.test(text)) yield { number, text, isEnded: end !== -1 };
    from = end === -1 ? bytes.length : end + 1;
  }
}
