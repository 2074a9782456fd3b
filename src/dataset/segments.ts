import { readSync } from 'node:fs';
import { PROBLEMS } from './problems.ts';
import { PLACE_NUMBERS, type Scanned, type Scanner } from './scanner.ts';
import { masked } from './masked.ts';

/** A file is judged in pieces of this size, by whichever worker is free; each row belongs to the piece in which it begins. */
export const SEGMENT_BYTES = 4 * 1024 * 1024;
/** A longer row is not checked (`scanner/grammar.ts`). */
export const MAX_ROW_BYTES = 64 * 1024 * 1024;
/** How far apart the entries of the row index are. */
const INDEX_BYTES = 256 * 1024;
const LF = 0x0a;

/** A problem of a segment: its code, the fields of `ProblemGroup`, and details in the same order where a code has them. */
export interface SegmentPlaces {
  codes: Uint8Array<ArrayBuffer>;
  /** `PROBLEM_FIELDS` for each: row and line from 0 in the segment, column from 1, offset in the file, length. */
  fields: Float64Array<ArrayBuffer>;
  details: (string | undefined)[];
}

/** The file has become shorter while it was read. */
export class ShorterFileError extends Error {
  constructor() {
    super('the file has become shorter');
  }
}

/** Rows that can be duplicates, in order. */
export interface HashedRows {
  /** Two halves of a hash for each. */
  hashes: Uint32Array<ArrayBuffer>;
  /** Where each begins, from the segment's first byte. */
  starts: Uint32Array<ArrayBuffer>;
  /** Its row, from 0 in the segment; undefined if these are all rows. */
  rows: Uint32Array<ArrayBuffer> | undefined;
}

/** What is known of the rows that begin in a segment. */
export interface Segment {
  number: number;
  rows: number;
  blankRows: number;
  /** CRs without LF: ends of lines of the editor that are no ends of rows. */
  lineBreaks: number;
  characters: number;
  places: SegmentPlaces;
  /** Entries of the row index: row from 0 in the segment and offset in the file, by turns. */
  index: Float64Array<ArrayBuffer>;
  /** The rows that can be duplicates. */
  hashed: HashedRows;
}

/** Reads segments of one open file and judges their rows. */
export class SegmentReader {
  readonly #scanner: Scanner;
  readonly #fd: number;
  readonly #sizeBytes: number;

  constructor(scanner: Scanner, fd: number, sizeBytes: number) {
    this.#scanner = scanner;
    this.#fd = fd;
    this.#sizeBytes = sizeBytes;
  }

  /**
   * Judges the rows that begin in a segment.
   * @throws ShorterFileError
   */
  read(number: number): Segment {
    const segmentStart = number * SEGMENT_BYTES;
    const segmentEnd = Math.min(segmentStart + SEGMENT_BYTES, this.#sizeBytes);
    // The byte before tells whether a row begins with the segment.
    const readStart = Math.max(segmentStart - 1, 0);
    let input = this.#scanner.input(segmentEnd - readStart);
    this.#fill(input, 0, readStart);
    const first = number === 0 ? 0 : input.subarray(0, -1).indexOf(LF) + 1;
    const collector = new Collector(number, readStart);
    if (number > 0 && first === 0) return collector.end();
    const lastRow = number === 0 && input.length === 1 ? 0 : input.subarray(0, -1).lastIndexOf(LF) + 1;
    let end = input.length;
    // The last row may go on behind the segment.
    while (readStart + end < this.#sizeBytes && input[end - 1] !== LF && end - lastRow <= MAX_ROW_BYTES) {
      const more = Math.min(
        Math.max(end - lastRow, 64 * 1024),
        MAX_ROW_BYTES + 1 - (end - lastRow),
        this.#sizeBytes - readStart - end,
      );
      input = this.#scanner.input(end + more);
      this.#fill(input, end, readStart + end);
      const lineEnd = input.subarray(end).indexOf(LF);
      end = lineEnd < 0 ? end + more : end + lineEnd + 1;
    }
    const atFileEnd = readStart + end === this.#sizeBytes;
    for (let at = first; at < end;) {
      const scanned = this.#scanner.scan(at, end, readStart + at === 0, atFileEnd);
      collector.add(scanned, input);
      if (scanned.stoppedAt === at && scanned.rows === 0) {
        collector.add(this.#scanner.skipRow(at), input);
        break;
      }
      at = scanned.stoppedAt;
    }
    return collector.end();
  }

  #fill(input: Uint8Array, from: number, position: number): void {
    for (let at = from; at < input.length;) {
      const read = readSync(this.#fd, input, at, input.length - at, position + at - from);
      if (read === 0) throw new ShorterFileError();
      at += read;
    }
  }
}

/** Gathers what the calls for one segment say, with rows and lines counted through. */
class Collector {
  readonly #number: number;
  readonly #base: number;
  #rows = 0;
  #blankRows = 0;
  #lineBreaks = 0;
  #characters = 0;
  #nextEntry = 0;
  readonly #codes: number[] = [];
  readonly #fields: number[] = [];
  readonly #details: (string | undefined)[] = [];
  readonly #index: number[] = [];
  readonly #hashes: Uint32Array[] = [];
  readonly #starts: Uint32Array[] = [];
  readonly #hashedRows: Uint32Array[] = [];

  /** @param base the file's offset of the input's first byte */
  constructor(number: number, base: number) {
    this.#number = number;
    this.#base = base;
  }

  add(scanned: Scanned, input: Uint8Array): void {
    this.#addPlaces(scanned.places, input);
    this.#addRows(scanned);
    this.#rows += scanned.rows;
    this.#blankRows += scanned.blankRows;
    this.#lineBreaks += scanned.lineBreaks;
    this.#characters += scanned.characters;
  }

  #addPlaces(places: Uint32Array, input: Uint8Array): void {
    for (let index = 0; index < places.length; index += PLACE_NUMBERS) {
      const [code = 0, row = 0, breaks = 0, position = 0, column = 0, length = 1] = places.subarray(
        index,
        index + PLACE_NUMBERS,
      );
      this.#codes.push(code);
      const line = this.#rows + row + this.#lineBreaks + breaks;
      this.#fields.push(this.#rows + row, line, column + 1, this.#base + position, length);
      const [name, , problemClass] = PROBLEMS[code] ?? [];
      // What is secret is ASCII: its length in UTF-16 units is that in bytes.
      const found = problemClass === 'privacy' ? input.subarray(position, position + length) : undefined;
      this.#details.push(name && found && masked(name, Buffer.from(found).toString('latin1')));
    }
  }

  #addRows({ rows, rowStarts, rowHashes }: Scanned): void {
    const hashes = new Uint32Array(rows * 2);
    const starts = new Uint32Array(rows);
    const hashedRows = new Uint32Array(rows);
    let count = 0;
    for (let row = 0; row < rows; row++) {
      const offset = this.#base + (rowStarts[row] ?? 0);
      if (offset >= this.#nextEntry) {
        this.#index.push(this.#rows + row, offset);
        this.#nextEntry = offset + INDEX_BYTES;
      }
      const low = rowHashes[row * 2] ?? 0;
      if (low === 0) continue;
      hashes[count * 2] = low;
      hashes[count * 2 + 1] = rowHashes[row * 2 + 1] ?? 0;
      starts[count] = offset - this.#number * SEGMENT_BYTES;
      hashedRows[count++] = this.#rows + row;
    }
    this.#hashes.push(hashes.subarray(0, count * 2));
    this.#starts.push(starts.subarray(0, count));
    this.#hashedRows.push(hashedRows.subarray(0, count));
  }

  end(): Segment {
    return {
      number: this.#number,
      rows: this.#rows,
      blankRows: this.#blankRows,
      lineBreaks: this.#lineBreaks,
      characters: this.#characters,
      places: {
        codes: Uint8Array.from(this.#codes),
        fields: Float64Array.from(this.#fields),
        details: this.#details,
      },
      index: Float64Array.from(this.#index),
      hashed: this.#hashed(),
    };
  }

  #hashed(): HashedRows {
    const rows = joined(this.#hashedRows);
    return {
      hashes: joined(this.#hashes),
      starts: joined(this.#starts),
      rows: rows.length === this.#rows ? undefined : rows,
    };
  }
}

function joined(arrays: readonly Uint32Array[]): Uint32Array<ArrayBuffer> {
  const all = new Uint32Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const array of arrays) {
    all.set(array, at);
    at += array.length;
  }
  return all;
}
