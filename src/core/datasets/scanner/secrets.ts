// Finds what should not leave the machine: API keys, private keys, passwords in URLs, email addresses and card numbers. Searches
// the bytes of all rows, even if they are not JSON, but skips blocks of 16 bytes in which nothing can begin.
import { takeDigits, forgetDigits } from './cards';
import { isAlphanumeric, isDigit, isExampleWord, isLetter, oneBefore, twoBefore } from './characters';
import { API_KEY, EMAIL_ADDRESS } from './codes';
import { isLatinLetter, lastCharacter, readBack, readCharacter } from './escapes';
import { beginSecrets, reportSecret } from './found';
import { ANCHORS, findKey, forgetTails, foundCode, keyStart } from './keyPatterns';
import { findPassword, passwordStart } from './passwords';

/** Of the 16-byte blocks that a card number spans, at least one contains this many of its digits. */
const MIN_DIGITS = 7;

/** The end of the last key; matches that begin inside it are part of it. */
let keyEnd: usize = 0;

/** Searches the rows in `from..to`, which were just checked; `rows` is their number. */
export function searchSecrets(from: usize, to: usize, rows: u32): void {
  beginSecrets(rows);
  forgetDigits();
  forgetTails();
  keyEnd = 0;
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
    // Each pattern has three consecutive rare bytes. For each of the three, bits mark the buckets with a
    // pattern that a byte can match; shifted and combined, they mark the last of three matching bytes.
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
      // Of consecutive `@`, only the last can be part of an address.
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
    const end = findKey(block + index - 2);
    if (end == 0 || keyStart < keyEnd) continue;
    reportSecret(foundCode, keyStart, end);
    keyEnd = end;
  }
}

/** Takes the passwords of URLs and the email addresses whose `@` are in the mask. */
function takeSigns(block: usize, to: usize, mask: i32): void {
  for (let left = mask; left != 0; left &= left - 1) {
    const at = block + ctz(left);
    if (at >= to) return;
    if (findPassword(at)) {
      // It can be a key that was found already.
      const isNew = keyEnd <= passwordStart || keyStart >= at;
      if (passwordStart != 0 && isNew) reportSecret(API_KEY, passwordStart, at);
      continue;
    }
    const end = findEmail(at);
    if (end != 0) reportSecret(EMAIL_ADDRESS, emailStart, end);
  }
}

// Email addresses in common form: a name, `@`, and a domain with at least two labels (RFC 5321, without rare forms). Both can have
// Latin letters with accents, as characters or escapes (RFC 6531).

/** Maximum number of characters of the name before the `@` (RFC 5321, section 4.5.3.1.1). */
const MAX_NAME: usize = 64;
const APOSTROPHE: u32 = 0x27;

/** The start of the address found last. */
export let emailStart: usize = 0;

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
  emailStart = at;
  // What follows the last apostrophe, which can be a quote.
  let unquoted: usize = 0;
  let isBeforeLetter = false;
  let start = at;
  for (let length: usize = 0; length <= MAX_NAME; length++) {
    const before = readBack(start);
    if (isNameLetter(lastCharacter)) {
      if (length == MAX_NAME) return 0;
      emailStart = before;
    } else if (lastCharacter == APOSTROPHE) {
      readBack(before);
      if (!isBeforeLetter || !isLatinLetter(lastCharacter)) break;
      if (unquoted == 0) unquoted = start;
    } else if (!isNameSign(lastCharacter)) break;
    isBeforeLetter = isLatinLetter(lastCharacter);
    start = before;
  }
  // Of a repository: `git@host:path`.
  if (emailStart == at || (at - emailStart == 3 && (load<u32>(emailStart) & 0xffffff) == 0x746967)) return 0;
  const end = endOfDomain(at + 1);
  if (end == 0 || unquoted == 0) return end;
  readCharacter(end);
  if (lastCharacter == APOSTROPHE) emailStart = unquoted;
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
    // What precedes the first letter with an accent, which only text after a domain has in its last label.
    let plainEnd = label;
    let plainLength = 0;
    let letters = 0;
    for (let end = readCharacter(at); isOfLabel(length); end = readCharacter(at)) {
      if (plainLength == length && lastCharacter < 0x80) {
        if (isLetter(lastCharacter)) letters++;
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
  return isNameLetter(lastCharacter) || (lastCharacter == 0x2d && length > 0);
}
