// Finds API keys and private keys by their prefixes. The patterns are in `datasets/scanner.ts`, which writes
// them into this memory before the first file.
import { beginsWord, isAlphanumeric, isDigit, isWord } from './characters';

/** Bytes of a pattern: prefix length, offset of the rare bytes, minimum length and kind of the tail, code, bucket; prefix. */
const PATTERN_BYTES: u32 = 48;
const PREFIX_OFFSET = 8;
const MAX_PATTERNS = 32;
export const PATTERNS: usize = memory.data(MAX_PATTERNS * PATTERN_BYTES, 16);
/** For each of the three rare bytes, the buckets that its lower and its upper half allow: six tables of 16. */
export const ANCHORS: usize = memory.data(96, 16);

// Which characters may follow the prefix.
const TAIL_ALPHANUMERIC = 1;
const TAIL_UPPER = 2;
const TAIL_BASE64 = 3;

/** A key has this many letters and digits in a row: some of each, or letters that change case more often than a name's. */
const MIN_RANDOM: usize = 12;
const LETTERS_PER_CHANGE: usize = 3;

/** The last result of `readTail`: start and end, and the end of the last letters and digits that look random. */
let tailKind: u32 = 0;
let tailFrom: usize = 0;
let tailEnd: usize = 0;
let randomEnd: usize = 0;

/** Resets the search for another piece of the file. */
export function forgetTail(): void {
  tailFrom = tailEnd = 0;
}

/** The start and the code of the key found last. */
export let keyStart: usize = 0;
export let foundCode: i32 = 0;

/** Returns the end of a key of one of the buckets whose rare bytes are at `anchor`, or 0 if there is none. */
export function findKey(anchor: usize, buckets: u32): usize {
  for (let index = 0; index < MAX_PATTERNS; index++) {
    const pattern = PATTERNS + index * PATTERN_BYTES;
    if ((load<u8>(pattern, 5) & buckets) == 0) continue;
    const end = matchPattern(anchor, pattern);
    if (end != 0) return end;
  }
  return 0;
}

function matchPattern(anchor: usize, pattern: usize): usize {
  const prefixLength = <usize>load<u8>(pattern);
  if (prefixLength == 0) return 0;
  const start = anchor - load<u8>(pattern, 1);
  for (let at: usize = 0; at < prefixLength; at++)
    if (load<u8>(start + at) != load<u8>(pattern + at, PREFIX_OFFSET)) return 0;
  const minTail = <usize>load<u8>(pattern, 2);
  const tail = start + prefixLength;
  if (minTail > 0) {
    if (!beginsWord(start)) return 0;
    readTail(tail, load<u8>(pattern, 3));
    if (tailEnd - tail < minTail || randomEnd < tail + MIN_RANDOM) return 0;
  }
  keyStart = start;
  foundCode = load<u8>(pattern, 4);
  return minTail == 0 ? tail : tailEnd;
}

/**
 * Reads the characters of a key after its prefix. Does not read the last tail again, because a text could
 * have a prefix at every fourth character.
 */
function readTail(from: usize, kind: u32): void {
  if (kind == tailKind && from >= tailFrom && from < tailEnd) return;
  tailKind = kind;
  tailFrom = from;
  randomEnd = 0;
  let letters: usize = 0;
  let digits: usize = 0;
  let changes: usize = 0;
  let at = from;
  for (; isOfTail(load<u8>(at), kind); at++) {
    const character = <u32>load<u8>(at);
    if (isDigit(character)) digits++;
    else if (isAlphanumeric(character)) {
      letters++;
      // Upper and lower case differ by one bit.
      if (letters > 1 && ((character ^ load<u8>(at - 1)) & 0x20) != 0) changes++;
    } else letters = digits = changes = 0;
    const isMixed = digits > 0 || changes * LETTERS_PER_CHANGE >= letters;
    if (letters + digits >= MIN_RANDOM && letters > 0 && isMixed) randomEnd = at + 1;
  }
  tailEnd = at;
}

function isOfTail(character: u32, kind: u32): bool {
  if (kind == TAIL_ALPHANUMERIC) return isAlphanumeric(character);
  if (kind == TAIL_UPPER) return isDigit(character) || character - 0x41 < 26;
  // + / =
  if (kind == TAIL_BASE64)
    return isAlphanumeric(character) || character == 0x2b || character == 0x2f || character == 0x3d;
  return isWord(character) || character == 0x2e;
}
