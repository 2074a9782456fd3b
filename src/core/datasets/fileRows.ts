import { readSync } from 'node:fs';
import { ShorterFileError } from './errors.ts';

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
      // One has ended, the other goes on.
      if ((isFirstRead && second.length > length) || (isSecondRead && first.length > length)) return false;
      done += length;
    }
  }

  /** How many CRs without LF stand in a part of the file that ends where a row begins. */
  countLoneReturns(from: number, to: number): number {
    const bytes = Buffer.alloc(Math.min(WINDOW_BYTES, to - from));
    let count = 0;
    let wasReturn = false;
    for (let at = from; at < to;) {
      const read = readSync(this.#fd, bytes, 0, Math.min(bytes.length, to - at), at);
      if (read === 0) throw new ShorterFileError();
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
   * What the window has of the row that goes on at an offset, without its line end; empty only where the row ends. The next
   * call overwrites it.
   * @throws ShorterFileError
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
      if (read === 0) throw new ShorterFileError();
      this.#length += read;
    }
  }
}
