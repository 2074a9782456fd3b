// Passwords in URLs: `scheme://user:password@host`, found by their `@`. Most of them are placeholders (`user:password`). So a password
// counts only if it has letters and digits, or looks random without digits. Its host must be a domain or an IP address.
import { isAlphanumeric, isDigit, isExampleWord, isLetter } from './characters';
import { readBack, readCharacter } from './escapes';
import { search } from './search';

const MIN_LENGTH = 8;
/** A password in mixed case with so many letters needs no digit. */
const MIN_LETTERS = 16;
/** The maximum for a password, and for a user. */
const MAX_LENGTH: usize = 128;
const LOWER = 2;
const UPPER = 3;

/** Whether the password of a URL, or a placeholder for it, ends at `at`, which is an `@`. */
export function findPassword(at: usize): bool {
  if (!isServer(at + 1)) return false;
  const start = startOf(at);
  const colon = readBack(start);
  if (start == at || search.character != 0x3a) return false;
  // `://`, from its end.
  let before = startOf(colon);
  for (let sign = 0; sign < 3; sign++) {
    before = readBack(before);
    if (search.character != (sign < 2 ? 0x2f : 0x3a)) return false;
  }
  search.passwordStart = isPlaceholder(start, at) ? 0 : start;
  return true;
}

/** Returns where a user or password begins, given its end. */
function startOf(end: usize): usize {
  let at = end;
  for (let length: usize = 0; length < MAX_LENGTH; length++) {
    const before = readBack(at);
    if (!isPlain(search.character)) break;
    at = before;
  }
  return at;
}

/** Characters of users and passwords (RFC 3986, section 3.2.1), and `#` and `@`, which many don't escape. */
function isPlain(character: u32): bool {
  // From # to ., ! ; = @ _ ~
  if (isAlphanumeric(character) || character - 0x23 < 12 || character == 0x21 || character == 0x3b)
    return true;
  return character == 0x3d || character == 0x40 || character == 0x5f || character == 0x7e;
}

/** Returns the length of a placeholder's word that begins here, such as `password`, or 0. */
function wordLength(at: usize): i32 {
  if (load<u32>(at) == 0x34333231) return 4; // 1234
  if (isExampleWord(at)) return 7;
  // pass, p@ss, pa$$, password, pa$$w0rd
  if ((load<u8>(at) | 0x20) != 0x70 || !isS(load<u8>(at, 2)) || !isS(load<u8>(at, 3))) return 0;
  return (load<u8>(at, 4) | 0x20) == 0x77 && (load<u8>(at, 7) | 0x20) == 0x64 ? 8 : 4;
}

function isS(character: u32): bool {
  return (character | 0x20) == 0x73 || character == 0x24;
}

/** Whether it is a variable in code or a template (`$NAME`, `%(name)s`, `(name)`, `'+name+'`), or hidden (`a***`). */
function isVariable(from: usize, to: usize): bool {
  const first = <u32>load<u8>(from);
  const last = <u32>load<u8>(to - 1);
  if (first == 0x27 && last == 0x27) return true;
  const isOpen = first == 0x28 || load<u8>(from, 1) == 0x28;
  if (isOpen && (last == 0x29 || load<u8>(to - 2) == 0x29)) return true;
  let kinds: i32 = 0;
  for (let at = from; at < to; at++) {
    if ((load<u32>(at) & 0xffffff) == 0x2a2a2a) return true;
    kinds |= 1 << kindOf(load<u8>(at));
  }
  // In mixed case with a digit, it is more likely random.
  return first == 0x24 && load<u8>(from, 1) != 0x24 && (kinds & 0xe) != 0xe;
}

/** Returns the kind of a character: 1 for digits, lower or upper case, 4 for signs; 0 for signs that join words. */
function kindOf(character: u32): i32 {
  if (isDigit(character)) return 1;
  if (isLetter(character)) return character & 0x20 ? LOWER : UPPER;
  return character == 0x25 || character == 0x2d || character == 0x2e || character == 0x5f ? 0 : 4;
}

/** Whether a password looks like a placeholder: by its words, because it is short, or because it doesn't look random. */
function isPlaceholder(from: usize, to: usize): bool {
  let length: i32 = 0;
  let letters: i32 = 0;
  let kinds: i32 = 0;
  // How many characters are in words of placeholders.
  let known: i32 = 0;
  let wordEnd = from;
  // Changes of kind, but not from upper to lower case. Changes that names don't have (`aBc`, `aBC`) count twice.
  let jumps: i32 = 0;
  let before: i32 = 0;
  let first: i32 = 0;
  for (let at = from; at < to;) {
    const word = at < wordEnd ? 0 : wordLength(at);
    if (word != 0 && at + <usize>word <= to) {
      known += word;
      wordEnd = at + <usize>word;
    }
    at = readCharacter(at);
    length++;
    const kind = kindOf(search.character);
    // The digits of an escape such as `%2F` are not text.
    if (search.character == 0x25) at += 2;
    kinds |= 1 << kind;
    if (kind == LOWER || kind == UPPER) letters++;
    if (before != 0 && kind != 0 && kind != before && (before != UPPER || kind != LOWER)) jumps++;
    if (kind == UPPER && before + first == LOWER + UPPER) jumps++;
    first = before;
    before = kind;
  }
  if (length < MIN_LENGTH || letters == 0 || 2 * known >= length || isVariable(from, to)) return true;
  if (known != 0 && 4 * jumps < length - known) return true;
  if ((kinds & 2) != 0) return false;
  const isMixed = (kinds & ((1 << LOWER) | (1 << UPPER))) == ((1 << LOWER) | (1 << UPPER));
  // Names have no signs inside.
  return (kinds & 16 ? 4 : 3) * jumps <= length && (letters < MIN_LETTERS || !isMixed);
}

/** Whether a host has at least two labels, and is neither this machine nor an example (RFC 2606). */
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
    if (load<u8>(at) != 0x2e || !isAlphanumeric(load<u8>(at, 1)))
      // Only the last `@` is before the host.
      return labels > 1 && load<u8>(at) != 0x40;
    label = at + 1;
  }
}
