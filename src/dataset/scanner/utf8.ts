// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.

/** True for a byte that continues a sequence. */
export function isContinuation(byte: u32): bool {
  return (byte & 0xc0) == 0x80;
}

/** How many bytes the well-formed sequence at `at` has, 0 if there is none; `at` holds a byte of 0x80 or more. */
export function sequenceLength(at: usize): i32 {
  const first = <u32>load<u8>(at);
  if (first < 0xc2) return 0;
  const second = <u32>load<u8>(at + 1);
  if (!isContinuation(second)) return 0;
  if (first < 0xe0) return 2;
  if (!isContinuation(load<u8>(at + 2))) return 0;
  if (first < 0xf0) {
    if (first == 0xe0 && second < 0xa0) return 0;
    if (first == 0xed && second > 0x9f) return 0;
    return 3;
  }
  if (first > 0xf4 || !isContinuation(load<u8>(at + 3))) return 0;
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second > 0x8f) return 0;
  return 4;
}

/** True for a byte order mark at `at`. */
export function isByteOrderMark(at: usize): bool {
  return (load<u32>(at) & 0xffffff) == 0xbfbbef;
}
