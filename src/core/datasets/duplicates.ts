import type { FileRows } from './fileRows.ts';
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

/** What was found: how many rows stand in the file before, byte for byte, and the places of the first. */
export interface Duplicates {
  total: number;
  /** `PROBLEM_FIELDS` for each. */
  places: Float64Array;
  /** For each place, the number of the row that is the same. */
  details: string[];
  /** The last row that was looked at, if there are more; undefined if all were. */
  lastRow: number | undefined;
}

/** Rows that are looked at; beyond, memory would not be bounded. */
export const MAX_HASHED_ROWS = 8_000_000;
/** Rows looked at between two questions whether to go on. */
const STEP = 4096;

/**
 * Finds rows that stand in the file twice. A hash only proposes: rows are compared byte for byte.
 * @param goesOn asked now and then; false ends the search
 */
export function findDuplicates(
  segments: readonly HashedSegment[],
  file: FileRows,
  locatedLimit: number,
  goesOn: () => boolean,
  maxRows = MAX_HASHED_ROWS,
): Duplicates {
  const rows = new RowsByNumber(segments);
  const count = Math.min(rows.length, maxRows);
  // Open addressing, at most half full: the index of a row and 1, or 0.
  const bits = Math.ceil(Math.log2(Math.max(count, 1) * 2));
  const table = new Int32Array(2 ** bits);
  const places: number[] = [];
  const details: string[] = [];
  let total = 0;
  let looks = 0;
  let isStopped = false;
  for (let row = 0; row < count && !isStopped; row++) {
    rows.seek(row);
    const { hash } = rows;
    let slot = Math.imul(hash, 0x9e3779b1) >>> (32 - bits);
    for (; ; slot = (slot + 1) & (table.length - 1)) {
      // Here and not at each row: a file can be made so that all its rows have one hash.
      if (looks++ % STEP === 0 && !goesOn()) isStopped = true;
      if (isStopped) break;
      const other = (table[slot] ?? 0) - 1;
      if (other < 0) {
        table[slot] = row + 1;
        break;
      }
      if (!rows.hasHash(other, hash) || !file.areSame(rows.offsetOf(other), rows.offset)) continue;
      total++;
      if (details.length < locatedLimit) {
        places.push(rows.rowNumber, rows.lineOf(file), 1, rows.offset, 1);
        details.push(String(rows.numberOf(other)));
      }
      break;
    }
  }
  const lastRow = count < rows.length ? rows.numberOf(count - 1) : undefined;
  return { total, places: Float64Array.from(places), details, lastRow };
}

/** Where a row was found. */
interface Found {
  row: number;
  segment: HashedSegment;
  index: number;
}

/** Rows of all segments by one number. Walks forward with `seek`, and looks at single ones anywhere. */
class RowsByNumber {
  readonly #segments: readonly HashedSegment[];
  /** For each segment, the number of its first row. */
  readonly #firsts: number[] = [];
  readonly length: number;
  /** The hash of the row of `seek`. */
  hash = 0;
  #at = 0;
  #index = 0;
  #found: Found | undefined;
  /** Line ends counted in the segment of `seek`, up to a position. */
  #counted: { at: number; offset: number; breaks: number } | undefined;

  constructor(segments: readonly HashedSegment[]) {
    this.#segments = segments;
    let length = 0;
    for (const { starts } of segments) {
      this.#firsts.push(length);
      length += starts.length;
    }
    this.length = length;
  }

  seek(row: number): void {
    while (row >= (this.#firsts[this.#at + 1] ?? Infinity)) this.#at++;
    this.#index = row - (this.#firsts[this.#at] ?? 0);
    this.hash = this.#segment.hashes[this.#index] ?? 0;
  }

  get #segment(): HashedSegment {
    const segment = this.#segments[this.#at];
    if (segment === undefined) throw new RangeError('no such row');
    return segment;
  }

  /** Byte offset in the file of the row of `seek`. */
  get offset(): number {
    return offsetIn(this.#segment, this.#index);
  }

  /** Its number from 1. */
  get rowNumber(): number {
    return rowIn(this.#segment, this.#index) + 1;
  }

  /** The editor's line where it begins, from 1. */
  lineOf(file: FileRows): number {
    const { firstLine, firstRow, firstOffset, lineBreaks } = this.#segment;
    const line = firstLine + this.rowNumber - firstRow;
    if (lineBreaks === 0) return line;
    if (this.#counted?.at !== this.#at) this.#counted = { at: this.#at, offset: firstOffset, breaks: 0 };
    this.#counted.breaks += file.countLoneReturns(this.#counted.offset, this.offset);
    this.#counted.offset = this.offset;
    return line + this.#counted.breaks;
  }

  hasHash(row: number, hash: number): boolean {
    const { segment, index } = this.#find(row);
    return segment.hashes[index] === hash;
  }

  offsetOf(row: number): number {
    const { segment, index } = this.#find(row);
    return offsetIn(segment, index);
  }

  numberOf(row: number): number {
    const { segment, index } = this.#find(row);
    return rowIn(segment, index) + 1;
  }

  /** The segment of a row and its index in that. The same row is often asked for again. */
  #find(row: number): Found {
    if (this.#found?.row === row) return this.#found;
    let low = 0;
    let high = this.#segments.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#firsts[middle] ?? 0) <= row) low = middle;
      else high = middle - 1;
    }
    const segment = this.#segments[low];
    if (segment === undefined) throw new RangeError('no such row');
    this.#found = { row, segment, index: row - (this.#firsts[low] ?? 0) };
    return this.#found;
  }
}

function offsetIn(segment: HashedSegment, index: number): number {
  return segment.number * SEGMENT_BYTES + (segment.starts[index] ?? 0);
}

function rowIn(segment: HashedSegment, index: number): number {
  return segment.firstRow + (segment.rows?.[index] ?? index);
}
