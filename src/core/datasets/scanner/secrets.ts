// Finds what should not leave the machine: API keys, private keys, passwords in URLs, email addresses and card numbers. Searches
// the bytes of all rows, even if they are not JSON, but skips blocks of 16 bytes in which nothing can begin.
import { takeDigits, forgetDigits } from './cards';
import { endOfEscape, isAlphanumeric, isExampleWord, isLetter, oneBefore, twoBefore } from './characters';
import { API_KEY, EMAIL_ADDRESS } from './codes';
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
      takeSigns(at, to, from, mask & ~(mask >> 1));
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
function takeSigns(block: usize, to: usize, from: usize, mask: i32): void {
  for (let left = mask; left != 0; left &= left - 1) {
    const at = block + ctz(left);
    if (at >= to) return;
    if (findPassword(at, from)) {
      // It can be a key that was found already.
      const isNew = keyEnd <= passwordStart || keyStart >= at;
      if (passwordStart != 0 && isNew) reportSecret(API_KEY, passwordStart, at);
      continue;
    }
    const end = findEmail(at, from);
    if (end != 0) reportSecret(EMAIL_ADDRESS, emailStart, end);
  }
}

// Email addresses in common form: a name, `@`, and a domain with at least two labels (RFC 5321, without rare forms).

/** Maximum length of the name before the `@` (RFC 5321, section 4.5.3.1.1). */
const MAX_NAME: usize = 64;

/** The start of the address found last. */
export let emailStart: usize = 0;

function isNameCharacter(character: u32): bool {
  if (isAlphanumeric(character)) return true;
  // . _ % + -
  return (
    character == 0x2e || character == 0x5f || character == 0x25 || character == 0x2b || character == 0x2d
  );
}

/** Returns the end of the address whose `@` is at `at`, or 0 if there is none or it is an example (RFC 2606). */
export function findEmail(at: usize, from: usize): usize {
  let start = at;
  while (start > from && at - start <= MAX_NAME && isNameCharacter(load<u8>(start - 1))) start--;
  // Skip the letters of an escape such as `\n` before the name.
  if (start > from && load<u8>(start - 1) == 0x5c) start = max(start, endOfEscape(start + 1));
  while (start < at && !isAlphanumeric(load<u8>(start))) start++;
  if (start >= at || at - start > MAX_NAME) return 0;
  emailStart = start;
  return endOfDomain(at + 1);
}

function endOfDomain(from: usize): usize {
  let labels = 0;
  let isExample = false;
  let label = from;
  while (true) {
    let at = label;
    let letters = 0;
    while (isAlphanumeric(load<u8>(at)) || (load<u8>(at) == 0x2d && at > label)) {
      if (isLetter(load<u8>(at))) letters++;
      at++;
    }
    const length = at - label;
    if (length == 0) return 0;
    labels++;
    if (load<u8>(at) != 0x2e || !isAlphanumeric(load<u8>(at + 1))) {
      // The last label has at least two characters, all of them letters.
      const isDomain = labels > 1 && length > 1 && <usize>letters == length;
      return isDomain && !isExample ? at : 0;
    }
    isExample = length == 7 && isExampleWord(label);
    label = at + 1;
  }
}
