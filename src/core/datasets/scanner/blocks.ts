// Questions to sixteen or sixty-four bytes at once, answered by a bit for each byte.

/** All bits where a byte is this character. */
export function equal(bytes: v128, character: i8): v128 {
  return i8x16.eq(bytes, i8x16.splat(character));
}

/** A bit for each of sixty-four bytes, from four answers of sixteen. */
export function bitsOf(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    (<u64>(<u32>i8x16.bitmask(a))) |
    ((<u64>(<u32>i8x16.bitmask(b))) << 16) |
    ((<u64>(<u32>i8x16.bitmask(c))) << 32) |
    ((<u64>(<u32>i8x16.bitmask(d))) << 48)
  );
}

/**
 * The bytes behind the backslashes that escape something, of those given as bits; the first byte is behind none. In a run of
 * backslashes each second one is itself escaped: adding the runs that begin at odd places carries their parity to their ends.
 */
export function escapedBy(backslashes: u64): u64 {
  const behind = backslashes << 1;
  const oddStarts = backslashes & 0xaaaaaaaaaaaaaaaa & ~behind;
  const parity = (oddStarts + backslashes) << 1;
  return (0x5555555555555555 ^ parity) & behind;
}
