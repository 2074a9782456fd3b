// Payment card numbers: 13 to 19 digits, together or grouped as on cards. They have the prefix of a large network (ISO/IEC 7812) and a
// valid check digit (Luhn).
import { clear } from './buffers';
import { isAlphanumeric, isDigit } from './characters';
import { CARD_NUMBER } from './codes';
import { endOfEscape, followsEscape, readBack, readCharacter } from './escapes';
import { reportSecret } from './found';
import { search } from './search';

const MIN_DIGITS: usize = 13;
const MAX_DIGITS: usize = 19;
/** The digits of a candidate, without the separators. */
const DIGITS: usize = memory.data(32);

/** How far before a number to look for the beginning of an array. */
const MAX_BEFORE: usize = 256;

/** The start and length of the last four groups of digits, newest last. */
const GROUPS: usize = memory.data(4 * 8, 4);

/** Searches all digits in `from..to`, and digits adjacent on both sides. */
export function takeDigits(from: usize, to: usize, start: usize): void {
  let at = max(from, search.digitsEnd);
  const first = max(start, search.digitsEnd);
  while (at > first && (isDigit(load<u8>(at - 1)) || (isSeparator(at - 1) && isDigit(load<u8>(at - 2)))))
    at--;
  while (at < to) {
    if (isDigit(load<u8>(at))) at = takeRun(at);
    else at++;
  }
  search.digitsEnd = max(search.digitsEnd, at);
}

/** Adds a group and drops the oldest one. */
function addGroup(from: u32, length: u32): void {
  for (let index: usize = 0; index < 3; index++)
    store<u64>(GROUPS + (index << 3), load<u64>(GROUPS + ((index + 1) << 3)));
  store<u32>(GROUPS, from, 24);
  store<u32>(GROUPS, length, 28);
}

function isSeparator(at: usize): bool {
  const character = load<u8>(at);
  return character == 0x20 || character == 0x2d;
}

/** Searches groups of digits joined by single separators, and returns their end. */
function takeRun(from: usize): usize {
  clear(GROUPS, 32);
  let at = from;
  for (let end = endOfEscape(at); end > at; end = endOfEscape(at)) at = end;
  if (!isDigit(load<u8>(at))) return at;
  while (true) {
    const group = at;
    while (isDigit(load<u8>(at))) at++;
    addGroup(<u32>group, <u32>(at - group));
    if (!isPartOfWord(at)) takeGroups(at);
    if (!isSeparator(at) || !isDigit(load<u8>(at + 1))) return at;
    at++;
  }
}

/** True if the digits continue as a word or a decimal number. */
function isPartOfWord(end: usize): bool {
  const character = <u32>load<u8>(end);
  return isAlphanumeric(character) || (character == 0x2e && isDigit(load<u8>(end + 1)));
}

/**
 * Reports a card number that ends with the newest group: 4-4-4-4, 4-6-5 or 4-6-4 digits, or a single group. All separators are the
 * same. If another group of four digits adjoins, it is a list.
 */
function takeGroups(end: usize): void {
  const a = length(0);
  const b = length(1);
  const c = length(2);
  const d = length(3);
  if (d >= MIN_DIGITS && d <= MAX_DIGITS) takeCard(start(3), end);
  else if (a == 4 && b == 4 && c == 4 && d == 4) takeGrouped(0, end);
  else if (b == 4 && c == 6 && (d == 5 || d == 4)) takeGrouped(1, end);
}

function takeGrouped(first: usize, end: usize): void {
  const separator = load<u8>(start(3) - 1);
  for (let group = first + 1; group < 3; group++) if (load<u8>(start(group) - 1) != separator) return;
  const from = start(first);
  if (load<u8>(from - 1) == separator && areDigits(from - 5)) return;
  if (load<u8>(end) != separator || !areDigits(end + 1)) takeCard(from, end);
}

function areDigits(at: usize): bool {
  for (let index: usize = 0; index < 4; index++) if (!isDigit(load<u8>(at + index))) return false;
  return true;
}

function start(group: usize): usize {
  return load<u32>(GROUPS + (group << 3));
}

function length(group: usize): usize {
  return load<u32>(GROUPS + (group << 3), 4);
}

function takeCard(from: usize, to: usize): void {
  if (continuesWord(from)) return;
  let count: usize = 0;
  for (let at = from; at < to; at++) {
    if (isDigit(load<u8>(at))) store<u8>(DIGITS + count++, load<u8>(at) - 0x30);
  }
  if (isOfNetwork(count) && hasCheckDigit(count) && !isInArray(from, to)) reportSecret(CARD_NUMBER, from, to);
}

/** Whether a number is one of several in an array such as `[1, 2]` or `{1, 2}`. In a long array, only the last numbers are read. */
function isInArray(from: usize, to: usize): bool {
  // Only numbers, commas and white space may be between the bracket and this number.
  let at = from;
  let isFirst = true;
  let isSpaced = false;
  while (from - at < MAX_BEFORE) {
    at = readBack(at);
    // The start of the row.
    if (load<u8>(at) == 0x0a) return false;
    const character = search.character;
    if (character == 0x5b || character == 0x7b) return !isFirst || isListed(to);
    if (character == 0x2c) isFirst = isSpaced = false;
    else if (character == 0x20 || character == 0x0a || character == 0x09) isSpaced = true;
    // + - . e
    else if (isSpaced || !(isDigit(character) || character - 0x2b < 4 || (character | 0x20) == 0x65))
      return false;
  }
  return true;
}

/** Whether a comma and another number follow. */
function isListed(to: usize): bool {
  let at = readCharacter(to);
  if (search.character != 0x2c) return false;
  do {
    at = readCharacter(at);
  } while (search.character == 0x20 || search.character == 0x0a);
  return isDigit(search.character) || search.character == 0x2d;
}

/** True if a word or a decimal number ends before `from`, but not if an escape does. */
function continuesWord(from: usize): bool {
  if (load<u8>(from - 1) == 0x2e) return isDigit(load<u8>(from - 2));
  readBack(from);
  return (isAlphanumeric(search.character) || search.character == 0x5f) && !followsEscape(from);
}

/** Checks prefix and length: Visa, Mastercard, American Express, Discover, Diners Club, JCB. */
function isOfNetwork(count: usize): bool {
  const two = <u32>load<u8>(DIGITS) * 10 + load<u8>(DIGITS, 1);
  const four = two * 100 + <u32>load<u8>(DIGITS, 2) * 10 + load<u8>(DIGITS, 3);
  if (two / 10 == 4) return count == 13 || count == 16 || count == 19;
  if (two == 34 || two == 37) return count == 15;
  if (two == 36 || two == 38 || (four >= 3000 && four <= 3059)) return count == 14;
  if ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720)) return count == 16;
  return count == 16 && (four == 6011 || two == 65 || two == 35);
}

function hasCheckDigit(count: usize): bool {
  let sum: u32 = 0;
  for (let index: usize = 0; index < count; index++) {
    let digit = <u32>load<u8>(DIGITS + count - 1 - index);
    if (index & 1) digit = digit > 4 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 == 0;
}
