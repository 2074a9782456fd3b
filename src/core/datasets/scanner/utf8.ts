// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.

/** True for a byte that continues a sequence. */
export function isContinuation(byte: u32): bool {
  return (byte & 0xc0) == 0x80;
}

/** How many bytes the well-formed sequence at `at` has, 0 if there is none; `at` holds a byte of 0x80 or more. */
export function sequenceLength(at: usize): i32 {
  const first = <u32>load<u8>(at);
  if (first < 0xc2) return 0;
  if (!isSecond(first, load<u8>(at + 1))) return 0;
  if (first < 0xe0) return 2;
  if (!isContinuation(load<u8>(at + 2))) return 0;
  if (first < 0xf0) return 3;
  return first <= 0xf4 && isContinuation(load<u8>(at + 3)) ? 4 : 0;
}

/** How many bytes of what is no UTF-8 at `at` are shown as one replacement character (WHATWG Encoding, as decoders do it). */
export function brokenLength(at: usize): i32 {
  const first = <u32>load<u8>(at);
  if (first < 0xe0 || first > 0xf4 || !isSecond(first, load<u8>(at + 1))) return 1;
  return first < 0xf0 || !isContinuation(load<u8>(at + 2)) ? 2 : 3;
}

/** Whether a byte can be the second of a longer sequence: some first ones leave fewer. */
function isSecond(first: u32, second: u32): bool {
  if (first == 0xe0) return second >= 0xa0 && second <= 0xbf;
  if (first == 0xed) return second >= 0x80 && second <= 0x9f;
  if (first == 0xf0) return second >= 0x90 && second <= 0xbf;
  if (first == 0xf4) return second >= 0x80 && second <= 0x8f;
  return isContinuation(second);
}

/** True for a byte order mark at `at`. */
export function isByteOrderMark(at: usize): bool {
  return (load<u32>(at) & 0xffffff) == 0xbfbbef;
}
