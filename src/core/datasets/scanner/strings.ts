// Reads strings (RFC 8259, section 7) with their escapes: 64 bytes at a time, or byte by byte if some aren't UTF-8.
import { bitsOf, equal, escapedBy } from './characters';
import { BAD_ESCAPE, CONTROL_CHARACTER, INVALID_UTF8, LONE_SURROGATE, UNTERMINATED_STRING } from './codes';
import { fail, noteInRow, row } from './found';
import { sequenceLength, isAscii, isUtf8, completeLength } from './utf8';

/** The value of each byte as a hexadecimal digit, or 16. */
// prettier-ignore
const HEX_VALUES: usize = memory.data<u8>([
  16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
  16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 16, 16, 16, 16, 16,
  16, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
  16, 10, 11, 12, 13, 14, 15, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
  16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
  16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
  16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
  16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
]);

/** Returns the code unit of four hexadecimal digits, or a value above 0xffff if any is invalid. */
export function hexUnit(at: usize): u32 {
  const a = <u32>load<u8>(HEX_VALUES + <usize>load<u8>(at));
  const b = <u32>load<u8>(HEX_VALUES + <usize>load<u8>(at, 1));
  const c = <u32>load<u8>(HEX_VALUES + <usize>load<u8>(at, 2));
  const d = <u32>load<u8>(HEX_VALUES + <usize>load<u8>(at, 3));
  return (a | b | c | d) > 15 ? 0x10000 : (a << 12) | (b << 8) | (c << 4) | d;
}

/** Returns the byte of two hexadecimal digits, or a value above 0xff if any is invalid. */
export function hexByte(at: usize): u32 {
  const a = <u32>load<u8>(HEX_VALUES + <usize>load<u8>(at));
  const b = <u32>load<u8>(HEX_VALUES + <usize>load<u8>(at, 1));
  return (a | b) > 15 ? 0x100 : (a << 4) | b;
}

/** Whether a code unit is a character, not half of a surrogate pair. */
function isWhole(unit: u32): bool {
  return unit <= 0xffff && (unit & 0xf800) != 0xd800;
}

/**
 * Reads a string from after its opening quote. Returns the address after the closing quote, or 0 after a failure. Never reads beyond
 * the row: the line end after it is a control character.
 */
export function readString(from: usize, end: usize): usize {
  row.hasEscape = false;
  // Most strings are keys and roles, which end within 16 bytes.
  const special = specialsOf(v128.load(from));
  if (special == 0) return readBlocks(from + 16, from, end);
  const first = from + ctz(special);
  return load<u8>(first) == 0x22 ? first + 1 : readBlocks(from, from, end);
}

/** Returns, as bits, which of 16 bytes end a string or need a closer look. */
function specialsOf(bytes: v128): i32 {
  // Signed: bytes from 0x80 on are also below 0x20.
  const others = i8x16.lt_s(bytes, i8x16.splat(0x20));
  return i8x16.bitmask(v128.or(v128.or(equal(bytes, 0x22), equal(bytes, 0x5c)), others));
}

/** Continues a string, 64 bytes at a time; `from` is not inside an escape or a UTF-8 sequence. */
function readBlocks(from: usize, start: usize, end: usize): usize {
  let at = from;
  while (true) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    let stops = bitsOf(stopsOf(a), stopsOf(b), stopsOf(c), stopsOf(d));
    let length: usize = 64;
    const backslashes = bitsOf(equal(a, 0x5c), equal(b, 0x5c), equal(c, 0x5c), equal(d, 0x5c));
    if (backslashes != 0) {
      const escaped = escapedBy(backslashes);
      const simple = bitsOf(simpleOf(a), simpleOf(b), simpleOf(c), simpleOf(d));
      // An escaped character doesn't end the string. It stops this loop only if it isn't a simple escape.
      stops = (stops & ~escaped) | (escaped & ~simple);
      // If the letter of an escape is in the next block, that block begins with its backslash.
      length -= <usize>((backslashes & ~escaped) >> 63);
    }
    if (!isAscii(v128.or(v128.or(a, b), v128.or(c, d)))) {
      if (!isUtf8(a, b, c, d)) return readBytes(at, start, end);
      length = min(length, 48 + completeLength(d));
    }
    if (stops == 0) {
      if (backslashes != 0) row.hasEscape = true;
      at += length;
      continue;
    }
    const stop = ctz(stops);
    if ((backslashes & (((<u64>1) << stop) - 1)) != 0) row.hasEscape = true;
    at += <usize>stop;
    // An escape with digits, or an invalid one. A backslash itself never stops the loop.
    if (stop > 0 && ((escapedBy(backslashes) >> stop) & 1) != 0) {
      at = readEscape(at - 1, end);
      if (at == 0) return 0;
      // Escaped text beyond ASCII has one escape after another. Half of a pair is left to the loop.
      while (load<u16>(at) == 0x755c && isWhole(hexUnit(at + 2))) at += 6;
    } else if (load<u8>(at) == 0x22) return at + 1;
    else return failAtControl(at, start, end);
  }
}

/** Returns a mask of quotes and control characters. */
function stopsOf(bytes: v128): v128 {
  return v128.or(equal(bytes, 0x22), i8x16.lt_u(bytes, i8x16.splat(0x20)));
}

/** Returns a mask of `"`, `\`, `/`, `b`, `f`, `n`, `r`, `t`: only for these have both halves of a byte a bit in common. */
function simpleOf(bytes: v128): v128 {
  const low = i8x16.swizzle(
    i8x16(0, 0, 13, 0, 8, 0, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1),
    v128.and(bytes, i8x16.splat(0x0f)),
  );
  const high = i8x16.swizzle(i8x16(0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0), i8x16.shr_u(bytes, 4));
  return i8x16.ne(v128.and(low, high), i8x16.splat(0));
}

/** Reads the rest of a string byte by byte, because invalid UTF-8 follows in it or after it. */
function readBytes(from: usize, start: usize, end: usize): usize {
  let at = from;
  while (true) {
    const character = <u32>load<u8>(at);
    if (character == 0x22) return at + 1;
    if (character == 0x5c) {
      row.hasEscape = true;
      at = readEscape(at, end);
      if (at == 0) return 0;
    } else if (character >= 0x80) at = readBeyondAscii(at);
    else if (character < 0x20) return failAtControl(at, start, end);
    else at++;
  }
}

/** Fails at a control character in the string that begins at `start`, or at the end of the row. */
function failAtControl(at: usize, start: usize, end: usize): usize {
  return at < end ? fail(CONTROL_CHARACTER, at, 1) : fail(UNTERMINATED_STRING, start - 1, end - start + 1);
}

/** Reads UTF-8 sequences up to the next ASCII character, and notes invalid ones. */
function readBeyondAscii(from: usize): usize {
  let at = from;
  while (load<u8>(at) >= 0x80) {
    const length = sequenceLength(at);
    if (length == 0) noteInRow(INVALID_UTF8, at, 1);
    at += max(length, 1);
  }
  return at;
}

/** Reads an escape or a surrogate pair; returns its end, or 0 after a failure. */
function readEscape(at: usize, end: usize): usize {
  const character = <u32>load<u8>(at + 1);
  if (character != 0x75) {
    if (isSimpleEscape(at)) return at + 2;
    return at + 1 < end ? fail(BAD_ESCAPE, at, 2) : fail(UNTERMINATED_STRING, at, 1);
  }
  const unit = hexUnit(at + 2);
  if (unit > 0xffff) return fail(BAD_ESCAPE, at, 2);
  if ((unit & 0xf800) != 0xd800) return at + 6;
  const isPair = unit < 0xdc00 && load<u16>(at + 6) == 0x755c && (hexUnit(at + 8) & 0x1fc00) == 0xdc00;
  if (isPair) return at + 12;
  noteInRow(LONE_SURROGATE, at, 6);
  return at + 6;
}

/** Whether it is a backslash followed by `"`, `\`, `/`, `b`, `f`, `n`, `r` or `t`. */
function isSimpleEscape(at: usize): bool {
  if (load<u8>(at) != 0x5c) return false;
  switch (load<u8>(at + 1)) {
    case 0x22:
    case 0x5c:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true;
    default:
      return false;
  }
}

/** Whether a string is empty or only white space. */
export function isBlankText(from: usize, to: usize): bool {
  return skipBlank(from, to) == to;
}

/** Returns the first character of a string that isn't white space (or its escape), or the end. */
export function skipBlank(from: usize, to: usize): usize {
  let at = from;
  while (at < to) {
    const length = blankLength(at);
    if (length == 0) break;
    at += length;
  }
  return min(at, to);
}

/** Returns the length of a white space character or its escape, or 0. */
function blankLength(at: usize): usize {
  const first = <u32>load<u8>(at);
  if (first == 0x20) return 1;
  if (first == 0x5c) {
    const letter = <u32>load<u8>(at, 1);
    // n r t f
    if (letter == 0x6e || letter == 0x72 || letter == 0x74 || letter == 0x66) return 2;
    return letter == 0x75 && isWhiteSpace(hexUnit(at + 2)) ? 6 : 0;
  }
  if (first < 0xc2) return 0;
  const second = <u32>load<u8>(at, 1) & 0x3f;
  if (first < 0xe0) return isWhiteSpace(((first & 0x1f) << 6) | second) ? 2 : 0;
  const unit = ((first & 0x0f) << 12) | (second << 6) | (<u32>load<u8>(at, 2) & 0x3f);
  return first < 0xf0 && isWhiteSpace(unit) ? 3 : 0;
}

/** Whether JavaScript's `trim` removes a code unit. */
function isWhiteSpace(unit: u32): bool {
  if (unit <= 0x20) return unit == 0x20 || unit - 0x09 < 5;
  if (unit == 0xa0 || unit == 0x1680 || unit == 0x3000 || unit == 0xfeff) return true;
  return unit - 0x2000 < 11 || unit == 0x2028 || unit == 0x2029 || unit == 0x202f || unit == 0x205f;
}
