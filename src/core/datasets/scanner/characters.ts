// Classes of ASCII characters, and helpers for many bytes at a time.

export function isDigit(character: u32): bool {
  return character - 0x30 < 10;
}

export function isLetter(character: u32): bool {
  return (character | 0x20) - 0x61 < 26;
}

export function isAlphanumeric(character: u32): bool {
  return isDigit(character) || isLetter(character);
}

/** Letters, digits, `_` and `-`. */
export function isWord(character: u32): bool {
  return isAlphanumeric(character) || character == 0x5f || character == 0x2d;
}

/** True for the word "example" in any case. */
export function isExampleWord(at: usize): bool {
  return ((load<u64>(at) & 0xffffffffffffff) | 0x20202020202020) == 0x656c706d617865;
}

// SIMD helpers for 16 or 64 bytes. Their results are masks.

/** Returns a mask of the bytes that are this character. */
export function equal(bytes: v128, character: i8): v128 {
  return i8x16.eq(bytes, i8x16.splat(character));
}

/** Combines four masks of 16 bytes into one bit per byte. */
export function bitsOf(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    <u64>(<u32>i8x16.bitmask(a)) |
    ((<u64>(<u32>i8x16.bitmask(b))) << 16) |
    ((<u64>(<u32>i8x16.bitmask(c))) << 32) |
    ((<u64>(<u32>i8x16.bitmask(d))) << 48)
  );
}

/**
 * Returns which bytes are escaped, given the backslashes as bits; the first byte never is. In a run of backslashes, every
 * second one is itself escaped: adding the runs that begin at odd positions carries their parity to their ends.
 */
export function escapedBy(backslashes: u64): u64 {
  const behind = backslashes << 1;
  const oddStarts = backslashes & 0xaaaaaaaaaaaaaaaa & ~behind;
  const parity = (oddStarts + backslashes) << 1;
  return (0x5555555555555555 ^ parity) & behind;
}

/** Returns the previous byte of each of 16 bytes. */
export function oneBefore(before: v128, bytes: v128): v128 {
  return i8x16.shuffle(before, bytes, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
}

/** Returns the byte two positions before each of 16 bytes. */
export function twoBefore(before: v128, bytes: v128): v128 {
  return i8x16.shuffle(before, bytes, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
}
