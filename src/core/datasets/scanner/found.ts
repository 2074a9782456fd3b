// The problems of rows and their places. A failure (the row isn't JSON) ends its row. All other problems are noted, and reported at the
// end of the row.
import { call, clear, file, inputStart, LOCATED, MAX_PLACES, PLACE_BYTES, PLACES } from './buffers';
import { PLACES_FOR_SECRETS, ROW_BREAKS, ROW_FLAGS, ROW_STARTS, TOTALS } from './buffers';
import * as codes from './codes';
import { search } from './search';
import { brokenLength, sequenceLength } from './utf8';

/** For each reason why a row can't be trained on: the codes of its problems, as bits. `datasets/scanner.ts` writes them. */
export const UNTRAINABLE_CODES: usize = memory.data(codes.UNTRAINABLE_COUNT * 8, 8);
/** The place of the row's noted problem of each code: address and length, each a u32. */
const NOTED: usize = memory.data(codes.PLACE_CODE_COUNT * 8, 4);

/** The row that is read. */
@unmanaged
class Row {
  /** Its noted problems, as bits of their codes. */
  noted: u64;
  /** Why it isn't JSON: code, address and length. If it is JSON, the address is 0. */
  failure: i32;
  failureAt: usize;
  failureLength: usize;
  start: usize;
  number: u32;
  /** Lone CRs end a line in the editor, but not a row: their number before this row, and whether it has any. */
  breaksBefore: u32;
  hasBreaks: bool;
  /** Whether parts of a content use a tool. */
  hasToolParts: bool;
  /** In the current list: whether an answer is to be learned, and where the first answer is that isn't (or 0). */
  learns: bool;
  ignoredAt: usize;
  /** Whether the string that was read last contains an escape. */
  hasEscape: bool;
  /** The last place whose column was counted, so that a row with many places is read only once. */
  walkedTo: usize;
  walkedColumn: u32;
  walkedBreaks: u32;
}
const ROW: usize = memory.data(64, 16);
export const row = changetype<Row>(ROW);

/** Whether there is room for a row with a place of each code. */
export function hasRoom(): bool {
  return call.places + codes.PLACE_CODE_COUNT <= MAX_PLACES - PLACES_FOR_SECRETS;
}

/** Begins a row. `breaks` is the number of lone CRs before it in this call. */
export function beginRow(start: usize, number: u32, breaks: u32, hasBreaks: bool): void {
  clear(ROW, 64);
  beginPlaces(start, number, breaks, hasBreaks);
}

/** Begins to report places in a row. */
export function beginPlaces(start: usize, number: u32, breaks: u32, hasBreaks: bool): void {
  row.start = start;
  row.number = number;
  row.breaksBefore = breaks;
  row.hasBreaks = hasBreaks;
  row.walkedTo = start;
  row.walkedColumn = 0;
  row.walkedBreaks = 0;
}

/** Notes why the row is not JSON; returns 0, which is never an address in the input. */
export function fail(code: i32, at: usize, length: usize): usize {
  row.failure = code;
  row.failureAt = at;
  row.failureLength = length;
  return 0;
}

/** Notes a problem of the row; only the first of each code. */
export function noteInRow(code: i32, at: usize, length: usize): void {
  const bit = (<u64>1) << code;
  if (row.noted & bit) return;
  row.noted |= bit;
  const entry = NOTED + ((<usize>code) << 3);
  store<u32>(entry, <u32>at);
  store<u32>(entry, <u32>length, 4);
}

/** Drops the row's noted problems with codes from `first` to `last`. */
export function dropNotes(first: i32, last: i32): void {
  for (let code = first; code <= last; code++) row.noted &= ~((<u64>1) << code);
}

/** Whether the row isn't JSON. */
export function hasFailed(): bool {
  return row.failureAt != 0 || (row.noted & ((<u64>1) << codes.COMMA_AFTER_OBJECT)) != 0;
}

/** Whether the row has a problem that is an error. */
function hasErrors(): bool {
  const errors: u64 =
    ((<u64>1) << codes.INVALID_UTF8) | ((<u64>1) << codes.BOM_INSIDE) | ((<u64>1) << codes.NOT_AN_OBJECT);
  return hasFailed() || (row.noted & errors) != 0;
}

/** Returns the row's flags (`codes.ts`), without its format. */
export function flagsOfRow(): i32 {
  const flags = (row.noted & ((<u64>1) << codes.DUPLICATE_KEY)) != 0 ? codes.ROW_REPEATS_KEY : 0;
  if (hasErrors()) return flags | codes.ROW_ERROR;
  for (let why = 1; why < codes.UNTRAINABLE_COUNT; why++)
    if ((row.noted & load<u64>(UNTRAINABLE_CODES + ((<usize>why) << 3))) != 0)
      return flags | (why << codes.ROW_UNTRAINABLE_SHIFT);
  return flags;
}

/** Reports the noted problems of the row. If it isn't JSON, those of its shape don't count. */
export function endRow(): void {
  if (row.failureAt != 0) {
    dropNotes(codes.UNKNOWN_FORMAT, codes.VERY_LONG_ROW);
    report(row.failure, row.failureAt, row.failureLength);
  }
  for (let left = row.noted; left != 0; left &= left - 1) {
    const code = <i32>ctz(left);
    const entry = NOTED + ((<usize>code) << 3);
    report(code, load<u32>(entry), load<u32>(entry, 4));
  }
}

/** Reports a secret in its row. */
export function reportSecret(code: i32, from: usize, to: usize): void {
  const position = <u32>(from - inputStart());
  // Places are nearly in order, so the search starts at the last row.
  let number: u32 = startOf(search.row) > position ? 0 : search.row;
  let last = search.rows - 1;
  while (number < last) {
    const middle = (number + last + 1) >> 1;
    if (startOf(middle) <= position) number = middle;
    else last = middle - 1;
  }
  search.row = number;
  if (search.begun != number + 1) {
    const breaks = load<u32>(ROW_BREAKS + ((<usize>number) << 2));
    const hasBreaks = load<u32>(ROW_BREAKS + ((<usize>(number + 1)) << 2)) > breaks;
    beginPlaces(inputStart() + startOf(number), number, breaks, hasBreaks);
    search.begun = number + 1;
  }
  const flags = ROW_FLAGS + ((<usize>number) << 1);
  const flag = code == codes.API_KEY || code == codes.PRIVATE_KEY ? codes.ROW_SECRET : codes.ROW_PERSONAL;
  store<u16>(flags, load<u16>(flags) | <u16>flag);
  report(code, from, to - from);
}

function startOf(number: u32): u32 {
  return load<u32>(ROW_STARTS + ((<usize>number) << 2));
}

/** Counts a problem and locates it, up to the limit. */
export function report(code: i32, at: usize, length: usize): void {
  const counter = (<usize>code) << 2;
  store<u32>(TOTALS + counter, load<u32>(TOTALS + counter) + 1);
  const located = load<u32>(LOCATED + counter);
  if (located >= <u32>codes.LOCATED_LIMIT || call.places >= MAX_PLACES) return;
  store<u32>(LOCATED + counter, located + 1);
  walk(at);
  const column = row.walkedColumn;
  const breaks = row.walkedBreaks;
  const place = PLACES + call.places++ * PLACE_BYTES;
  store<u32>(place, code);
  store<u32>(place, row.number, 4);
  store<u32>(place, row.breaksBefore + breaks, 8);
  store<u32>(place, <u32>at, 12);
  store<u32>(place, column, 16);
  store<u32>(place, max(utf16Length(at, at + length), 1), 20);
}

/** Moves to `at`, counting UTF-16 units since the last line break. */
function walk(at: usize): void {
  if (at < row.walkedTo) return walkBack(at);
  if (row.hasBreaks) {
    for (let byte = row.walkedTo; byte < at; byte++) {
      if (load<u8>(byte) == 0x0d) {
        row.walkedBreaks++;
        row.walkedTo = byte + 1;
        row.walkedColumn = 0;
      }
    }
  }
  row.walkedColumn += utf16Length(row.walkedTo, at);
  row.walkedTo = at;
}

/** Moves back to `at`. It is rarely far, because places are nearly in order. */
function walkBack(at: usize): void {
  let breaks: u32 = 0;
  if (row.hasBreaks) {
    for (let byte = at; byte < row.walkedTo; byte++) if (load<u8>(byte) == 0x0d) breaks++;
  }
  if (breaks == 0) {
    row.walkedColumn -= utf16Length(at, row.walkedTo);
  } else {
    row.walkedBreaks -= breaks;
    let line = at;
    while (line > row.start && load<u8>(line - 1) != 0x0d) line--;
    row.walkedColumn = utf16Length(line, at);
  }
  row.walkedTo = at;
}

/**
 * Returns how many UTF-16 units the editor shows for some bytes. It decodes with TextDecoder, which shows one U+FFFD for a
 * truncated sequence. Files that begin with a byte order mark are decoded with iconv-lite, which shows one per byte.
 */
function utf16Length(from: usize, to: usize): u32 {
  let units: u32 = 0;
  for (let at = from; at < to;) {
    if (load<u8>(at) < 0x80) {
      at++;
      units++;
      continue;
    }
    let length = sequenceLength(at);
    units += length == 4 ? 2 : 1;
    if (length == 0) length = file.showsEachByte ? 1 : brokenLength(at);
    at += length;
  }
  return units;
}
