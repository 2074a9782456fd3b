// UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
import { oneBefore, twoBefore } from './characters';

/** True for a byte that continues a sequence. */
export function isContinuation(byte: u32): bool {
  return (byte & 0xc0) == 0x80;
}

/** Returns the length of a well-formed sequence, or 0 if it is malformed. The byte at `at` must be 0x80 or above. */
export function sequenceLength(at: usize): i32 {
  const first = <u32>load<u8>(at);
  if (first < 0xc2) return 0;
  if (!isSecond(first, load<u8>(at + 1))) return 0;
  if (first < 0xe0) return 2;
  if (!isContinuation(load<u8>(at + 2))) return 0;
  if (first < 0xf0) return 3;
  return first <= 0xf4 && isContinuation(load<u8>(at + 3)) ? 4 : 0;
}

/** Returns how many invalid bytes at `at` become one replacement character (WHATWG Encoding). */
export function brokenLength(at: usize): i32 {
  const first = <u32>load<u8>(at);
  if (first < 0xe0 || first > 0xf4 || !isSecond(first, load<u8>(at + 1))) return 1;
  return first < 0xf0 || !isContinuation(load<u8>(at + 2)) ? 2 : 3;
}

/** Whether a byte can be the second one of a sequence; some first bytes allow fewer. */
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

// Validates 64 bytes at once, after John Keiser and Daniel Lemire, "Validating UTF-8 In Less Than One Instruction Per Byte"
// (2021). Faults of two bytes are looked up by three of their halves. Each table contains the faults that its half allows.

// Faults of a byte and the one before it.
const TOO_SHORT: i8 = 1; // a first byte without a continuation
const TOO_LONG: i8 = 2; // a continuation after ASCII
const OVERLONG_3: i8 = 4;
const TOO_LARGE: i8 = 8; // above U+10FFFF, by the second byte
const SURROGATE: i8 = 16;
const OVERLONG_2: i8 = 32;
const LARGE_OR_OVERLONG_4: i8 = 64; // F5 and above, or an overlong form of four bytes
const TWO_CONTINUATIONS: i8 = -128; // valid only as third or fourth byte
/** Faults that the lower half of the first byte can't exclude. */
const ANY: i8 = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS;

/** True if no byte is above 0x7f. */
export function isAscii(bytes: v128): bool {
  return !v128.any_true(v128.and(bytes, i8x16.splat(-128)));
}

/** True for well-formed UTF-8 that begins with a character; the last one may be incomplete. */
export function isUtf8(a: v128, b: v128, c: v128, d: v128): bool {
  const faults = v128.or(
    v128.or(faultsOf(i8x16.splat(0), a), faultsOf(a, b)),
    v128.or(faultsOf(b, c), faultsOf(c, d)),
  );
  return !v128.any_true(faults);
}

/** Returns how many of 16 bytes belong to complete characters. */
export function completeLength(bytes: v128): usize {
  // A sequence of two, three or four bytes is incomplete if it begins in the last one, two or three positions.
  const limits = i8x16(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -17, -33, -65);
  return ctz(i8x16.bitmask(i8x16.gt_u(bytes, limits)) | 0x10000);
}

/** Returns non-zero bytes where a byte is invalid after those before it. */
function faultsOf(before: v128, bytes: v128): v128 {
  const nibble = i8x16.splat(0x0f);
  const one = oneBefore(before, bytes);
  const two = twoBefore(before, bytes);
  const three = i8x16.shuffle(before, bytes, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28);
  const byFirstHigh = i8x16.swizzle(
    // prettier-ignore
    i8x16(
      TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, // ASCII
      TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS, TWO_CONTINUATIONS,
      TOO_SHORT | OVERLONG_2, // C
      TOO_SHORT, // D
      TOO_SHORT | OVERLONG_3 | SURROGATE, // E
      TOO_SHORT | TOO_LARGE | LARGE_OR_OVERLONG_4, // F
    ),
    i8x16.shr_u(one, 4),
  );
  const byFirstLow = i8x16.swizzle(
    // prettier-ignore
    i8x16(
      ANY | OVERLONG_3 | OVERLONG_2 | LARGE_OR_OVERLONG_4, // C0, E0, F0
      ANY | OVERLONG_2, // C1
      ANY, ANY,
      ANY | TOO_LARGE, // F4
      ANY | TOO_LARGE | LARGE_OR_OVERLONG_4, ANY | TOO_LARGE | LARGE_OR_OVERLONG_4, // F5 and above
      ANY | TOO_LARGE | LARGE_OR_OVERLONG_4, ANY | TOO_LARGE | LARGE_OR_OVERLONG_4,
      ANY | TOO_LARGE | LARGE_OR_OVERLONG_4, ANY | TOO_LARGE | LARGE_OR_OVERLONG_4,
      ANY | TOO_LARGE | LARGE_OR_OVERLONG_4, ANY | TOO_LARGE | LARGE_OR_OVERLONG_4,
      ANY | TOO_LARGE | LARGE_OR_OVERLONG_4 | SURROGATE, // ED
      ANY | TOO_LARGE | LARGE_OR_OVERLONG_4, ANY | TOO_LARGE | LARGE_OR_OVERLONG_4,
    ),
    v128.and(one, nibble),
  );
  const bySecondHigh = i8x16.swizzle(
    // prettier-ignore
    i8x16(
      TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, // ASCII
      TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | OVERLONG_3 | LARGE_OR_OVERLONG_4, // 80 to 8F
      TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | OVERLONG_3 | TOO_LARGE, // 90 to 9F
      TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | SURROGATE | TOO_LARGE, // A0 to AF
      TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS | SURROGATE | TOO_LARGE, // B0 to BF
      TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, // a first byte
    ),
    i8x16.shr_u(bytes, 4),
  );
  const found = v128.and(v128.and(byFirstHigh, byFirstLow), bySecondHigh);
  // Two continuations are valid only where the first byte two or three positions before requires them.
  const third = i8x16.sub_sat_u(two, i8x16.splat(0x60));
  const fourth = i8x16.sub_sat_u(three, i8x16.splat(0x70));
  return v128.xor(v128.and(v128.or(third, fourth), i8x16.splat(-128)), found);
}
