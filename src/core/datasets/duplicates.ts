import { readSync } from 'node:fs';
import { CheckError } from './report.ts';
import { SEGMENT_BYTES, type HashedRows } from './segments.ts';

/** The rows of one segment that can be duplicates, and how its rows are numbered in the file. */
export interface HashedSegment extends HashedRows {
  number: number;
  /** Row and line of the segment's first row, from 0, and where it begins in the file. */
  firstRow: number;
  firstLine: number;
  firstOffset: number;
  /** Lines that end inside rows: then the lines have to be counted. */
  lineBreaks: number;
}

/** How many rows are identical to an earlier one, and the places of the first of them. */
export interface Duplicates {
  total: number;
  /** `PROBLEM_FIELDS` for each. */
  places: Float64Array;
  /** For each place, the number of the row that is the same. */
  details: string[];
  /** The last row that was compared, if there are more; undefined if all were. */
  lastRow: number | undefined;
}

/** How many rows are compared; with more, memory would not be bounded. */
export const MAX_HASHED_ROWS = 8_000_000;
/** Comparisons between two checks for cancellation. */
const STEP = 4096;

/**
 * Finds identical rows. Rows with the same hash are compared byte for byte.
 * @param goesOn asked now and then; false ends the search
 */
export function findDuplicates(
  segments: readonly HashedSegment[],
  file: FileRows,
  locatedLimit: number,
  goesOn: () => boolean,
  maxRows = MAX_HASHED_ROWS,
): Duplicates {
  const row = new RowCursor(segments);
  const other = new RowCursor(segments);
  const count = Math.min(row.length, maxRows);
  // Open addressing, at most half full: the place of a row and 1, or 0.
  const bits = Math.ceil(Math.log2(Math.max(count, 1) * 2));
  const table = new Int32Array(2 ** bits);
  const places: number[] = [];
  const details: string[] = [];
  let total = 0;
  let probes = 0;
  let isStopped = false;
  for (let place = 0; place < count && !isStopped; place++) {
    row.seek(place);
    let slot = Math.imul(row.hash, 0x9e3779b1) >>> (32 - bits);
    for (; ; slot = (slot + 1) & (table.length - 1)) {
      // Here and not at each row: a file can be made so that all its rows have one hash.
      if (probes++ % STEP === 0 && !goesOn()) isStopped = true;
      if (isStopped) break;
      const known = table[slot] ?? 0;
      if (known === 0) {
        table[slot] = place + 1;
        break;
      }
      other.seek(known - 1);
      if (other.hash !== row.hash || !file.areSame(other.offset, row.offset)) continue;
      total++;
      if (details.length < locatedLimit) {
        places.push(row.number, row.lineIn(file), 1, row.offset, 1);
        details.push(String(other.number));
      }
      break;
    }
  }
  let lastRow: number | undefined;
  if (count < row.length) {
    row.seek(count - 1);
    lastRow = row.number;
  }
  return { total, places: Float64Array.from(places), details, lastRow };
}

/** One row of those that can be duplicates, found by its place among all of them. */
class RowCursor {
  readonly #segments: readonly HashedSegment[];
  /** For each segment, the place of its first row. */
  readonly #firsts: number[] = [];
  readonly length: number;
  hash = 0;
  #segment: HashedSegment | undefined;
  /** Where the rows of the segment begin and end, and the row's index in it. */
  #first = 0;
  #end = 0;
  #index = 0;
  /** Line ends counted in a segment, up to an offset. */
  #counted: { segment: HashedSegment; offset: number; breaks: number } | undefined;

  constructor(segments: readonly HashedSegment[]) {
    this.#segments = segments;
    let length = 0;
    for (const { starts } of segments) {
      this.#firsts.push(length);
      length += starts.length;
    }
    this.length = length;
  }

  seek(place: number): void {
    if (place < this.#first || place >= this.#end) this.#seekSegment(place);
    this.#index = place - this.#first;
    this.hash = this.#segment?.hashes[this.#index] ?? 0;
  }

  #seekSegment(place: number): void {
    let low = 0;
    let high = this.#segments.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#firsts[middle] ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    this.#segment = this.#segments[low];
    this.#first = this.#firsts[low] ?? 0;
    this.#end = this.#firsts[low + 1] ?? this.length;
  }

  get #known(): HashedSegment {
    if (this.#segment === undefined) throw new RangeError('no such row');
    return this.#segment;
  }

  /** Byte offset in the file. */
  get offset(): number {
    const { number, starts } = this.#known;
    return number * SEGMENT_BYTES + (starts[this.#index] ?? 0);
  }

  /** Its number in the file, from 1. */
  get number(): number {
    const { firstRow, rows } = this.#known;
    return firstRow + (rows?.[this.#index] ?? this.#index) + 1;
  }

  /** The editor's line where it begins, from 1; asked for rows in the order of the file. */
  lineIn(file: FileRows): number {
    const segment = this.#known;
    const { firstLine, firstRow, firstOffset, lineBreaks } = segment;
    const line = firstLine + this.number - firstRow;
    if (lineBreaks === 0) return line;
    if (this.#counted?.segment !== segment) this.#counted = { segment, offset: firstOffset, breaks: 0 };
    this.#counted.breaks += file.countLoneReturns(this.#counted.offset, this.offset);
    this.#counted.offset = this.offset;
    return line + this.#counted.breaks;
  }
}

const LF = 0x0a;
const CR = 0x0d;
/** What is read at once where rows follow each other. */
const WINDOW_BYTES = 256 * 1024;
/** What is read at once of a row somewhere else. */
const ROW_BYTES = 8 * 1024;
/** Up to so many bytes a loop is faster than a call of Node's. */
const CALL_BYTES = 64;

/** Rows of one open file, read to be compared. */
export class FileRows {
  readonly #fd: number;
  readonly #sizeBytes: number;
  readonly #first = new RowBytes();
  readonly #second = new RowBytes();

  constructor(fd: number, sizeBytes: number) {
    this.#fd = fd;
    this.#sizeBytes = sizeBytes;
  }

  /** True if the rows at two offsets hold the same bytes, line ends aside. */
  areSame(one: number, other: number): boolean {
    for (let done = 0; ;) {
      const first = this.#first.at(this.#fd, this.#sizeBytes, one + done);
      const second = this.#second.at(this.#fd, this.#sizeBytes, other + done);
      const length = Math.min(first.length, second.length);
      if (!areEqual(first, second, length)) return false;
      const isFirstRead = first.isRowEnd && first.length === length;
      const isSecondRead = second.isRowEnd && second.length === length;
      if (isFirstRead && isSecondRead) return true;
      // One has ended, the other has more.
      if ((isFirstRead && second.length > length) || (isSecondRead && first.length > length)) return false;
      done += length;
    }
  }

  /** The number of CRs without LF in a part of the file that ends where a row begins. */
  countLoneReturns(from: number, to: number): number {
    const bytes = Buffer.alloc(Math.min(WINDOW_BYTES, to - from));
    let count = 0;
    let wasReturn = false;
    for (let at = from; at < to;) {
      const read = readSync(this.#fd, bytes, 0, Math.min(bytes.length, to - at), at);
      if (read === 0) throw new CheckError('changing');
      for (const byte of bytes.subarray(0, read)) {
        if (wasReturn && byte !== LF) count++;
        wasReturn = byte === CR;
      }
      at += read;
    }
    return count;
  }
}

/** A part of a row. */
interface Piece {
  bytes: Buffer;
  /** Where it begins in `bytes`, and how many there are. */
  from: number;
  length: number;
  /** Whether the row ends with it. */
  isRowEnd: boolean;
}

/** Whether two pieces begin with the same bytes. Short ones are compared sooner than Node would be called. */
function areEqual(one: Piece, other: Piece, length: number): boolean {
  if (length > CALL_BYTES) {
    const { bytes, from } = one;
    return bytes.compare(other.bytes, other.from, other.from + length, from, from + length) === 0;
  }
  for (let index = 0; index < length; index++)
    if (one.bytes[one.from + index] !== other.bytes[other.from + index]) return false;
  return true;
}

/** The bytes of one row, piece by piece, in a window that moves with those who ask in order and jumps cheaply with the others. */
class RowBytes {
  readonly #bytes = Buffer.allocUnsafeSlow(WINDOW_BYTES);
  readonly #piece: Piece = { bytes: this.#bytes, from: 0, length: 0, isRowEnd: false };
  #start = 0;
  #length = 0;

  /**
   * What the window has of the row from an offset on, without its line end; empty only where the row ends. The next
   * call overwrites it.
   * @throws CheckError `changing`
   */
  at(fd: number, sizeBytes: number, offset: number): Piece {
    const end = this.#start + this.#length;
    if (offset >= this.#start && offset < end) {
      const piece = this.#pieceAt(offset, sizeBytes);
      if (piece.isRowEnd || piece.length > 0) return piece;
    }
    const isNear = offset >= this.#start && offset <= end + ROW_BYTES;
    this.#read(fd, offset, Math.min(isNear ? WINDOW_BYTES : ROW_BYTES, sizeBytes - offset));
    return this.#pieceAt(offset, sizeBytes);
  }

  #pieceAt(offset: number, sizeBytes: number): Piece {
    const piece = this.#piece;
    piece.from = offset - this.#start;
    const lineEnd = this.#lineEndFrom(piece.from);
    piece.isRowEnd = lineEnd < this.#length || this.#start + this.#length >= sizeBytes;
    // A CR that ends the window may be of the line end; the last byte of the file is of its row.
    const isLastOfFile = lineEnd === this.#length && piece.isRowEnd;
    const hasReturn = lineEnd > piece.from && !isLastOfFile && this.#bytes[lineEnd - 1] === CR;
    piece.length = lineEnd - piece.from - (hasReturn ? 1 : 0);
    return piece;
  }

  #lineEndFrom(from: number): number {
    const near = Math.min(from + CALL_BYTES, this.#length);
    for (let at = from; at < near; at++) if (this.#bytes[at] === LF) return at;
    const found = this.#bytes.indexOf(LF, near);
    return found < 0 || found > this.#length ? this.#length : found;
  }

  #read(fd: number, offset: number, length: number): void {
    this.#start = offset;
    this.#length = 0;
    while (this.#length < length) {
      const read = readSync(fd, this.#bytes, this.#length, length - this.#length, offset + this.#length);
      if (read === 0) throw new CheckError('changing');
      this.#length += read;
    }
  }
}
