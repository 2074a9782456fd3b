// Passwords in URLs: `scheme://user:password@host`. Most of those in texts are placeholders (`user:password`). So one counts only
// with letters and digits, or many letters in mixed case. Its host must have a domain or an IP address. They are found by their `@`.
import { isAlphanumeric, isDigit, isExampleWord, isLetter } from './characters';
import { readBack, readCharacter } from './escapes';
import { search } from './search';

const MIN_LENGTH = 8;
/** Of one without digits. */
const MIN_LETTERS = 16;
/** Of a password, and of a user. */
const MAX_LENGTH: usize = 128;

/** Whether the password of a URL, or a placeholder for it, ends at `at`, which is an `@`. */
export function findPassword(at: usize): bool {
  const start = startOf(at);
  const colon = readBack(start);
  if (start == at || search.character != 0x3a) return false;
  // `://`, from its end.
  let before = startOf(colon);
  for (let sign = 0; sign < 3; sign++) {
    before = readBack(before);
    if (search.character != (sign < 2 ? 0x2f : 0x3a)) return false;
  }
  search.passwordStart = !isPlaceholder(start, at) && isServer(at + 1) ? start : 0;
  return true;
}

/** Returns where the user or password begins that ends at `end`. */
function startOf(end: usize): usize {
  let at = end;
  for (let length: usize = 0; length < MAX_LENGTH; length++) {
    const before = readBack(at);
    if (!isPlain(search.character)) break;
    at = before;
  }
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

/** Whether it says that it is one, is too short, or has too few kinds of characters. */
function isPlaceholder(from: usize, to: usize): bool {
  let length = 0;
  let lower = 0;
  let upper = 0;
  let digits = 0;
  for (let at = from; at < to;) {
    // pass, 1234
    if ((load<u32>(at) | 0x20202020) == 0x73736170 || load<u32>(at) == 0x34333231 || isExampleWord(at))
      return true;
    at = readCharacter(at);
    length++;
    // The digits of an escape such as `%2F` are not text.
    if (search.character == 0x25) at += 2;
    else if (isDigit(search.character)) digits++;
    else if (isLetter(search.character)) {
      if ((search.character & 0x20) != 0) lower++;
      else upper++;
    }
  }
  if (digits > 0) return length < MIN_LENGTH || lower + upper == 0;
  return lower + upper < MIN_LETTERS || lower == 0 || upper == 0;
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
    if (at - label == 7 && isExampleWord(label)) return false;
    if (load<u8>(at) != 0x2e || !isAlphanumeric(load<u8>(at, 1))) return labels > 1;
    label = at + 1;
  }
}
