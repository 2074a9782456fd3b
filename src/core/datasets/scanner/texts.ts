// Hashes what a string says: decoded, without bytes up to U+0020, with A–Z as a–z. So `é` and `\u00e9`, one blank and two, `Hi` and `hi`
// have the same (normalized) hash. The result is collected in chunks, for strings of any length. The exact hash is of the decoded
// string, so it tells `Hi` from `hi`.
import { equal } from './characters';
import { row } from './found';
import { decodeEscape, keys } from './keys';
import { hashRow, mix } from './lines';

const CHUNK_BYTES = 4096;
/** A block and an escape may exceed the chunk. */
const CHUNK: usize = memory.data(CHUNK_BYTES + 40, 8);
/** For each set of eight bytes, given as bits: the places of its bytes, a u8 each. */
const SETS: usize = memory.data(256 * 8, 8);

/** Fills the table. */
export function beginTexts(): void {
  if (load<u8>(SETS + 255 * 8, 7) != 0) return;
  for (let set = 0; set < 256; set++) {
    let entry = SETS + ((<usize>set) << 3);
    for (let place = 0; place < 8; place++) if ((set >> place) & 1) store<u8>(entry++, place);
  }
}

/** Returns the normalized hash of a string, followed by another one (0 for none); 0 if nothing is left of them. */
export function hashOfText(from: usize, to: usize, next: usize, nextTo: usize): u64 {
  return hashOf(from, to, false, next, nextTo);
}

/** Returns the exact hash of the string that was read last, or 0 if it is empty. @param decodes whether to decode escapes */
export function exactHashOf(from: usize, to: usize, decodes: bool): u64 {
  if (decodes && row.hasEscape) return hashOf(from, to, true, 0, 0);
  let hash: u64 = 0;
  let at = from;
  for (; at + CHUNK_BYTES <= to; at += CHUNK_BYTES) hash = mix(hash, hashRow(at, at + CHUNK_BYTES));
  return at == to ? hash : mix(hash, hashRow(at, to));
}

function hashOf(from: usize, to: usize, isExact: bool, next: usize, nextTo: usize): u64 {
  let hash: u64 = 0;
  let end = CHUNK;
  let at = from;
  let stop = to;
  let left = nextTo;
  while (true) {
    if (at >= stop) {
      if (left == 0) break;
      at = next;
      stop = left;
      left = 0;
      continue;
    }
    const bytes = v128.load(at);
    const escape = <usize>ctz(i8x16.bitmask(equal(bytes, 0x5c)) | 0x10000);
    const length = min(escape, stop - at);
    if (isExact) {
      v128.store(end, bytes);
      end += length;
    } else {
      const visible = i8x16.bitmask(i8x16.gt_u(bytes, i8x16.splat(0x20)));
      end = addBytes(end, lowered(bytes), visible & ((1 << (<u32>length)) - 1));
    }
    at += length;
    if (length < 16 && at < stop) {
      end = isExact ? decodeEscape(at, end) : addEscape(end, at);
      at = keys.afterEscape;
    }
    if (end < CHUNK + CHUNK_BYTES) continue;
    hash = mix(hash, hashRow(CHUNK, CHUNK + CHUNK_BYTES));
    memory.copy(CHUNK, CHUNK + CHUNK_BYTES, 32);
    end -= CHUNK_BYTES;
  }
  return end == CHUNK ? hash : mix(hash, hashRow(CHUNK, end));
}

/** Returns the bytes with A–Z as a–z. */
function lowered(bytes: v128): v128 {
  const isUpper = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x41)), i8x16.splat(26));
  return v128.or(bytes, v128.and(isUpper, i8x16.splat(0x20)));
}

/** Adds the bytes that stay, given as bits, and returns the new end. */
function addBytes(end: usize, bytes: v128, stay: i32): usize {
  const low = v128.load64_zero(SETS + ((<usize>(stay & 0xff)) << 3));
  const high = i8x16.add(v128.load64_zero(SETS + ((<usize>(stay >> 8)) << 3)), i8x16.splat(8));
  v128.store64_lane(end, i8x16.swizzle(bytes, low), 0);
  v128.store64_lane(end + <usize>popcnt(stay & 0xff), i8x16.swizzle(bytes, high), 0);
  return end + <usize>popcnt(stay);
}

/** Adds the character of an escape, and returns the new end. */
function addEscape(end: usize, at: usize): usize {
  const after = decodeEscape(at, end);
  const first = <u32>load<u8>(end);
  if (first <= 0x20) return end;
  if (first - 0x41 < 26) store<u8>(end, first | 0x20);
  return after;
}
