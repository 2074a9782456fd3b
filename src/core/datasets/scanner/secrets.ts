// What should not leave the machine: API keys, private keys, e-mail addresses, card numbers. They are looked for in the bytes of
// the rows, whatever these are as JSON. Blocks of sixteen bytes in which nothing can begin are passed over at once.
import { ROW_BREAKS, ROW_STARTS, inputStart } from './buffers';
import { takeDigits, forgetDigits } from './cards';
import { EMAIL_ADDRESS } from './codes';
import { findEmail, emailStart } from './emails';
import { beginPlaces, tell } from './found';
import { ANCHORS, findKey, forgetTail, foundCode, keyStart } from './keyPatterns';

/** No card number has fewer digits in each sixteen bytes that hold most of it. */
const MIN_DIGITS = 7;
const BUCKETS: usize = memory.data(16, 16);

let row: u32 = 0;
let rowCount: u32 = 0;
let begun: i32 = -1;
/** Where the last key ended: what looks like another inside is of it. */
let keyEnd: usize = 0;

/** Looks through the rows in `from..to`, which were just judged; `rows` of them. */
export function searchSecrets(from: usize, to: usize, rows: u32): void {
  row = 0;
  rowCount = rows;
  begun = -1;
  forgetDigits();
  forgetTail();
  keyEnd = 0;
  const low0 = v128.load(ANCHORS);
  const high0 = v128.load(ANCHORS, 16);
  const low1 = v128.load(ANCHORS, 32);
  const high1 = v128.load(ANCHORS, 48);
  const low2 = v128.load(ANCHORS, 64);
  const high2 = v128.load(ANCHORS, 80);
  const nibble = i8x16.splat(0x0f);
  for (let at = from; at < to; at += 16) {
    const bytes = v128.load(at);
    const next = v128.load(at, 1);
    const afterNext = v128.load(at, 2);
    // Each pattern has three bytes that are rare; a bit is set where all three can be those of a pattern in its bucket.
    const buckets = v128.and(
      v128.and(
        v128.and(i8x16.swizzle(low0, v128.and(bytes, nibble)), i8x16.swizzle(high0, i8x16.shr_u(bytes, 4))),
        v128.and(i8x16.swizzle(low1, v128.and(next, nibble)), i8x16.swizzle(high1, i8x16.shr_u(next, 4))),
      ),
      v128.and(
        i8x16.swizzle(low2, v128.and(afterNext, nibble)),
        i8x16.swizzle(high2, i8x16.shr_u(afterNext, 4)),
      ),
    );
    const signs = i8x16.eq(bytes, i8x16.splat(0x40));
    if (v128.any_true(v128.or(buckets, signs))) {
      v128.store(BUCKETS, buckets);
      takeKeys(at, to, i8x16.bitmask(i8x16.ne(buckets, i8x16.splat(0))));
      // Of signs that follow each other only the last can be of an address.
      const single = v128.andnot(signs, i8x16.eq(next, i8x16.splat(0x40)));
      takeEmails(at, to, from, i8x16.bitmask(single));
    }
    const digits = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(10));
    if (popcnt(i8x16.bitmask(digits)) >= MIN_DIGITS) takeDigits(at, min(at + 16, to), from);
  }
}

function takeKeys(block: usize, to: usize, mask: i32): void {
  for (let left = mask; left != 0; left &= left - 1) {
    const index = <usize>ctz(left);
    if (block + index >= to) return;
    const end = findKey(block + index, load<u8>(BUCKETS + index));
    if (end == 0 || keyStart < keyEnd) continue;
    tellSecret(foundCode, keyStart, end);
    keyEnd = end;
  }
}

function takeEmails(block: usize, to: usize, from: usize, mask: i32): void {
  for (let left = mask; left != 0; left &= left - 1) {
    const at = block + ctz(left);
    if (at >= to) return;
    const end = findEmail(at, from);
    if (end != 0) tellSecret(EMAIL_ADDRESS, emailStart, end);
  }
}

/** Tells a place in the row that it is in. */
export function tellSecret(code: i32, from: usize, to: usize): void {
  const position = <u32>(from - inputStart());
  // Places come nearly in order: the row is the last one or one behind it.
  if (load<u32>(ROW_STARTS + ((<usize>row) << 2)) > position) row = 0;
  let last = rowCount - 1;
  while (row < last) {
    const middle = (row + last + 1) >> 1;
    if (load<u32>(ROW_STARTS + ((<usize>middle) << 2)) <= position) row = middle;
    else last = middle - 1;
  }
  if (begun != <i32>row) {
    const breaks = load<u32>(ROW_BREAKS + ((<usize>row) << 2));
    const hasBreaks = load<u32>(ROW_BREAKS + ((<usize>(row + 1)) << 2)) > breaks;
    beginPlaces(inputStart() + load<u32>(ROW_STARTS + ((<usize>row) << 2)), row, breaks, hasBreaks);
    begun = <i32>row;
  }
  tell(code, from, to - from);
}
