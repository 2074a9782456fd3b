// Reads numbers (RFC 8259, section 6), and notes those that a double (IEEE 754) can't represent.
import { isDigit } from './characters';
import { BAD_NUMBER, NUMBER_PRECISION } from './codes';
import { fail, noteInRow } from './found';

/** Seventeen significant digits identify any double; more are lost. */
const MAX_DIGITS = 17;
/** Integers with at most this many digits are exact. */
const EXACT_DIGITS: usize = 15;

/** Reads a number that begins at `from` with `-` or a digit; returns its end, or 0 after a failure. */
export function readNumber(from: usize, end: usize): usize {
  let at = from;
  if (load<u8>(at) == 0x2d) at++;
  if (!isDigit(load<u8>(at)) || at >= end) return badNumber(from, at, end);
  const integer = at;
  if (load<u8>(at) == 0x30) at++;
  else while (isDigit(load<u8>(at))) at++;
  if (isDigit(load<u8>(at))) return badNumber(from, at, end);
  const integerEnd = at;
  let fractionEnd = at;
  if (load<u8>(at) == 0x2e) {
    at++;
    if (!isDigit(load<u8>(at))) return badNumber(from, at, end);
    while (isDigit(load<u8>(at))) at++;
    fractionEnd = at;
  }
  let exponent = 0;
  if ((load<u8>(at) | 0x20) == 0x65) {
    at++;
    const sign = load<u8>(at);
    if (sign == 0x2b || sign == 0x2d) at++;
    if (!isDigit(load<u8>(at))) return badNumber(from, at, end);
    // Capped: numbers this far out are infinite or zero anyway.
    while (isDigit(load<u8>(at))) exponent = min(exponent * 10 + load<u8>(at++) - 0x30, 1000000000);
    if (sign == 0x2d) exponent = -exponent;
  }
  if (fractionEnd - integer > EXACT_DIGITS || exponent != 0) {
    if (losesPrecision(integer, integerEnd, fractionEnd, exponent))
      noteInRow(NUMBER_PRECISION, from, <i32>(at - from));
  }
  return at;
}

function badNumber(from: usize, at: usize, end: usize): usize {
  return fail(BAD_NUMBER, from, <i32>(min(at + 1, max(end, from + 1)) - from));
}

/**
 * Whether a double loses digits. The number is out of range, or an integer without exponent between two doubles. Or it has more
 * digits than any double needs; an integer, more than 19. The digits are in `integer..integerEnd` and, after a point, up to
 * `fractionEnd`.
 */
function losesPrecision(integer: usize, integerEnd: usize, fractionEnd: usize, exponent: i32): bool {
  // The number is value * 10^scale. `value` has no zeros at either end, and is exact up to 19 digits.
  let value: u64 = 0;
  let held = 0;
  let digits = 0;
  let zeros = 0;
  for (let at = integer; at < fractionEnd; at++) {
    const character = <u32>load<u8>(at);
    if (character == 0x2e) continue;
    if (character == 0x30) {
      if (digits > 0) zeros++;
      continue;
    }
    digits += zeros + 1;
    if (digits <= 19) {
      for (; zeros > 0; zeros--) value *= 10;
      value = value * 10 + (character - 0x30);
      held = digits;
    }
    zeros = 0;
  }
  if (digits == 0) return false;
  const fractionDigits = fractionEnd == integerEnd ? 0 : <i32>(fractionEnd - integerEnd - 1);
  const scale = zeros - fractionDigits + exponent;
  const magnitude = digits + scale;
  if (magnitude > 309 || magnitude < -323) return true;
  // Numbers from 1.7976931348623158079…e308 on become infinite. Below half of the smallest double, 4.94…e-324, they become zero.
  if (magnitude == 309 && leading(value, held) > 1797693134862315807) return true;
  if (magnitude == -323 && leading(value, held) < 2470328229206232721) return true;
  // A number like 6.02e23 means the nearest double.
  if (scale < 0 || exponent != 0) return digits > MAX_DIGITS;
  return digits > 19 || !isExact(value, scale);
}

/** Returns the first 19 digits of a number; `value` has `digits` of them, and zeros follow. */
function leading(value: u64, digits: i32): u64 {
  for (; digits < 19; digits++) value *= 10;
  return value;
}

/** Whether value * 10^scale has at most 53 significant bits. Powers of two don't matter, so only 5^scale does. */
function isExact(value: u64, scale: i32): bool {
  let odd = value >> ctz(value);
  for (; scale > 0; scale--) {
    odd *= 5;
    if (odd >= 1 << 53) return false;
  }
  return odd < 1 << 53;
}
