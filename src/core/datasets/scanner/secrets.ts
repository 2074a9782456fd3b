// Finds what should not leave the machine: API keys, private keys, passwords in URLs, email addresses and card numbers. Searches all
// rows, even if they aren't JSON. A block of 16 bytes is skipped if nothing can begin in it.
import { takeDigits } from './cards';
import { isAlphanumeric, isDigit, isExampleWord, isLetter, oneBefore, twoBefore } from './characters';
import { API_KEY, EMAIL_ADDRESS } from './codes';
import { isLatinLetter, readBack, readCharacter } from './escapes';
import { reportSecret } from './found';
import { ANCHORS, endOfSecret, findKey } from './keyPatterns';
import { findPassword } from './passwords';
import { beginSearch, search } from './search';

/** A card number spans at most two or three blocks; at least one of them has this many of its digits. */
const MIN_DIGITS = 7;

/** Searches the rows in `from..to`, which were just checked; `rows` is their number. */
export function searchSecrets(from: usize, to: usize, rows: u32): void {
  beginSearch(rows);
  const low0 = v128.load(ANCHORS);
  const high0 = v128.load(ANCHORS, 16);
  const low1 = v128.load(ANCHORS, 32);
  const high1 = v128.load(ANCHORS, 48);
  const low2 = v128.load(ANCHORS, 64);
  const high2 = v128.load(ANCHORS, 80);
  const nibble = i8x16.splat(0x0f);
  let firsts = i8x16.splat(0);
  let seconds = i8x16.splat(0);
  for (let at = from; at < to; at += 16) {
    const bytes = v128.load(at);
    // Each pattern has three consecutive rare bytes. For each of them, bits say which buckets have a pattern that the byte can
    // match. Shifted and combined, they mark the last of three matching bytes.
    const low = v128.and(bytes, nibble);
    const high = i8x16.shr_u(bytes, 4);
    const first = v128.and(i8x16.swizzle(low0, low), i8x16.swizzle(high0, high));
    const second = v128.and(i8x16.swizzle(low1, low), i8x16.swizzle(high1, high));
    const third = v128.and(i8x16.swizzle(low2, low), i8x16.swizzle(high2, high));
    const buckets = v128.and(third, v128.and(oneBefore(seconds, second), twoBefore(firsts, first)));
    firsts = first;
    seconds = second;
    const signs = i8x16.eq(bytes, i8x16.splat(0x40));
    if (v128.any_true(v128.or(buckets, signs))) {
      takeKeys(at, to, i8x16.bitmask(i8x16.ne(buckets, i8x16.splat(0))));
      const mask = i8x16.bitmask(signs);
      // If several `@` follow each other, only the last one can be part of an address.
      takeSigns(at, to, mask & ~(mask >> 1));
    }
    const digits = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(10));
    if (popcnt(i8x16.bitmask(digits)) >= MIN_DIGITS) takeDigits(at, min(at + 16, to), from);
  }
}

function takeKeys(block: usize, to: usize, mask: i32): void {
  for (let left = mask; left != 0; left &= left - 1) {
    const index = <usize>ctz(left);
    if (block + index >= to) return;
    let end = findKey(block + index - 2);
    if (search.keyStart < search.keyEnd) continue;
    for (; end != 0; end = endOfSecret(end)) {
      reportSecret(search.foundCode, search.keyStart, end);
      search.keyEnd = end;
    }
  }
}

/** Takes the passwords of URLs and the email addresses whose `@` are in the mask. */
function takeSigns(block: usize, to: usize, mask: i32): void {
  for (let left = mask; left != 0; left &= left - 1) {
    const at = block + ctz(left);
    if (at >= to) return;
    if (findPassword(at)) {
      // The password may be a key that was already found.
      const isNew = search.keyEnd <= search.passwordStart || search.keyStart >= at;
      if (search.passwordStart != 0 && isNew) reportSecret(API_KEY, search.passwordStart, at);
      continue;
    }
    const end = findEmail(at);
    if (end != 0) reportSecret(EMAIL_ADDRESS, search.emailStart, end);
  }
}

// Email addresses in their common form: a name, `@`, and a domain with at least two labels (RFC 5321). Both can have Latin letters with
// accents, as characters or escapes (RFC 6531).

/** Maximum number of characters of the name before the `@` (RFC 5321, section 4.5.3.1.1). */
const MAX_NAME: usize = 64;
const APOSTROPHE: u32 = 0x27;

function isNameLetter(character: u32): bool {
  return isDigit(character) || isLatinLetter(character);
}

/** . _ % + - */
function isNameSign(character: u32): bool {
  return (
    character == 0x2e || character == 0x5f || character == 0x25 || character == 0x2b || character == 0x2d
  );
}

/** Returns the end of the address whose `@` is at `at`, or 0 if there is none or it is an example (RFC 2606). */
export function findEmail(at: usize): usize {
  search.emailStart = at;
  // The address after the last apostrophe, which can be a quote.
  let unquoted: usize = 0;
  let isBeforeLetter = false;
  let start = at;
  for (let length: usize = 0; length <= MAX_NAME; length++) {
    const before = readBack(start);
    if (isNameLetter(search.character)) {
      if (length == MAX_NAME) return 0;
      search.emailStart = before;
    } else if (search.character == APOSTROPHE) {
      readBack(before);
      if (!isBeforeLetter || !isLatinLetter(search.character)) break;
      if (unquoted == 0) unquoted = start;
    } else if (!isNameSign(search.character)) break;
    isBeforeLetter = isLatinLetter(search.character);
    start = before;
  }
  // An address of a repository: `git@host:path`.
  if (
    search.emailStart == at ||
    (at - search.emailStart == 3 && (load<u32>(search.emailStart) & 0xffffff) == 0x746967)
  )
    return 0;
  const end = endOfDomain(at + 1);
  if (end == 0 || unquoted == 0) return end;
  readCharacter(end);
  if (search.character == APOSTROPHE) search.emailStart = unquoted;
  return end;
}

function endOfDomain(from: usize): usize {
  let label = from;
  let isExample = false;
  let labels = 0;
  while (true) {
    labels++;
    let at = label;
    let length = 0;
    // Up to the first letter with an accent: the last label of a domain has none, so that letter is text after it.
    let plainEnd = label;
    let plainLength = 0;
    let letters = 0;
    for (let end = readCharacter(at); isOfLabel(length); end = readCharacter(at)) {
      if (plainLength == length && search.character < 0x80) {
        if (isLetter(search.character)) letters++;
        plainLength++;
        plainEnd = end;
      }
      length++;
      at = end;
    }
    if (length == 0) return 0;
    const wasExample = isExample;
    isExample = length == 7 && isExampleWord(label);
    if (load<u8>(at) == 0x2e) readCharacter(at + 1);
    if (load<u8>(at) != 0x2e || !isOfLabel(0)) {
      // The last label has at least two characters, all of them letters.
      const isDomain = labels > 1 && plainLength > 1 && letters == plainLength;
      return isDomain && !isExample && !wasExample ? plainEnd : 0;
    }
    // The scale of a picture: `icon@2x.png`.
    if (labels == 1 && letters == 1 && length > 1 && load<u8>(at - 1) == 0x78) return 0;
    label = at + 1;
  }
}

/** Whether the last character can follow this many others of a label. */
function isOfLabel(length: i32): bool {
  return isNameLetter(search.character) || (search.character == 0x2d && length > 0);
}
