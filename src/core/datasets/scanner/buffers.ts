// The layout of the scanner's memory. Nothing is ever allocated or freed while it runs: these regions are fixed, and
// the input begins behind them.

/** Rows scanned in one call at most. */
export const MAX_ROWS: u32 = 65536;
/** Places reported in one call at most. */
export const MAX_PLACES: u32 = 32768;
/** As many of them are left for secrets, which are searched for when the rows have been judged. */
export const PLACES_FOR_SECRETS: u32 = 20480;
/** Bytes of a reported problem: code, row, line breaks inside rows before it, offset, column, length; each a u32. */
export const PLACE_BYTES: u32 = 24;
/** Loads go at most this far past the end of the input, and before its beginning. */
export const PADDING = 64;

/** Where each row begins, as a u32 from the beginning of the input. */
export const ROW_STARTS: usize = memory.data(MAX_ROWS * 4);
/** A u64 for each row; 0 for one that cannot be a duplicate. */
export const ROW_HASHES: usize = memory.data(MAX_ROWS * 8, 8);
/** For each row, and for what follows the last, the lone CRs before it, as a u32. */
export const ROW_BREAKS: usize = memory.data((MAX_ROWS + 1) * 4, 4);
export const PLACES: usize = memory.data(MAX_PLACES * PLACE_BYTES, 8);

/** First byte of the input. Zeros precede it, for reads before the input. */
export function inputStart(): usize {
  return (__heap_base + PADDING + 63) & ~63;
}

/** Makes room for an input of so many bytes; false if the machine has none. */
export function reserve(bytes: usize): bool {
  const needed = inputStart() + bytes + PADDING;
  const pages = <i32>((needed + 65535) >> 16);
  const missing = pages - memory.size();
  return missing <= 0 || memory.grow(missing) >= 0;
}
