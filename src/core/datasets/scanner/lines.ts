// Finds the ends of rows, and counts their characters.
import { bitsOf, equal } from './characters';

/** The line whose end was found last. */
@unmanaged
class Line {
  /** Unicode characters before its end: all bytes except those that continue a sequence. */
  characters: u32;
  /** Whether a CR is among these characters. */
  hasReturn: bool;
}
export const line = changetype<Line>(memory.data(16, 16));

/** Returns the first LF from `from` on, or `to` if there is none. */
export function findLineEnd(from: usize, to: usize): usize {
  let count: u32 = 0;
  let returns = i8x16.splat(0);
  let at = from;
  while (at < to) {
    // Most blocks have no control characters.
    for (; at + 64 <= to; at += 64) {
      const a = v128.load(at);
      const b = v128.load(at, 16);
      const c = v128.load(at, 32);
      const d = v128.load(at, 48);
      const least = i8x16.min_u(i8x16.min_u(a, b), i8x16.min_u(c, d));
      if (v128.any_true(i8x16.lt_u(least, i8x16.splat(0x20)))) break;
      const beyondAscii = v128.or(v128.or(a, b), v128.or(c, d));
      if (i8x16.bitmask(beyondAscii) == 0) count += 64;
      else count += <u32>popcnt(bitsOf(startsOf(a), startsOf(b), startsOf(c), startsOf(d)));
    }
    const end = min(at + 64, to);
    for (; at < end; at += 16) {
      const bytes = v128.load(at);
      const lineEnds = i8x16.bitmask(equal(bytes, 0x0a));
      const starts = i8x16.bitmask(startsOf(bytes));
      if (lineEnds != 0 || at + 16 > to) {
        const length = min<usize>(lineEnds == 0 ? 16 : ctz(lineEnds), to - at);
        line.characters = count + popcnt(starts & ((1 << (<u32>length)) - 1));
        line.hasReturn = v128.any_true(returns) || findReturn(at, at + length);
        return at + length;
      }
      count += popcnt(starts);
      returns = v128.or(returns, equal(bytes, 0x0d));
    }
  }
  line.characters = count;
  line.hasReturn = v128.any_true(returns);
  return to;
}

/** Returns a mask of the bytes that begin a character. As signed bytes, all others are from -128 to -65. */
function startsOf(bytes: v128): v128 {
  return i8x16.gt_s(bytes, i8x16.splat(-65));
}

function findReturn(from: usize, to: usize): bool {
  for (let at = from; at < to; at++) if (load<u8>(at) == 0x0d) return true;
  return false;
}

/** Returns the number of CRs. */
export function countReturns(from: usize, to: usize): u32 {
  let count: u32 = 0;
  let at = from;
  for (; at + 16 <= to; at += 16) count += popcnt(i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(0x0d))));
  for (; at < to; at++) if (load<u8>(at) == 0x0d) count++;
  return count;
}

// Hashes a row's bytes, to find identical rows. Like xxHash, with four independent lanes.

const PRIME_1: u64 = 0x9e3779b185ebca87;
const PRIME_2: u64 = 0xc2b2ae3d27d4eb4f;

/** Mixes a word into a hash. */
export function mix(lane: u64, word: u64): u64 {
  return rotl(lane + word * PRIME_2, 31) * PRIME_1;
}

/** Returns the hash of the bytes, which is never 0. */
export function hashRow(from: usize, to: usize): u64 {
  let a: u64 = PRIME_1;
  let b: u64 = PRIME_2;
  let c: u64 = 0;
  let d: u64 = PRIME_1 ^ PRIME_2;
  let at = from;
  for (; at + 32 <= to; at += 32) {
    a = mix(a, load<u64>(at));
    b = mix(b, load<u64>(at, 8));
    c = mix(c, load<u64>(at, 16));
    d = mix(d, load<u64>(at, 24));
  }
  let hash = mix(mix(mix(mix(<u64>(to - from), a), b), c), d);
  for (; at + 8 <= to; at += 8) hash = mix(hash, load<u64>(at));
  const rest = (<u64>(to - at)) << 3;
  if (rest != 0) hash = mix(hash, load<u64>(at) & (((<u64>1) << rest) - 1));
  hash = (hash ^ (hash >> 33)) * PRIME_2;
  hash = (hash ^ (hash >> 29)) * PRIME_1;
  return max(hash ^ (hash >> 32), 1);
}
