// Strings of RFC 8259, section 7: sixty-four bytes at a time, with their escapes and their UTF-8, and by bytes only where these
// are not UTF-8.
import { bitsOf, equal, escapedBy } from './characters';
import { BAD_ESCAPE, CONTROL_CHARACTER, INVALID_UTF8, LONE_SURROGATE, UNTERMINATED_STRING } from './codes';
import { fail, noteInRow } from './found';
import { sequenceLength, isAscii, isUtf8, wholeLength } from './utf8';

/** Whether the string read last holds an escape. */
export let hasEscape: bool = false;

/** The value of a hexadecimal digit, above 15 for any other character. */
export function hexValue(character: u32): u32 {
  if (character - 0x30 < 10) return character - 0x30;
  const letter = (character | 0x20) - 0x61;
  return letter < 6 ? letter + 10 : 16;
}

/** The code unit of four hexadecimal digits, above 0xffff if one of them is none. */
export function hexUnit(at: usize): u32 {
  const a = hexValue(load<u8>(at));
  const b = hexValue(load<u8>(at + 1));
  const c = hexValue(load<u8>(at + 2));
  const d = hexValue(load<u8>(at + 3));
  return (a | b | c | d) > 15 ? 0x10000 : (a << 12) | (b << 8) | (c << 4) | d;
}

/**
 * Reads a string from behind its opening quote and returns the position behind the closing one, 0 after a failure. Every row
 * ends with a line break or a sentinel, which is a control character: no read goes further.
 */
export function readString(from: usize, end: usize): usize {
  hasEscape = false;
  // Most strings are keys and roles, which end within sixteen bytes.
  const special = specialsOf(v128.load(from));
  if (special == 0) return readBlocks(from + 16, from, end);
  const first = from + ctz(special);
  return load<u8>(first) == 0x22 ? first + 1 : readBlocks(from, from, end);
}

/** Which of sixteen bytes end a string or need a closer look, as bits. */
function specialsOf(bytes: v128): i32 {
  // Signed: bytes from 0x80 on are below 0x20 as well.
  const others = i8x16.lt_s(bytes, i8x16.splat(0x20));
  return i8x16.bitmask(v128.or(v128.or(equal(bytes, 0x22), equal(bytes, 0x5c)), others));
}

/** Goes on with a string at `at`, where neither an escape nor a sequence of UTF-8 is under way; sixty-four bytes at a time. */
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
      // An escaped character ends nothing, and is read only if it is not a simple escape.
      stops = (stops & ~escaped) | (escaped & ~simple);
      // An escape whose letter is in the next block begins that block.
      length -= <usize>((backslashes & ~escaped) >> 63);
    }
    if (!isAscii(v128.or(v128.or(a, b), v128.or(c, d)))) {
      if (!isUtf8(a, b, c, d)) return readBytes(at, start, end);
      length = min(length, 48 + wholeLength(d));
    }
    if (stops == 0) {
      if (backslashes != 0) hasEscape = true;
      at += length;
      continue;
    }
    const stop = ctz(stops);
    if ((backslashes & (((<u64>1) << stop) - 1)) != 0) hasEscape = true;
    at += <usize>stop;
    // An escape with digits, or none at all; a backslash alone never stops.
    if (stop > 0 && ((escapedBy(backslashes) >> stop) & 1) != 0) {
      at = readEscape(at - 1, end);
      if (at == 0) return 0;
    } else if (load<u8>(at) == 0x22) return at + 1;
    else return failAtControl(at, start, end);
  }
}

/** A quote or a control character. */
function stopsOf(bytes: v128): v128 {
  return v128.or(equal(bytes, 0x22), i8x16.lt_u(bytes, i8x16.splat(0x20)));
}

/**
 * One of `"`, `\`, `/`, `b`, `f`, `n`, `r`, `t`: looked up by both halves of the byte, which have a bit in common for these only.
 */
function simpleOf(bytes: v128): v128 {
  const low = i8x16.swizzle(
    i8x16(0, 0, 13, 0, 8, 0, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1),
    v128.and(bytes, i8x16.splat(0x0f)),
  );
  const high = i8x16.swizzle(i8x16(0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0), i8x16.shr_u(bytes, 4));
  return i8x16.ne(v128.and(low, high), i8x16.splat(0));
}

/** Reads the rest of a string byte by byte: somewhere ahead are bytes that are not UTF-8, perhaps behind its end. */
function readBytes(from: usize, start: usize, end: usize): usize {
  let at = from;
  while (true) {
    const character = <u32>load<u8>(at);
    if (character == 0x22) return at + 1;
    if (character == 0x5c) {
      hasEscape = true;
      at = readEscape(at, end);
      if (at == 0) return 0;
    } else if (character >= 0x80) at = readBeyondAscii(at);
    else if (character < 0x20) return failAtControl(at, start, end);
    else at++;
  }
}

/** A control character in the string that begins at `start`, or the end of the row. */
function failAtControl(at: usize, start: usize, end: usize): usize {
  return at < end ? fail(CONTROL_CHARACTER, at, 1) : fail(UNTERMINATED_STRING, start - 1, end - start + 1);
}

/** Reads sequences of UTF-8 to the next ASCII character; notes the first that is none. */
function readBeyondAscii(from: usize): usize {
  let at = from;
  while (load<u8>(at) >= 0x80) {
    const length = sequenceLength(at);
    if (length == 0) noteInRow(INVALID_UTF8, at, 1);
    at += max(length, 1);
  }
  return at;
}

/** Reads an escape, both halves of a surrogate pair together; returns the position behind it, 0 after a failure. */
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

/** True for a backslash with one of `"`, `\`, `/`, `b`, `f`, `n`, `r`, `t` behind it. */
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
