// Finds API keys and private keys by their prefixes. What follows a prefix is its tail. The patterns are in `datasets/keyPatterns.ts`;
// `datasets/scanner.ts` writes them into this memory before the first file.
import { isAlphanumeric, isDigit, isExampleWord, isLetter, isWord } from './characters';
import { MAX_PATTERNS } from './codes';
import { beginsWord, readBack, readCharacter } from './escapes';
import { LAST_TAILS, search, TAIL_BYTES } from './search';
import { hexByte } from './strings';

/** Bytes of a pattern: length of the prefix, offset of the rare bytes, length and kind of the tail, code, next pattern, is rare; prefix. */
const PATTERN_BYTES: u32 = 48;
const PREFIX_OFFSET = 8;
/** A hash table. For each hash of three rare bytes, the number of the first pattern, or 0; then the patterns, numbered from 1. */
const HEADS = 256;
export const PATTERNS: usize = memory.data(HEADS + MAX_PATTERNS * PATTERN_BYTES, 16);
/** For the lower and upper half of each of the three rare bytes: the buckets of patterns that its value allows. Six tables of 16. */
export const ANCHORS: usize = memory.data(96, 16);

// Kinds of tails.
const TAIL_WORD = 0;
const TAIL_ALPHANUMERIC = 1;
const TAIL_UPPER = 2;
const TAIL_BASE64 = 3;
const TAIL_VALUE = 4;
const TAIL_TOKEN = 5;
const TAIL_LINES = 6;
const TAIL_DOTTED = 7;
const TAIL_ANY = 8;
const TAIL_HEADER = 9;
const TAIL_ROUTED = 10;

/** A tail looks random with so many letters and digits in a row: some of each, or letters that change case often. */
const MIN_RANDOM: usize = 12;
const LETTERS_PER_CHANGE: usize = 3;
/**
 * Or with as many in all, and a jump for every so many of them. A jump is a change of kind: digits, upper or lower case. As in
 * names, upper to lower case isn't one. Tails of upper case letters and digits need so many different ones.
 */
const CHARACTERS_PER_JUMP: u32 = 3;
const CHARACTERS_PER_JUMP_IF_RARE: u32 = 9;
const MIN_DIFFERENT: u32 = 8;
/** secretaccess */
const SECRET_ACCESS: usize = memory.data<u8>([115, 101, 99, 114, 101, 116, 97, 99, 99, 101, 115, 115]);
const SECRET: usize = 6;
/** The keys of AWS that have a secret, and its length. */
const AKIA: u32 = 0x41494b41;
const ASIA: u32 = 0x41495341;
const SECRET_LENGTH: usize = 40;
/** Maximum distance between the header of a private key and its first line. */
const MAX_HEADER: usize = 512;
/** Maximum length of the label between `BEGIN` and `PRIVATE KEY`. */
const MAX_LABEL: usize = 32;
/** So many bytes are searched for the word "example": a tail can be long and contain many prefixes. */
const MAX_EXAMPLE: usize = 128;
/** Minimum lengths of each part of a token, such as `{"a":1}` in base64, and of its signature. */
const MIN_PART: usize = 10;
const MIN_SIGNATURE: usize = 16;

/** Returns the end of a key whose rare bytes are at `anchor`, or 0 if there is none. */
export function findKey(anchor: usize): usize {
  const hash = ((load<u32>(anchor) & 0xffffff) * <u32>0x9e3779b1) >> 24;
  for (let number = <u32>load<u8>(PATTERNS + hash); number != 0;) {
    const pattern = PATTERNS + HEADS + (number - 1) * PATTERN_BYTES;
    const end = matchPattern(anchor, pattern);
    if (end != 0) {
      search.foundCode = load<u8>(pattern, 4);
      return end;
    }
    number = load<u8>(pattern, 5);
  }
  return 0;
}

function matchPattern(anchor: usize, pattern: usize): usize {
  const prefixLength = <usize>load<u8>(pattern);
  const start = anchor - load<u8>(pattern, 1);
  let tail = start;
  for (let index: usize = 0; index < prefixLength; index++) {
    tail = readCharacter(tail);
    if (search.character != load<u8>(pattern + index, PREFIX_OFFSET)) return 0;
  }
  const length = <usize>load<u8>(pattern, 2);
  const kind = <u32>load<u8>(pattern, 3);
  if (kind == TAIL_VALUE) {
    const isNamed = isSecretName(start + 2, SECRET) || isSecretName(start + 2, 2 * SECRET);
    return isNamed ? matchValue(tail, length, false) : 0;
  }
  if (kind == TAIL_LINES || kind == TAIL_HEADER) {
    const header = kind == TAIL_LINES ? tail : endOfLabel(tail);
    if (header == 0 || !hasLine(header, length)) return 0;
    search.keyStart = start;
    return header;
  }
  if (!beginsWord(start)) return 0;
  readTail(tail, kind == TAIL_TOKEN ? TAIL_DOTTED : kind == TAIL_ROUTED ? TAIL_WORD : kind);
  if (!isRandom(tail, length, load<u8>(pattern, 6) != 0) || isExample(start, search.tailEnd)) return 0;
  if (kind == TAIL_TOKEN && !isToken(start, search.tailEnd)) return 0;
  search.keyStart = start;
  return kind == TAIL_ROUTED ? endOfRoute(search.tailEnd) : search.tailEnd;
}

/** Whether the first letters of `secretaccess` end at `end`, in any case, perhaps with `_`, `-` and `.` between them. */
function isSecretName(end: usize, length: usize): bool {
  let at = end;
  for (let left = length; left > 0;) {
    at = readBack(at);
    const character = search.character;
    if ((character | 0x20) == load<u8>(SECRET_ACCESS + left - 1)) left--;
    else if (character != 0x5f && character != 0x2d && character != 0x2e) return false;
  }
  return true;
}

/** Returns the end of the secret that follows a key of AWS, as in a table of its console, or 0. */
export function endOfSecret(from: usize): usize {
  const prefix = load<u32>(search.keyStart);
  return prefix == AKIA || prefix == ASIA ? matchValue(from, SECRET_LENGTH, true) : 0;
}

/** Returns the end of a value of this length whose name ends at `from`, or 0. @param isInTable whether `,`, `;` and `|` may separate them */
function matchValue(from: usize, length: usize, isInTable: bool): usize {
  let at = from;
  while (load<u8>(at) != 0x0a) {
    let end = readCharacter(at);
    const character = search.character;
    // A byte such as `%3D`, or the color of a terminal.
    if (character == 0x25 && hexByte(end) <= 0xff) end += 2;
    else if (character == 0x1b || character == 0x9b) {
      while (<u32>load<u8>(end) - 0x30 < 12 || load<u8>(end) == 0x5b) end++;
      if (isLetter(load<u8>(end))) end++;
    } else if (!isBetween(character)) {
      if (!isInTable || (character != 0x2c && character != 0x3b && character != 0x7c)) break;
    }
    at = end;
  }
  if (at == from) return 0;
  readTail(at, TAIL_BASE64);
  // `=3D` is a `=` in quoted-printable text.
  if (hexByte(at) == 0x3d && afterCharacters(at, length) != search.tailEnd) at += 2;
  if (
    !isRandom(at, length, true) ||
    afterCharacters(at, length) != search.tailEnd ||
    isExample(at, search.tailEnd)
  )
    return 0;
  search.keyStart = at;
  return search.tailEnd;
}

/** Returns the end of the first `PRIVATE KEY` in the label of a header, or 0. */
function endOfLabel(from: usize): usize {
  for (let at = from; at < from + MAX_LABEL; at++) {
    if (load<u64>(at) == 0x2045544156495250 && load<u32>(at, 7) == 0x59454b20) return at + 11;
    if (load<u8>(at) != 0x20 && !isOfTail(load<u8>(at), TAIL_UPPER)) return 0;
  }
  return 0;
}

/** Returns the end of a GitLab token. A routable one continues with two or nine letters and digits after a dot, once or twice. */
function endOfRoute(from: usize): usize {
  let at = from;
  while (load<u8>(at) == 0x2e) {
    let end = at + 1;
    while (isAlphanumeric(load<u8>(end))) end++;
    const length = end - at - 1;
    if (length != 2 && length != 9) break;
    at = end;
  }
  return at;
}

/** Whether a character may be between a name and its value: quotes, backslashes, `]`, `=`, `:`, `>`, white space. */
function isBetween(character: u32): bool {
  if (character == 0x22 || character == 0x27 || character == 0x60) return true;
  if (character == 0x5c || character == 0x5d) return true;
  if (character == 0x09 || character == 0x0a || character == 0x20) return true;
  return character == 0x3d || character == 0x3a || character == 0x3e;
}

/** Whether a line of a private key follows its header. A header alone, or with `...` after it, isn't a key. */
function hasLine(from: usize, length: usize): bool {
  // Don't search again: a text can consist of headers.
  const isSearched = from >= search.searchedFrom && from < search.searchedTo;
  let at = isSearched ? search.searchedTo : from;
  if (!isSearched) search.searchedFrom = from;
  let isFound = false;
  while (at < from + MAX_HEADER) {
    const character = <u32>load<u8>(at);
    // The end of the row, or `-----E`, or `---- E`.
    if (character == 0x0a) break;
    if (load<u32>(at) == 0x2d2d2d2d && (load<u16>(at, 4) == 0x452d || load<u16>(at, 4) == 0x4520)) break;
    const end = readCharacter(at);
    if (isOfTail(search.character, TAIL_BASE64)) {
      readTail(at, TAIL_BASE64);
      isFound = isRandom(at, length, false);
      if (isFound) break;
      at = search.tailEnd;
    } else at = end;
  }
  search.searchedTo = at;
  return isFound;
}

/** Whether the last tail has this length from `from` on, and looks random there. */
function isRandom(from: usize, length: usize, isRare: bool): bool {
  const isMixed = search.perJump <= (isRare ? CHARACTERS_PER_JUMP_IF_RARE : CHARACTERS_PER_JUMP);
  if (search.randomEnd < from + MIN_RANDOM && !isMixed) return false;
  return afterCharacters(from, length) <= search.tailEnd;
}

/** Returns the end of this many characters of a tail, or an address after it if it has fewer. */
function afterCharacters(from: usize, length: usize): usize {
  let at = from;
  for (let left = length; left > 0; left--) at = at < search.tailEnd ? readCharacter(at) : search.tailEnd + 1;
  return at;
}

/** Whether it says that it is an example, as `AKIAIOSFODNN7EXAMPLE` in AWS's documentation. */
function isExample(from: usize, to: usize): bool {
  const end = min(to, from + MAX_EXAMPLE);
  for (let at = from; at + 7 <= end; at++) if (isExampleWord(at)) return true;
  return false;
}

/** Whether a JSON Web Token (RFC 7519) begins at `from`: two objects and a signature. */
function isToken(from: usize, to: usize): bool {
  const payload = endOfPart(from, to);
  if (payload == 0 || (load<u32>(payload) & 0xffffff) != 0x4a7965) return false;
  const signature = endOfPart(payload, to);
  if (signature == 0 || to - signature < MIN_SIGNATURE) return false;
  // The example in most documentation: `{"sub":"1234567890"`.
  return load<u64>(payload) != 0x694957647a4a7965 || load<u64>(payload, 8) != 0x304d6a4d7849694f;
}

/** Returns the address after a part of a token and its dot, or 0 if the part is too short or the last one. */
function endOfPart(from: usize, to: usize): usize {
  let at = from;
  while (at < to && load<u8>(at) != 0x2e) at++;
  return at == to || at - from < MIN_PART ? 0 : at + 1;
}

/**
 * Reads the tail of a key. The last tail of each kind is remembered and not read again, because a text could have a prefix at every
 * fourth character.
 */
function readTail(from: usize, kind: u32): void {
  const last = LAST_TAILS + <usize>kind * TAIL_BYTES;
  search.tailEnd = <usize>load<u32>(last, 4);
  search.randomEnd = <usize>load<u32>(last, 8);
  search.perJump = load<u32>(last, 12);
  if (from >= <usize>load<u32>(last) && from < search.tailEnd) return;
  search.randomEnd = 0;
  // Letters, digits and changes of case in a row; then counts of the entire tail.
  let letters: usize = 0;
  let digits: usize = 0;
  let changes: usize = 0;
  let all: u32 = 0;
  let jumps: u32 = 0;
  let different: u32 = 0;
  let before: u32 = 0;
  let at = from;
  while (true) {
    const end = readCharacter(at);
    const character = search.character;
    if (!isOfTail(character, kind)) break;
    at = end;
    if (isAlphanumeric(character)) {
      all++;
      different |= 1 << (character & 31);
      if (letters + digits > 0 && isJump(before, character)) jumps++;
    }
    if (isDigit(character)) digits++;
    else if (isLetter(character)) {
      letters++;
      // Upper and lower case differ by one bit.
      if (letters > 1 && ((character ^ before) & 0x20) != 0) changes++;
    } else letters = digits = changes = 0;
    before = character;
    const isSome = digits > 0 || changes * LETTERS_PER_CHANGE >= letters;
    if (letters + digits >= MIN_RANDOM && letters > 0 && isSome) search.randomEnd = at;
  }
  if (kind == TAIL_UPPER) jumps = popcnt(different) < MIN_DIFFERENT ? 0 : all;
  search.perJump = all < <u32>MIN_RANDOM || jumps == 0 ? u32.MAX_VALUE : all / jumps;
  search.tailEnd = at;
  store<u32>(last, <u32>from);
  store<u32>(last, <u32>at, 4);
  store<u32>(last, <u32>search.randomEnd, 8);
  store<u32>(last, search.perJump, 12);
}

/** Whether two characters are of different kinds: upper case, lower case, digits. A lower case letter may follow an upper case one. */
function isJump(before: u32, character: u32): bool {
  // Like digits, lower case letters have a bit that upper case letters don't have.
  return isDigit(before) != isDigit(character) || (before & ~character & 0x20) != 0;
}

function isOfTail(character: u32, kind: u32): bool {
  if (kind == TAIL_ALPHANUMERIC) return isAlphanumeric(character);
  if (kind == TAIL_UPPER) return isDigit(character) || character - 0x41 < 26;
  // + / =
  const isBase64 = isAlphanumeric(character) || character == 0x2b || character == 0x2f || character == 0x3d;
  if (kind == TAIL_BASE64) return isBase64;
  // All of these, and `%`.
  if (kind == TAIL_ANY) return isBase64 || isWord(character) || character == 0x25;
  // In code, what follows a dot is another name.
  return isWord(character) || (kind == TAIL_DOTTED && character == 0x2e);
}
