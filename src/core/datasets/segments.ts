import { readSync } from 'node:fs';
import type { ComparedRows, RowComparison } from './comparisonTypes.ts';
import type { PrepareCounts, PrepareError, PrepareJob } from './copyTypes.ts';
import { PROBLEMS, type ProblemCode } from './problems.ts';
import { CheckError, type CheckFailure } from './report.ts';
import { TEXT_NUMBERS, type Repeats, type SameRows } from './sameRows.ts';
import { endOfText, PLACE_NUMBERS, type Scanned, type Scanner, type Counts } from './scanner.ts';
import { MAX_ROW_BYTES } from './scanner/codes.ts';

/** A file is read in segments of 4 MB; the next free worker takes the next one. A row belongs to the segment in which it begins. */
export const SEGMENT_BYTES = 4 * 1024 * 1024;
const LF = 0x0a;

/** Problems located at a message's role. Their detail is that role: it shows which message is meant. */
const LOCATED_AT_ROLE: readonly ProblemCode[] = ['repeated-role', 'tool-order'];

/** The problems of one code in a segment, in order. */
export interface SegmentPlaces {
  code: number;
  /** `PROBLEM_FIELDS` for each: row and line from 0 in the segment, column from 1, offset in the file, length. */
  fields: Float64Array<ArrayBuffer>;
  /** One for each, or none if the code has no details. */
  details: string[];
}

/** Rows that can be duplicates, in order. */
export interface HashedRows {
  /** Two numbers for each. */
  hashes: Uint32Array<ArrayBuffer>;
  /** `TEXT_NUMBERS` for each; undefined once enough are known. */
  prompts: Uint32Array<ArrayBuffer> | undefined;
  /** Offset of each in the file, minus `base`. */
  starts: Uint32Array<ArrayBuffer>;
  base: number;
  /** Index, row and line of each row that doesn't directly follow the previous one; row and line count from 0 in the segment. */
  runs: Uint32Array<ArrayBuffer>;
}

/** The result for the rows that begin in a segment. */
export interface Segment {
  number: number;
  rows: number;
  blankRows: number;
  /** CRs without LF: they end lines of the editor, but not rows. */
  lineBreaks: number;
  characters: number;
  places: SegmentPlaces[];
  hashed: HashedRows[];
}

/** The results of one call of the scanner, valid until the next one. */
export interface ScannedRows {
  scanned: Scanned;
  /** The scanner's memory. Positions are offsets in it. */
  input: Uint8Array;
  /** The offset in the file of the input's first byte. */
  base: number;
}

/** The bytes of a segment. Its rows are in `first..end`; a last row that is too long is cut off at `end`. */
interface SegmentBytes {
  input: Uint8Array;
  first: number;
  end: number;
  /** The offset in the file of the input's first byte. */
  base: number;
  atFileEnd: boolean;
}

/**
 * Reads the rows that begin in a segment of an open file; undefined if none does.
 * @param inputOf returns memory of a size, which keeps what it had
 * @param segmentBytes the bytes of each segment
 * @throws CheckError `changing`
 */
export function readBytes(
  { fd, sizeBytes }: Pick<Job, 'fd' | 'sizeBytes'>,
  number: number,
  inputOf: (bytes: number) => Uint8Array,
  maxRowBytes: number,
  segmentBytes = SEGMENT_BYTES,
): SegmentBytes | undefined {
  const segmentStart = number * segmentBytes;
  const segmentEnd = Math.min(segmentStart + segmentBytes, sizeBytes);
  // The byte before shows whether a row begins with the segment.
  const base = Math.max(segmentStart - 1, 0);
  let input = inputOf(segmentEnd - base);
  fill(input, 0, fd, base);
  const first = number === 0 ? 0 : input.subarray(0, -1).indexOf(LF) + 1;
  if (number > 0 && first === 0) return undefined;
  const lastRow = input.subarray(0, -1).lastIndexOf(LF) + 1;
  let end = input.length;
  // The last row may continue beyond the segment.
  while (base + end < sizeBytes && input[end - 1] !== LF && end - lastRow <= maxRowBytes) {
    const more = Math.min(
      Math.max(end - lastRow, 64 * 1024),
      maxRowBytes + 1 - (end - lastRow),
      sizeBytes - base - end,
    );
    input = inputOf(end + more);
    fill(input, end, fd, base + end);
    const lineEnd = input.subarray(end).indexOf(LF);
    end = lineEnd < 0 ? end + more : end + lineEnd + 1;
  }
  return { input, first, end, base, atFileEnd: base + end === sizeBytes };
}

/**
 * Scans the rows that begin in a segment of an open file. A row that is too long to check ends it.
 * @throws CheckError `changing`
 */
export function* scanSegment(
  scanner: Scanner,
  file: Pick<Job, 'fd' | 'sizeBytes'>,
  number: number,
): Generator<ScannedRows, void, undefined> {
  const read = readBytes(file, number, (bytes) => scanner.input(bytes), MAX_ROW_BYTES);
  if (read === undefined) return;
  const { input, first, end, base, atFileEnd } = read;
  for (let at = first; at < end;) {
    const scanned = scanner.scan(at, end, base + at === 0, atFileEnd);
    yield { scanned, input, base };
    if (scanned.stoppedAt === at && scanned.rows === 0) {
      yield { scanned: scanner.skipRow(at), input, base };
      return;
    }
    at = scanned.stoppedAt;
  }
}

/** Which hashes to return: of rows, and of their prompts and answers. */
export interface KeptHashes {
  rows: boolean;
  prompts: boolean;
}

/**
 * Checks the rows that begin in a segment of an open file.
 * @throws CheckError `changing`
 */
export function readSegment(
  scanner: Scanner,
  file: Pick<Job, 'fd' | 'sizeBytes'>,
  number: number,
  keeps: KeptHashes,
): Segment {
  const collector = new Collector(number, keeps);
  for (const rows of scanSegment(scanner, file, number)) collector.add(rows);
  return collector.end();
}

/** Reads a file's bytes from `position` on into `input`, from `from` to its end. @throws CheckError `changing` */
export function fill(input: Uint8Array, from: number, fd: number, position: number): void {
  for (let at = from; at < input.length;) {
    const read = readSync(fd, input, at, input.length - at, position + at - from);
    if (read === 0) throw new CheckError('changing');
    at += read;
  }
}

/** Collects the results of all calls for one segment, with continuous row and line numbers. */
class Collector {
  readonly #segment: Omit<Segment, 'places'>;
  readonly #keeps: KeptHashes;
  readonly #places = new Map<number, { fields: number[]; details: string[] }>();

  constructor(number: number, keeps: KeptHashes) {
    this.#segment = { number, rows: 0, blankRows: 0, lineBreaks: 0, characters: 0, hashed: [] };
    this.#keeps = keeps;
  }

  add({ scanned, input, base }: ScannedRows): void {
    const segment = this.#segment;
    this.#addPlaces(scanned.places, input, base);
    if (this.#keeps.rows && scanned.rows > scanned.blankRows)
      segment.hashed.push(hashedRows(scanned, segment, base, this.#keeps.prompts));
    segment.rows += scanned.rows;
    segment.blankRows += scanned.blankRows;
    segment.lineBreaks += scanned.lineBreaks;
    segment.characters += scanned.characters;
  }

  #addPlaces(places: Uint32Array, input: Uint8Array, base: number): void {
    const { rows, lineBreaks } = this.#segment;
    for (let index = 0; index < places.length; index += PLACE_NUMBERS) {
      const [code = 0, row = 0, breaks = 0, position = 0, column = 0, length = 1] = places.subarray(
        index,
        index + PLACE_NUMBERS,
      );
      let found = this.#places.get(code);
      if (found === undefined) this.#places.set(code, (found = { fields: [], details: [] }));
      const line = rows + row + lineBreaks + breaks;
      found.fields.push(rows + row, line, column + 1, base + position, length);
      const [name, , problemClass] = PROBLEMS[code] ?? [];
      if (name === undefined || (problemClass !== 'privacy' && !LOCATED_AT_ROLE.includes(name))) continue;
      const text = Buffer.from(input.subarray(position, endOfText(input, position, length))).toString();
      found.details.push(problemClass === 'privacy' ? masked(name, text) : text);
    }
  }

  end(): Segment {
    const places = Array.from(this.#places, ([code, { fields, details }]) => ({
      code,
      fields: Float64Array.from(fields),
      details,
    }));
    return { ...this.#segment, places };
  }
}

/** Returns the rows of one call that can be duplicates. @param base the offset in the file of the input's first byte */
function hashedRows(
  { rows, rowStarts, rowHashes, rowBreaks, promptHashes, answerHashes }: Scanned,
  before: Pick<Segment, 'rows' | 'lineBreaks'>,
  base: number,
  withPrompts: boolean,
): HashedRows {
  const runs: number[] = [];
  const prompts = withPrompts ? new Uint32Array(TEXT_NUMBERS * rows) : undefined;
  let count = 0;
  let next = -1;
  for (let row = 0; row < rows; row++) {
    const one = rowHashes[2 * row] ?? 0;
    const other = rowHashes[2 * row + 1] ?? 0;
    if ((one | other) === 0) continue;
    const line = row + (rowBreaks[row] ?? 0);
    if (line !== next) runs.push(count, before.rows + row, before.rows + before.lineBreaks + line);
    next = line + 1;
    // Compacted in place: the next call overwrites these arrays anyway.
    rowHashes[2 * count] = one;
    rowHashes[2 * count + 1] = other;
    if (prompts !== undefined) {
      const at = TEXT_NUMBERS * count;
      prompts[at] = promptHashes[2 * row] ?? 0;
      prompts[at + 1] = promptHashes[2 * row + 1] ?? 0;
      prompts[at + 2] = answerHashes[2 * row] ?? 0;
      prompts[at + 3] = answerHashes[2 * row + 1] ?? 0;
    }
    rowStarts[count++] = rowStarts[row] ?? 0;
  }
  return {
    base,
    hashes: rowHashes.slice(0, 2 * count),
    prompts: prompts?.slice(0, TEXT_NUMBERS * count),
    starts: rowStarts.slice(0, count),
    runs: Uint32Array.from(runs),
  };
}

/** Shortens a secret so that the user can find it in the file, but nobody can use it. */
export function masked(code: ProblemCode, found: string): string {
  switch (code) {
    case 'private-key':
      return found;
    case 'email-address': {
      const at = found.lastIndexOf('@');
      return `${found.slice(0, 1)}…${found.slice(at, at + 2)}…${found.slice(found.lastIndexOf('.'))}`;
    }
    case 'card-number':
      return `…${found.replace(/\D/g, '').slice(-4)}`;
    default:
      return `${found.slice(0, Math.min(8, Math.floor(found.length / 3)))}…`;
  }
}

/** Indexes of numbers that all threads share: the next segment, whether to stop, and whether enough rows and prompts are hashed. */
export const SHARED = { nextSegment: 0, stopped: 1, hashedEnough: 2, enoughPrompts: 3, length: 4 } as const;

export interface WorkerData {
  scanner: WebAssembly.Module;
}

/** A file to check. All workers get the same job, and each takes the next free segment. */
export interface Job {
  kind: 'check';
  /** A file descriptor, open until every worker has answered. */
  fd: number;
  sizeBytes: number;
  segments: number;
  /** With a mark, the editor shows one character for each invalid byte. */
  hasByteOrderMark: boolean;
  shared: Int32Array<SharedArrayBuffer>;
}

/** Rows to compare, once all segments are known. */
export interface SameRowsJob extends Pick<Job, 'shared'> {
  kind: 'same rows';
  hashes: Uint32Array<ArrayBuffer>;
  /** `TEXT_NUMBERS` for each row. */
  prompts: Uint32Array<ArrayBuffer>;
}

/** A dataset to copy. */
export interface PrepareRequest extends Pick<Job, 'shared'> {
  kind: 'prepare';
  job: PrepareJob;
}

export interface CompareRequest extends Pick<Job, 'shared'> {
  kind: 'compare';
  job: RowComparison;
}

export type Request = Job | SameRowsJob | PrepareRequest | CompareRequest;

/** Why a request failed, as plain data: errors lose their classes between threads. */
export type Failure =
  | { of: 'check'; code: CheckFailure }
  | ({ of: 'prepare' } & Pick<PrepareError, 'code' | 'counts'>)
  | { of: 'disk'; code: string }
  | { of: 'stopped' };

/** Messages from a worker. Each request ends with `done` or `failed`. */
export type Answer =
  | { kind: 'segment'; segment: Segment }
  | { kind: 'progress'; fraction: number }
  | {
      kind: 'done';
      counts?: Counts;
      same?: SameRows;
      repeats?: Repeats;
      prepared?: PrepareCounts;
      compared?: ComparedRows;
    }
  | { kind: 'failed'; failure: Failure };
