// What a search for secrets in some rows keeps.

@unmanaged
class Search {
  /** The character that was read last; a line feed for every short escape of white space (`escapes.ts`). */
  character: u32;
  /** The rows that are searched: their number, that of the last secret, and one more than that whose places began. */
  rows: u32;
  row: u32;
  begun: u32;
  /** The key found last: where it is, and its code; matches that begin inside it are part of it. */
  keyStart: usize;
  keyEnd: usize;
  foundCode: i32;
  /** The start of the password found last, which ends at its `@`; 0 if it is a placeholder. */
  passwordStart: usize;
  /** The start of the email address found last. */
  emailStart: usize;
  /** The end of the digits that were searched for card numbers. */
  digitsEnd: usize;
  /** The last tail: its end, the end of its last letters and digits that look random, and how many of them have one jump. */
  tailEnd: usize;
  randomEnd: usize;
  perJump: u32;
  /** Where a line of a private key was searched for: it begins at the end, or nowhere before. */
  searchedFrom: usize;
  searchedTo: usize;
}
/** What follows the prefixes of keys: kinds, and for the last one of each its start and what is known of it, each a u32. */
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
