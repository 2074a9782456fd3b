import { writeSync } from 'node:fs';
import { PrepareError } from './copyTypes.ts';

/** Short ranges are collected in a buffer. */
const BUFFER_BYTES = 1024 * 1024;
/** Longer ranges are written directly. */
const DIRECT_BYTES = 64 * 1024;
const LF = 0x0a;

/** Writes rows to an open file. Neighbors in the same memory are written as one range. */
export class RowWriter {
  readonly #fd: number;
  readonly #maxBytes: number;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #buffered = 0;
  #input: Uint8Array = this.#buffer;
  /** The range of `#input` that is not written yet. */
  #from = 0;
  #to = 0;
  #bytes = 0;
  rows = 0;

  constructor(fd: number, maxBytes: number) {
    this.#fd = fd;
    this.#maxBytes = maxBytes;
  }

  /**
   * Adds a row. Its memory must not change before `settle`, or before a row of other memory is added.
   * @throws PrepareError `too-large`; errors of the file system
   */
  add(input: Uint8Array, from: number, to: number): void {
    this.rows++;
    this.#bytes += to - from + 1;
    if (this.#bytes > this.#maxBytes) throw new PrepareError('too-large');
    if (input !== this.#input || from !== this.#to) this.settle();
    if (input[to] === LF) {
      if (this.#from === this.#to) this.#from = from;
      [this.#input, this.#to] = [input, to + 1];
      return;
    }
    this.settle();
    this.#put(input, from, to);
    this.#put(LINE_END, 0, 1);
  }

  /** Copies or writes what was added, so that its memory can be reused. @throws errors of the file system */
  settle(): void {
    const [from, to] = [this.#from, this.#to];
    this.#from = this.#to = 0;
    if (to > from) this.#put(this.#input, from, to);
  }

  /** Writes everything. @throws errors of the file system */
  flush(): void {
    this.settle();
    this.#write(this.#buffer, 0, this.#buffered);
    this.#buffered = 0;
  }

  #put(input: Uint8Array, from: number, to: number): void {
    const length = to - from;
    if (this.#buffered + length > BUFFER_BYTES || length >= DIRECT_BYTES) {
      this.#write(this.#buffer, 0, this.#buffered);
      this.#buffered = 0;
    }
    if (length >= DIRECT_BYTES) {
      this.#write(input, from, to);
      return;
    }
    this.#buffer.set(input.subarray(from, to), this.#buffered);
    this.#buffered += length;
  }

  #write(input: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to;) at += writeSync(this.#fd, input, at, to - at);
  }
}

const LINE_END = Uint8Array.of(LF);
