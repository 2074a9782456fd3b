// The state of a search for secrets.

@unmanaged
class Search {
  /** The character that was read last; a line feed for every short escape of white space (`escapes.ts`). */
  character: u32;
  /** How many rows are searched; the row of the last secret; one more than the row for which places were begun. */
  rows: u32;
  row: u32;
  begun: u32;
  /** The last key: where it is, and its code. Matches that begin inside it are part of it. */
  keyStart: usize;
  keyEnd: usize;
  foundCode: i32;
  /** The start of the last password, which ends at its `@`; 0 if it is a placeholder. */
  passwordStart: usize;
  /** The start of the last email address. */
  emailStart: usize;
  /** The end of the digits that were searched for card numbers. */
  digitsEnd: usize;
  /** The last tail: its end, the end of its last characters that look random, and how many characters it has for each jump. */
  tailEnd: usize;
  randomEnd: usize;
  perJump: u32;
  /** The range in which a line of a private key was searched for. None begins before its end. */
  searchedFrom: usize;
  searchedTo: usize;
}
/** The last tail of each kind: its start and the three values above, each a u32. */
export const TAIL_KINDS = 9;
export const TAIL_BYTES = 16;
const SEARCH_BYTES: usize = offsetof<Search>() + TAIL_KINDS * TAIL_BYTES;
const SEARCH: usize = memory.data(SEARCH_BYTES, 16);
export const search = changetype<Search>(SEARCH);
export const LAST_TAILS: usize = SEARCH + offsetof<Search>();

/** Begins to search this many rows, which were just checked. */
export function beginSearch(rows: u32): void {
  memory.fill(SEARCH, 0, SEARCH_BYTES);
  search.rows = rows;
}
