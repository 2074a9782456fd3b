// The layout of the scanner's memory: fixed regions, then the input. Nothing is allocated or freed during a scan.

/** Maximum rows scanned per call. */
export const MAX_ROWS: u32 = 65536;
/** Maximum places reported per call. */
export const MAX_PLACES: u32 = 32768;
/** Places reserved for secrets, which are searched for after the rows are checked. */
export const PLACES_FOR_SECRETS: u32 = 20480;
/** Size of a reported place: code, row, lone CRs before it, offset, column, length; each a u32. */
export const PLACE_BYTES: u32 = 24;
/** Maximum distance of a load before the start or beyond the end of the input. */
export const PADDING = 64;

/** The offset of each row in the input, as a u32. */
export const ROW_STARTS: usize = memory.data(MAX_ROWS * 4);
/** The hash of each row, as a u64; 0 if it can't be a duplicate. */
export const ROW_HASHES: usize = memory.data(MAX_ROWS * 8, 8);
/** The hash of each row's prompt and of its answer, as a u64 each; 0 if it has none (`prompts.ts`). */
export const PROMPT_HASHES: usize = memory.data(MAX_ROWS * 8, 8);
export const ANSWER_HASHES: usize = memory.data(MAX_ROWS * 8, 8);
/** What each row is, as bits in a u16 (`codes.ts`). */
export const ROW_FLAGS: usize = memory.data(MAX_ROWS * 2, 2);
/** The number of lone CRs before each row and after the last one, as a u32. */
export const ROW_BREAKS: usize = memory.data((MAX_ROWS + 1) * 4, 4);
export const PLACES: usize = memory.data(MAX_PLACES * PLACE_BYTES, 8);

/** Returns the address of the input. Zeros precede it, for loads before the input. */
export function inputStart(): usize {
  return (__heap_base + PADDING + 63) & ~63;
}

/** Makes room for an input of this size; returns false if the memory can't grow. */
export function reserve(bytes: usize): bool {
  const needed = inputStart() + bytes + PADDING;
  const pages = <i32>((needed + 65535) >> 16);
  const missing = pages - memory.size();
  return missing <= 0 || memory.grow(missing) >= 0;
}
