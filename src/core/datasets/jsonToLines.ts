import { ConvertError } from './convert.ts';

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const BOM: readonly number[] = [0xef, 0xbb, 0xbf];
/** Longer white space also becomes one space. */
const MAX_SPACES = 1_000;

/**
 * Converts objects and arrays, in an array or consecutive, to one row each, chunk by chunk. Their bytes are unchanged, but
 * white space that is very long or has a line break becomes one space. The grammar is left to the check of the new file.
 */
export class JsonToLines {
  #place: 'start' | 'array' | 'objects' | 'end' = 'start';
  /** Bytes of a byte order mark seen so far. */
  #bomBytes = 0;
  /** Number of open brackets, including the object's own; 0 outside of objects. */
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Pending white space, written only if more of the object follows. */
  #spaces: number[] = [];
  readonly #areArrays: boolean;

  /** @param areArrays whether arrays that follow each other are rows */
  constructor(areArrays = false) {
    this.#areArrays = areArrays;
  }

  /** Converts a chunk and returns its rows or parts of rows. @throws ConvertError `not-json` */
  push(chunk: Uint8Array): Buffer {
    // Each byte becomes at most itself and a line end; white space pending from earlier chunks may precede it.
    const out = Buffer.allocUnsafe(2 * chunk.length + this.#spaces.length);
    let length = 0;
    for (const byte of chunk) {
      const isSpace = byte === SPACE || byte === LF || byte === CR || byte === TAB;
      if (this.#inString) {
        if (byte === LF || byte === CR) throw new ConvertError('not-json');
        this.#inString = this.#escaped || byte !== QUOTE;
        this.#escaped = !this.#escaped && byte === BACKSLASH;
        out[length++] = byte;
      } else if (isSpace && this.#depth > 0) this.#addSpace(byte);
      else if (!isSpace && (this.#depth > 0 || this.#beginsObject(byte)))
        length = this.#write(byte, out, length);
    }
    return out.subarray(0, length);
  }

  /** @throws ConvertError `not-json` unless that was a complete array of objects, or complete objects */
  end(): Uint8Array {
    const isClosed = this.#place === 'end' || (this.#place === 'objects' && this.#depth === 0);
    if (!isClosed) throw new ConvertError('not-json');
    return new Uint8Array();
  }

  #addSpace(byte: number): void {
    if (this.#spaces[0] === LF) return;
    if (byte === LF || byte === CR || this.#spaces.length === MAX_SPACES) this.#spaces = [LF];
    else this.#spaces.push(byte);
  }

  /** Handles a byte outside of rows. Returns whether it begins one. */
  #beginsObject(byte: number): boolean {
    const isStart = this.#place === 'start';
    if (isStart && byte === BOM[this.#bomBytes]) this.#bomBytes += 1;
    else if (this.#bomBytes % BOM.length !== 0 || this.#place === 'end') throw new ConvertError('not-json');
    else if (byte === OPEN_OBJECT || (byte === OPEN_ARRAY && (this.#areArrays || this.#place === 'array'))) {
      if (isStart) this.#place = 'objects';
      return true;
    } else if (isStart && byte === OPEN_ARRAY) this.#place = 'array';
    else if (this.#place === 'array' && byte === CLOSE_ARRAY) this.#place = 'end';
    else if (this.#place !== 'array' || byte !== COMMA)
      throw new ConvertError(this.#place === 'array' && byte !== CLOSE_OBJECT ? 'not-objects' : 'not-json');
    return false;
  }

  #write(byte: number, out: Buffer, start: number): number {
    let length = start;
    for (const space of this.#spaces) out[length++] = space === LF ? SPACE : space;
    this.#spaces = [];
    if (byte === QUOTE) this.#inString = true;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#depth -= 1;
    out[length++] = byte;
    if (this.#depth === 0) out[length++] = LF;
    return length;
  }
}
