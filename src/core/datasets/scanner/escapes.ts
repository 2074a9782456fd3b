// Reads characters in JSON strings. An escape counts as the character that it stands for. Since a text can itself be JSON, an escape may
// have any number of backslashes.
import { isAlphanumeric, isLetter, isWord } from './characters';
import { search } from './search';
import { hexByte, hexUnit } from './strings';

const BACKSLASH: u32 = 0x5c;
const LETTER_U: u32 = 0x75;

/** Reads the character at `at`, and returns its end. */
export function readCharacter(at: usize): usize {
  const character = <u32>load<u8>(at);
  search.character = character;
  if (character >= 0x80) return readLatin(at) ? at + 2 : at + 1;
  if (character != BACKSLASH) return at + 1;
  let end = at + 1;
  while (load<u8>(end) == BACKSLASH) end++;
  const letter = <u32>load<u8>(end);
  if (letter == LETTER_U) {
    const unit = hexUnit(end + 1);
    if (unit > 0xffff) return end;
    search.character = unit;
    return end + 5;
  }
  if (!isEscapable(letter)) return end;
  search.character = isAlphanumeric(letter) ? 0x0a : letter;
  return end + 1;
}

/** Reads the character that ends at `at`, and returns its start. */
export function readBack(at: usize): usize {
  const character = <u32>load<u8>(at - 1);
  search.character = character;
  if (character >= 0x80) return readLatin(at - 2) ? at - 2 : at - 1;
  let start = at - 1;
  if (load<u8>(at - 2) == BACKSLASH && isEscapable(character)) {
    if (isAlphanumeric(character)) search.character = 0x0a;
  } else {
    const unit = load<u8>(at - 5) == LETTER_U && load<u8>(at - 6) == BACKSLASH ? hexUnit(at - 4) : 0x10000;
    if (unit > 0xffff) return start;
    search.character = unit;
    start = at - 5;
  }
  while (load<u8>(start - 1) == BACKSLASH) start--;
  return start;
}

/** Whether a backslash before this character makes an escape: of white space, or of punctuation, as in `\/` and `\"`. */
function isEscapable(character: u32): bool {
  if (character == 0x62 || character == 0x66 || character == 0x6e || character == 0x72 || character == 0x74)
    return true;
  return character > 0x20 && character < 0x7f && !isAlphanumeric(character) && character != BACKSLASH;
}

/** Reads a character of two bytes. Returns false if there is none. */
function readLatin(at: usize): bool {
  const first = <u32>load<u8>(at);
  const second = <u32>load<u8>(at, 1);
  if (first < 0xc2 || first >= 0xe0 || (second & 0xc0) != 0x80) return false;
  search.character = ((first & 0x1f) << 6) | (second & 0x3f);
  return true;
}

/** Whether it is a Latin letter, perhaps with an accent, or an accent. */
export function isLatinLetter(character: u32): bool {
  if (character < 0x80) return isLetter(character);
  if (character >= 0xc0 && character < 0x250) return character != 0xd7 && character != 0xf7;
  // Combining accents.
  return character >= 0x300 && character < 0x370;
}

/** Whether a word can begin at `at`. */
export function beginsWord(at: usize): bool {
  readBack(at);
  return !isWord(search.character) || followsEscape(at);
}

/** Whether an escaped byte or a terminal's color code ends before `at`. Its last character looks like part of a word, but isn't. */
export function followsEscape(at: usize): bool {
  if (isByte(at - 2)) return true;
  let start = at - 1;
  if (!isLetter(load<u8>(start))) return false;
  // Digits, `:` and `;`, as in `ESC[1;31m`. The ESC may be lost, or ESC and `[` may be one character.
  while (<u32>load<u8>(start - 1) - 0x30 < 12) start--;
  if (load<u8>(start - 1) == 0x5b) return true;
  if (isByte(start - 2)) search.character = hexByte(start - 2);
  else readBack(start);
  return search.character == 0x9b || search.character == 0x5b;
}

/** Whether hexadecimal digits at `at` stand for a byte that isn't part of a word: `%3D`, `%253D`, `=3D` or, in code, `\x3d`. */
function isByte(at: usize): bool {
  if (isWord(hexByte(at)) || hexByte(at) > 0xff) return false;
  // The `%` can itself be escaped, as `%25`.
  let sign = at;
  while (true) {
    readBack(sign);
    if (search.character == 0x25 || search.character == 0x3d || load<u16>(sign - 2) == 0x785c) return true;
    if (load<u16>(sign - 2) != 0x3532) return false;
    sign -= 2;
  }
}

/** Returns the end of an escape such as `\u00e9` or `%20` that contains `at` or ends there, or 0. Its digits aren't part of a number. */
export function endOfEscape(at: usize): usize {
  // A number can follow a `=`, but no card number begins with 20 or less.
  for (let byte = at - 1; byte <= at; byte++)
    if (isByte(byte) && (load<u8>(byte - 1) != 0x3d || hexByte(byte) <= 0x20)) return byte + 2;
  for (let back: usize = 1; back <= 6; back++)
    if (load<u8>(at - back + 1) == LETTER_U && load<u8>(at - back) == BACKSLASH)
      return hexUnit(at - back + 2) > 0xffff ? 0 : at - back + 6;
  return 0;
}
