// A hash of a row's bytes, to find rows that may be the same (they are then compared byte by byte): four lanes that do not wait
// for each other, in the manner of xxHash.

const PRIME_1: u64 = 0x9e3779b185ebca87;
const PRIME_2: u64 = 0xc2b2ae3d27d4eb4f;

function mix(lane: u64, word: u64): u64 {
  return rotl(lane + word * PRIME_2, 31) * PRIME_1;
}

/** The hash of the bytes; never 0. */
export function hashRow(from: usize, to: usize): u32 {
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
  let hash = rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18) + <u64>(to - from);
  for (; at + 8 <= to; at += 8) hash = mix(hash, load<u64>(at));
  for (; at < to; at++) hash = mix(hash, load<u8>(at));
  hash = (hash ^ (hash >> 33)) * PRIME_2;
  hash = (hash ^ (hash >> 29)) * PRIME_1;
  return max(<u32>(hash ^ (hash >> 32)), 1);
}
