// Where rows end, and the bytes on the way there.

/** Unicode characters before the line end that was looked for last: every byte but those that continue a sequence. */
export let characters: u32 = 0;
/** Whether a CR was among the bytes. */
export let hasReturn: bool = false;

/** The first LF from `from` on, `to` if there is none. */
export function findLineEnd(from: usize, to: usize): usize {
  let count: u32 = 0;
  let returns = i8x16.splat(0);
  for (let at = from; at < to; at += 16) {
    const bytes = v128.load(at);
    const lineEnds = i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(0x0a)));
    // Signed: continuation bytes are those from -128 to -65.
    const starts = i8x16.bitmask(i8x16.gt_s(bytes, i8x16.splat(-65)));
    if (lineEnds != 0 || at + 16 > to) {
      const length = min<usize>(lineEnds == 0 ? 16 : ctz(lineEnds), to - at);
      characters = count + popcnt(starts & ((1 << (<u32>length)) - 1));
      hasReturn = v128.any_true(returns) || findReturn(at, at + length);
      return at + length;
    }
    count += popcnt(starts);
    returns = v128.or(returns, i8x16.eq(bytes, i8x16.splat(0x0d)));
  }
  characters = count;
  hasReturn = v128.any_true(returns);
  return to;
}

function findReturn(from: usize, to: usize): bool {
  for (let at = from; at < to; at++) if (load<u8>(at) == 0x0d) return true;
  return false;
}

/** How many CRs there are. */
export function countReturns(from: usize, to: usize): u32 {
  let count: u32 = 0;
  let at = from;
  for (; at + 16 <= to; at += 16) count += popcnt(i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(0x0d))));
  for (; at < to; at++) if (load<u8>(at) == 0x0d) count++;
  return count;
}
