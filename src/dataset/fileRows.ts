import { readSync } from 'node:fs';

const LF = 0x0a;
const CR = 0x0d;
/** What is read at once where rows follow each other. */
const WINDOW_BYTES = 256 * 1024;
/** What is read at once of a row somewhere else. */
const ROW_BYTES = 8 * 1024;

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
    const first = this.#first.at(this.#fd, this.#sizeBytes, one);
    return first.equals(this.#second.at(this.#fd, this.#sizeBytes, other));
  }

  /** How many CRs without LF stand in a part of the file that ends where a row begins. */
  countLoneReturns(from: number, to: number): number {
    const bytes = Buffer.alloc(Math.min(WINDOW_BYTES, to - from));
    let count = 0;
    let wasReturn = false;
    for (let at = from; at < to;) {
      const read = readSync(this.#fd, bytes, 0, Math.min(bytes.length, to - at), at);
      if (read === 0) break;
      for (const byte of bytes.subarray(0, read)) {
        if (wasReturn && byte !== LF) count++;
        wasReturn = byte === CR;
      }
      at += read;
    }
    return count;
  }
}

/** The bytes of one row, in a window that moves with those who ask in order and jumps cheaply with the others. */
class RowBytes {
  #window = Buffer.alloc(0);
  #start = 0;

  at(fd: number, sizeBytes: number, offset: number): Buffer {
    const end = this.#start + this.#window.length;
    const isNear = offset >= this.#start && offset <= end + ROW_BYTES;
    let length = isNear ? WINDOW_BYTES : ROW_BYTES;
    if (offset >= this.#start && offset < end) {
      const row = rowIn(this.#window.subarray(offset - this.#start), end === sizeBytes);
      if (row !== undefined) return row;
    }
    for (; ; length *= 2) {
      this.#read(fd, offset, Math.min(length, sizeBytes - offset));
      const row = rowIn(this.#window, offset + this.#window.length >= sizeBytes || length > sizeBytes);
      if (row !== undefined) return row;
    }
  }

  #read(fd: number, offset: number, length: number): void {
    this.#window = Buffer.allocUnsafe(length);
    this.#start = offset;
    let filled = 0;
    while (filled < length) {
      const read = readSync(fd, this.#window, filled, length - filled, offset + filled);
      if (read === 0) break;
      filled += read;
    }
    this.#window = this.#window.subarray(0, filled);
  }
}

/** The row at the beginning of some bytes without its line end; undefined if it goes on behind them. */
function rowIn(bytes: Buffer, isLast: boolean): Buffer | undefined {
  const lineEnd = bytes.indexOf(LF);
  if (lineEnd < 0) return isLast ? bytes : undefined;
  return bytes.subarray(0, bytes[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd);
}
