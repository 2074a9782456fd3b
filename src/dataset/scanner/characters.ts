// Classes of ASCII characters, and where a word begins inside a JSON string.

export function isDigit(character: u32): bool {
  return character - 0x30 < 10;
}

export function isLetter(character: u32): bool {
  return (character | 0x20) - 0x61 < 26;
}

export function isAlphanumeric(character: u32): bool {
  return isDigit(character) || isLetter(character);
}

/** Letters, digits, `_` and `-`. */
export function isWord(character: u32): bool {
  return isAlphanumeric(character) || character == 0x5f || character == 0x2d;
}

/** True if what stands before `at` ends with an escape such as `\n`: its letter is none of the text. */
export function followsEscape(at: usize): bool {
  return load<u8>(at - 2) == 0x5c && load<u8>(at - 3) != 0x5c;
}

/** True if no word goes on at `at`. */
export function beginsWord(at: usize): bool {
  return !isWord(load<u8>(at - 1)) || followsEscape(at);
}
