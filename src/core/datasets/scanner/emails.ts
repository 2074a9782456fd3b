// E-mail addresses as people write them: name, `@`, and a domain of at least two labels (RFC 5321, without its rarities).
import { endOfEscape, isAlphanumeric, isLetter } from './characters';

/** Longest name before the `@` (RFC 5321, section 4.5.3.1.1). */
const MAX_NAME: usize = 64;

/** Where the address begins that was found last. */
export let emailStart: usize = 0;

function isNameCharacter(character: u32): bool {
  if (isAlphanumeric(character)) return true;
  // . _ % + -
  return (
    character == 0x2e || character == 0x5f || character == 0x25 || character == 0x2b || character == 0x2d
  );
}

/** The end of the address whose `@` stands at `at`, 0 if there is none. Domains for examples (RFC 2606) are nobody's address. */
export function findEmail(at: usize, from: usize): usize {
  let start = at;
  while (start > from && at - start <= MAX_NAME && isNameCharacter(load<u8>(start - 1))) start--;
  // What an escape such as `\n` before the name is written with.
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
      // The last label has letters only, at least two.
      const isDomain = labels > 1 && length > 1 && <usize>letters == length;
      return isDomain && !isExample ? at : 0;
    }
    isExample = isWordExample(label, length);
    label = at + 1;
  }
}

/** True for the word "example", in capitals or not. */
function isWordExample(label: usize, length: usize): bool {
  return length == 7 && ((load<u64>(label) & 0xffffffffffffff) | 0x20202020202020) == 0x656c706d617865;
}
