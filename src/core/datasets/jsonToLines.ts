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
 * Converts objects and arrays, in an array or one after another, to one row each, chunk by chunk. Bytes are copied, but white
 * space that is very long or has a line break becomes one space. The check of the new file finds invalid JSON.
 * @param areArrays whether the file is a sequence of arrays, each a row
 * @throws ConvertError `not-json` or `not-objects` if it isn't a complete array or sequence
 */
export function* jsonLines(chunks: Iterable<Uint8Array>, areArrays = false): Generator<Buffer> {
  let place = 'start' as 'start' | 'array' | 'objects' | 'end';
  // How many bytes of a byte order mark were read, and how many brackets are open.
  let [bomBytes, depth] = [0, 0];
  let [inString, isEscaped] = [false, false];
  // White space, which is written only if more of the row follows.
  let spaces: number[] = [];
  /** Handles a byte outside of rows. Returns whether it begins one. */
  const beginsRow = (byte: number): boolean => {
    const isStart = place === 'start';
    if (isStart && byte === BOM[bomBytes]) bomBytes += 1;
    else if (bomBytes % BOM.length !== 0 || place === 'end') throw new ConvertError('not-json');
    else if (byte === OPEN_OBJECT || (byte === OPEN_ARRAY && (areArrays || place === 'array'))) {
      if (isStart) place = 'objects';
      return true;
    } else if (isStart && byte === OPEN_ARRAY) place = 'array';
    else if (place === 'array' && byte === CLOSE_ARRAY) place = 'end';
    else if (place !== 'array' || byte !== COMMA)
      throw new ConvertError(place === 'array' && byte !== CLOSE_OBJECT ? 'not-objects' : 'not-json');
    return false;
  };
  const converted = (chunk: Uint8Array): Buffer => {
    // Each byte becomes at most itself and a line end; white space of earlier chunks may precede it.
    const out = Buffer.allocUnsafe(2 * chunk.length + spaces.length);
    let length = 0;
    for (const byte of chunk) {
      const isBreak = byte === LF || byte === CR;
      if (inString) {
        if (isBreak) throw new ConvertError('not-json');
        inString = isEscaped || byte !== QUOTE;
        isEscaped = !isEscaped && byte === BACKSLASH;
        out[length++] = byte;
      } else if (isBreak || byte === SPACE || byte === TAB) {
        if (isBreak || spaces.length === MAX_SPACES) spaces = [LF];
        else if (depth > 0 && spaces[0] !== LF) spaces.push(byte);
      } else if (depth > 0 || beginsRow(byte)) {
        if (depth > 0) for (const space of spaces) out[length++] = space === LF ? SPACE : space;
        spaces = [];
        inString = byte === QUOTE;
        if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
        else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth -= 1;
        out[length++] = byte;
        if (depth === 0) out[length++] = LF;
      }
    }
    return out.subarray(0, length);
  };
  for (const chunk of chunks) yield converted(chunk);
  if (place !== 'end' && (place !== 'objects' || depth > 0)) throw new ConvertError('not-json');
}
