// Strings of RFC 8259, section 7: sixteen bytes at a time while nothing special is among them.
import { BAD_ESCAPE, CONTROL_CHARACTER, INVALID_UTF8, LONE_SURROGATE, UNTERMINATED_STRING } from './codes';
import { fail, noteInRow } from './found';
import { sequenceLength } from './utf8';

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
 * Reads a string from behind its opening quote and returns where it goes on behind the closing one, 0 after a failure. Every row
 * ends with a line break or a sentinel, which is a control character: no read goes further.
 */
export function readString(from: usize, end: usize): usize {
  hasEscape = false;
  let at = from;
  while (true) {
    let special = specialsOf(at);
    // An escape of two characters, by far the most common, is passed without loading the block again.
    while (special != 0 && isSimpleEscape(at + ctz(special))) {
      hasEscape = true;
      // The second character may be the first of the next block.
      if (ctz(special) == 15) at++;
      special &= -4 << ctz(special);
    }
    if (special == 0) {
      at += 16;
      continue;
    }
    at += <usize>ctz(special);
    const character = <u32>load<u8>(at);
    if (character == 0x22) return at + 1;
    if (character == 0x5c) {
      hasEscape = true;
      at = readEscape(at, end);
      if (at == 0) return 0;
    } else if (character >= 0x80) {
      at = readBeyondAscii(at);
    } else if (at >= end) {
      return fail(UNTERMINATED_STRING, from - 1, end - from + 1);
    } else {
      return fail(CONTROL_CHARACTER, at, 1);
    }
  }
}

/** Which of the next sixteen bytes end the string or need a closer look, as bits. */
function specialsOf(at: usize): i32 {
  const bytes = v128.load(at);
  // Signed: bytes from 0x80 on are below 0x20 as well.
  return i8x16.bitmask(
    v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(0x22)), i8x16.eq(bytes, i8x16.splat(0x5c))),
      i8x16.lt_s(bytes, i8x16.splat(0x20)),
    ),
  );
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

/** Reads an escape, both halves of a surrogate pair together; returns where it goes on, 0 after a failure. */
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
