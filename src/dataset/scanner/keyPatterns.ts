// API keys and private keys, by what they begin with. The patterns themselves are written in `dataset/keyPatterns.ts`, which puts
// them here before the first file.
import { beginsWord, isAlphanumeric, isDigit, isWord } from './characters';

/** Bytes of a pattern: lengths and kinds (below), then what it begins with. */
const PATTERN_BYTES: u32 = 48;
const PREFIX_OFFSET = 8;
const MAX_PATTERNS = 32;
export const PATTERNS: usize = memory.data(MAX_PATTERNS * PATTERN_BYTES, 16);
/** For each of three bytes, which buckets its lower and its upper half can be of: six tables of sixteen. */
export const ANCHORS: usize = memory.data(96, 16);

// What may follow the beginning.
const TAIL_ALPHANUMERIC = 1;
const TAIL_UPPER = 2;
const TAIL_BASE64 = 3;

/** Where the key begins that was found last, and as what it is told. */
export let keyStart: usize = 0;
export let foundCode: i32 = 0;

/** The end of a key of one of the buckets whose rare bytes stand at `anchor`, 0 if there is none. */
export function findKey(anchor: usize, buckets: u32): usize {
  for (let index = 0; index < MAX_PATTERNS; index++) {
    const pattern = PATTERNS + index * PATTERN_BYTES;
    if ((load<u8>(pattern, 6) & buckets) == 0) continue;
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
  const end = endOfTail(start + prefixLength, load<u8>(pattern, 3), load<u8>(pattern, 4) != 0);
  if (end - start - prefixLength < minTail) return 0;
  if (minTail > 0 && !beginsWord(start)) return 0;
  keyStart = start;
  foundCode = load<u8>(pattern, 5);
  return minTail == 0 ? start + prefixLength : end;
}

/** Where the characters end that a key may have; where a digit has to be among them and is not, there are none. */
function endOfTail(from: usize, kind: u32, needsDigit: bool): usize {
  let hasDigit = !needsDigit;
  let at = from;
  while (isOfTail(load<u8>(at), kind)) {
    if (isDigit(load<u8>(at))) hasDigit = true;
    at++;
  }
  return hasDigit ? at : from;
}

function isOfTail(character: u32, kind: u32): bool {
  if (kind == TAIL_ALPHANUMERIC) return isAlphanumeric(character);
  if (kind == TAIL_UPPER) return isDigit(character) || character - 0x41 < 26;
  // + / =
  if (kind == TAIL_BASE64)
    return isAlphanumeric(character) || character == 0x2b || character == 0x2f || character == 0x3d;
  return isWord(character) || character == 0x2e;
}
