// The layout of the scanner's memory: fixed regions, then the input. Nothing is allocated or freed during a scan. All state is in
// structs in such regions, which are set to zeros to begin again.
import { FORMAT_COUNT, PLACE_CODE_COUNT, ROLE_COUNT, UNTRAINABLE_COUNT } from './codes';

/** Maximum rows scanned per call. */
export const SCAN_ROWS: u32 = 65536;
/** Maximum places reported per call. */
export const MAX_PLACES: u32 = 32768;
/** Places reserved for secrets, which are searched for after the rows are checked. */
export const PLACES_FOR_SECRETS: u32 = 20480;
/** Size of a reported place: code, row, lone CRs before it, offset, column, length; each a u32. */
export const PLACE_BYTES: u32 = 24;
/** Maximum distance of a load before the start or beyond the end of the input. */
export const PADDING = 64;

/** The offset of each row in the input, as a u32. */
export const ROW_STARTS: usize = memory.data(SCAN_ROWS * 4);
/** The hash of each row, as a u64; 0 if it can't be a duplicate. */
export const ROW_HASHES: usize = memory.data(SCAN_ROWS * 8, 8);
/** The hash of each row's prompt and of its answer, as a u64 each; 0 if it has none (`prompts.ts`). */
export const PROMPT_HASHES: usize = memory.data(SCAN_ROWS * 8, 8);
export const ANSWER_HASHES: usize = memory.data(SCAN_ROWS * 8, 8);
/** What each row is, as bits in a u16 (`codes.ts`). */
export const ROW_FLAGS: usize = memory.data(SCAN_ROWS * 2, 2);
/** The number of lone CRs before each row and after the last one, as a u32. */
export const ROW_BREAKS: usize = memory.data((SCAN_ROWS + 1) * 4, 4);
export const PLACES: usize = memory.data(MAX_PLACES * PLACE_BYTES, 8);

/** The results of the last call. */
@unmanaged
class Call {
  /** All rows, and those of them that are blank. */
  rows: u32;
  blankRows: u32;
  /** Lone CRs in the rows, which end a line in the editor. */
  lineBreaks: u32;
  /** Unicode characters of the rows, including line ends. */
  characters: u32;
  places: u32;
}
export const CALL: usize = memory.data(32, 16);
export const call = changetype<Call>(CALL);

/** The counts of a file, and how it is read. */
@unmanaged
class File {
  /** Rows with a problem that is an error. */
  errorRows: u32;
  /** Turns of the longest conversation, and bytes of the longest row. */
  maxTurns: u32;
  maxLength: u32;
  /** Pairs of answers to compare whose prompt is unknown. */
  unprompted: u32;
  /** How prompts are hashed: `HASH_NONE` and so on. */
  hashing: i32;
  /** Whether the editor shows a character for each byte that is not UTF-8. */
  showsEachByte: bool;
}
const TABLES = PLACE_CODE_COUNT * 2 + FORMAT_COUNT * 2 + ROLE_COUNT + UNTRAINABLE_COUNT;
const FILE_BYTES: usize = 32 + TABLES * 4;
export const FILE: usize = memory.data(FILE_BYTES, 16);
export const file = changetype<File>(FILE);
/** How many problems each code has, and how many of them have a place; each a u32. */
export const TOTALS: usize = FILE + 32;
export const LOCATED: usize = TOTALS + PLACE_CODE_COUNT * 4;
/** Rows of each format, rows whose fields also have its types, messages of each role, rows with each reason not to train; each a u32. */
export const FORMAT_COUNTS: usize = LOCATED + PLACE_CODE_COUNT * 4;
export const TYPED_FORMATS: usize = FORMAT_COUNTS + FORMAT_COUNT * 4;
export const ROLE_COUNTS: usize = TYPED_FORMATS + FORMAT_COUNT * 4;
export const UNTRAINABLE_COUNTS: usize = ROLE_COUNTS + ROLE_COUNT * 4;

/** Begins a file. */
export function beginFile(): void {
  memory.fill(FILE, 0, FILE_BYTES);
}

/** Sets at most 160 bytes to zeros. The compiler knows how many, so this is faster than a loop or `memory.fill`. */
// prettier-ignore
export function clear(at: usize, bytes: usize): void {
  const zero = i8x16.splat(0);
  v128.store(at, zero);
  if (bytes > 16) v128.store(at, zero, 16);
  if (bytes > 32) v128.store(at, zero, 32);
  if (bytes > 48) v128.store(at, zero, 48);
  if (bytes > 64) v128.store(at, zero, 64);
  if (bytes > 80) v128.store(at, zero, 80);
  if (bytes > 96) v128.store(at, zero, 96);
  if (bytes > 112) v128.store(at, zero, 112);
  if (bytes > 128) v128.store(at, zero, 128);
  if (bytes > 144) v128.store(at, zero, 144);
}

/** Returns the address of the input. There are zeros before it, so that loads before the input are safe. */
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
