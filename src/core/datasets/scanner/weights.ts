// What texts weigh, in bytes from which tokens are estimated, and in which scripts they are written. An escape such as `\u4e2d`
// weighs as its character does. Tokenizers need a token for about four bytes, but fewer for Cyrillic: a letter weighs 1.25.
import { equal } from './characters';
import { file, SCRIPT_BYTES } from './buffers';
import {
  SCRIPT_BLOCKS,
  SCRIPT_CYRILLIC,
  SCRIPT_HAN,
  SCRIPT_HANGUL,
  SCRIPT_KANA,
  SCRIPT_SHIFT,
} from './codes';
import { row } from './found';
import { hexUnit } from './strings';
import { sequenceLength } from './utf8';

/** The script of each block of characters, a u8 each. Written by the scanner's owner. */
export const SCRIPT_TABLE: usize = memory.data(SCRIPT_BLOCKS);

const CYRILLIC_BYTES = SCRIPT_BYTES + (SCRIPT_CYRILLIC << 3);

/** Returns the weight of the string that was read last. */
export function weightOf(from: usize, to: usize): u32 {
  const before = load<f64>(CYRILLIC_BYTES);
  const bytes = row.isWide ? countWide(from, to) : <u32>(to - from);
  file.writtenBytes += <f64>bytes;
  const letters = <u32>(load<f64>(CYRILLIC_BYTES) - before) / 2;
  return bytes - (letters * 3) / 4;
}

/** Counts the characters beyond ASCII by their scripts, and returns the bytes of the decoded string. */
function countWide(from: usize, to: usize): u32 {
  let bytes = <u32>(to - from);
  let han: u32 = 0;
  let kana: u32 = 0;
  let hangul: u32 = 0;
  let cyrillic: u32 = 0;
  for (let at = from; at < to; at += 16) {
    const block = v128.load(at);
    const next = v128.load(at, 1);
    const isEscape = v128.and(equal(block, 0x5c), equal(next, 0x75));
    if (i8x16.bitmask(v128.or(block, isEscape)) == 0) continue;
    const inside: i32 = to - at >= 16 ? 0xffff : (1 << (<u32>(to - at))) - 1;
    const isHan = inRange(block, <i8>0xe4, 6);
    han += popcnt(i8x16.bitmask(isHan) & inside);
    // Latin and signs begin with other bytes. Most blocks have nothing but these and Han.
    const isSign = v128.or(equal(block, <i8>0xe2), i8x16.gt_u(block, i8x16.splat(<i8>0xee)));
    const isFirst = v128.andnot(i8x16.gt_u(block, i8x16.splat(<i8>0xcb)), v128.or(isHan, isSign));
    if (i8x16.bitmask(v128.or(isFirst, isEscape)) == 0) continue;
    const isCyrillic = inRange(block, <i8>0xd0, 4);
    const isKana = v128.and(equal(block, <i8>0xe3), inRange(next, <i8>0x81, 3));
    const isEarlyHangul = v128.and(equal(block, <i8>0xea), i8x16.gt_u(next, i8x16.splat(<i8>0xaf)));
    const isHangul = v128.or(inRange(block, <i8>0xeb, 3), isEarlyHangul);
    kana += popcnt(i8x16.bitmask(isKana) & inside);
    hangul += popcnt(i8x16.bitmask(isHangul) & inside);
    cyrillic += popcnt(i8x16.bitmask(isCyrillic) & inside);
    const counted = v128.or(v128.or(isCyrillic, isHangul), equal(block, <i8>0xe3));
    const others = v128.or(v128.andnot(isFirst, counted), isEscape);
    for (let left = i8x16.bitmask(others) & inside; left != 0; left &= left - 1) {
      const place = at + <usize>ctz(left);
      if (load<u8>(place) != 0x5c) countCharacter(place);
      else if (!isEscaped(place)) bytes -= 6 - countUnit(hexUnit(place + 2));
    }
  }
  add(SCRIPT_HAN, 3 * han);
  add(SCRIPT_KANA, 3 * kana);
  add(SCRIPT_HANGUL, 3 * hangul);
  add(SCRIPT_CYRILLIC, 2 * cyrillic);
  return bytes;
}

/** Returns a mask of the bytes from one on, so many different ones. */
function inRange(bytes: v128, from: i8, length: i8): v128 {
  return i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(from)), i8x16.splat(length));
}

/** Whether a backslash belongs to one before it. */
function isEscaped(at: usize): bool {
  let first = at;
  while (load<u8>(first - 1) == 0x5c) first--;
  return ((at - first) & 1) != 0;
}

/** Counts a character of UTF-8. */
function countCharacter(at: usize): void {
  const first = <u32>load<u8>(at);
  const second = <u32>load<u8>(at, 1) & 0x3f;
  const length = sequenceLength(at);
  if (length == 2) count(((first & 0x1f) << 6) | second, 2);
  else if (length == 3) count(((first & 0x0f) << 12) | (second << 6), 3);
}

/** Counts a code unit, and returns its bytes: half of a pair has two of four. */
function countUnit(unit: u32): u32 {
  if ((unit & 0xf800) == 0xd800) return 2;
  const bytes: u32 = unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
  count(unit, bytes);
  return bytes;
}

/** Counts a character of so many bytes; those that share its last six bits have its script. */
function count(unit: u32, bytes: u32): void {
  const script = load<u8>(SCRIPT_TABLE + (unit >> SCRIPT_SHIFT));
  if (script != 0) add(script, bytes);
}

function add(script: u32, bytes: u32): void {
  const entry = SCRIPT_BYTES + (script << 3);
  store<f64>(entry, load<f64>(entry) + <f64>bytes);
}
