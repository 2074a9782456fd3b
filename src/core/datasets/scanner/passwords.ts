// Passwords in URLs: `scheme://user:password@host`. Most of those in texts are placeholders (`user:password`), so one counts only
// with letters and digits, and only if its host has a domain or an IP address. They are found by their `@`.
import { isAlphanumeric, isDigit, isExampleWord, isLetter } from './characters';

const MIN_LENGTH: usize = 8;
/** Of a password, and of a user. */
const MAX_LENGTH: usize = 128;

/** The start of the password found last, which ends at its `@`; 0 if it is a placeholder. */
export let passwordStart: usize = 0;

/** Whether the password of a URL, or a placeholder for it, ends at `at`, which is an `@`. */
export function findPassword(at: usize, from: usize): bool {
  const start = startOf(at, from);
  if (start <= from || load<u8>(start - 1) != 0x3a) return false;
  const user = startOf(start - 1, from);
  // `://`, of which some writers of JSON escape the slashes.
  if (user < from + 3 || load<u8>(user - 1) != 0x2f) return false;
  if (load<u16>(user - 3) != 0x2f3a && (load<u8>(user - 2) != 0x5c || load<u16>(user - 4) != 0x2f5c))
    return false;
  const counts = at - start >= MIN_LENGTH && !isPlaceholder(start, at) && isServer(at + 1);
  passwordStart = counts ? start : 0;
  return true;
}

/** Returns where the user or password begins that ends at `end`. */
function startOf(end: usize, from: usize): usize {
  let at = end;
  while (at > from && end - at < MAX_LENGTH && isPlain(load<u8>(at - 1))) at--;
  return at;
}

/** Characters of users and passwords (RFC 3986, section 3.2.1), without those of quotes, masks and variables. */
function isPlain(character: u32): bool {
  if (isAlphanumeric(character)) return true;
  switch (character) {
    case 0x21: // !
    case 0x25: // %
    case 0x26: // &
    case 0x2b: // +
    case 0x2c: // ,
    case 0x2d: // -
    case 0x2e: // .
    case 0x3b: // ;
    case 0x3d: // =
    case 0x5f: // _
    case 0x7e: // ~
      return true;
    default:
      return false;
  }
}

/** Whether it says that it is one, or has no letters or no digits. */
function isPlaceholder(from: usize, to: usize): bool {
  let letters = 0;
  let digits = 0;
  for (let at = from; at < to; at++) {
    const character = <u32>load<u8>(at);
    // pass, 1234
    if ((load<u32>(at) | 0x20202020) == 0x73736170 || load<u32>(at) == 0x34333231 || isExampleWord(at))
      return true;
    // The digits of an escape such as `%2F` are not text.
    if (character == 0x25) at += 2;
    else if (isLetter(character)) letters++;
    else if (isDigit(character)) digits++;
  }
  return letters == 0 || digits == 0;
}

/** Whether a host has at least two labels, isn't this machine, and is no example (RFC 2606). */
function isServer(from: usize): bool {
  // 127.
  if (load<u32>(from) == 0x2e373231) return false;
  let labels = 0;
  let label = from;
  while (true) {
    let at = label;
    while (isAlphanumeric(load<u8>(at)) || load<u8>(at) == 0x2d) at++;
    if (at == label) return false;
    labels++;
    if (load<u8>(at) != 0x2e || !isAlphanumeric(load<u8>(at, 1))) return labels > 1;
    if (at - label == 7 && isExampleWord(label)) return false;
    label = at + 1;
  }
}
