// The problems of rows and their places. A failure ends its row; noted problems are reported at the end of the row.
import {
  MAX_PLACES,
  PLACE_BYTES,
  PLACES,
  PLACES_FOR_SECRETS,
  ROW_BREAKS,
  ROW_FLAGS,
  ROW_STARTS,
  inputStart,
} from './buffers';
import {
  API_KEY,
  BOM_INSIDE,
  COMMA_AFTER_OBJECT,
  DUPLICATE_KEY,
  INVALID_UTF8,
  LOCATED_LIMIT,
  NOT_AN_OBJECT,
  PLACE_CODE_COUNT,
  PRIVATE_KEY,
  ROW_ERROR,
  ROW_PERSONAL,
  ROW_REPEATS_KEY,
  ROW_SECRET,
  ROW_UNTRAINABLE_SHIFT,
  UNKNOWN_FORMAT,
  UNTRAINABLE_COUNT,
  VERY_LONG_ROW,
} from './codes';
import { brokenLength, sequenceLength } from './utf8';

/** The number of problems per code since `forgetAll`, as a u32. */
export const TOTALS: usize = memory.data(PLACE_CODE_COUNT * 4, 4);
/** How many of them were located, as a u32 per code. */
const LOCATED: usize = memory.data(PLACE_CODE_COUNT * 4, 4);
/** For each reason why a row can't be trained on: the codes of its problems, as bits. Written by the scanner's owner. */
export const UNTRAINABLE_CODES: usize = memory.data(UNTRAINABLE_COUNT * 8, 8);
/** The noted problem of each code in the row: address and length, each a u32. */
const NOTED: usize = memory.data(PLACE_CODE_COUNT * 8, 4);

/** Places reported in this call. */
export let places: u32 = 0;

/** Whether the editor shows a character for each byte that is not UTF-8. */
let showsEachByte: bool = false;

let noted: u64 = 0;
let failure: i32 = -1;
let failureAt: usize = 0;
let failureLength: usize = 0;

let rowStart: usize = 0;
let rowNumber: u32 = 0;
/** Lone CRs end a line in the editor, but not a row: their number before this row, and whether it has any. */
let breaksBefore: u32 = 0;
let hasBreaks: bool = false;

/** The rows that are searched for secrets: their number, the row of the last secret, and the row whose places began. */
let rows: u32 = 0;
let row: u32 = 0;
let begun: i32 = -1;

/** The last requested column, so that a row with many places is walked only once. */
let walkedTo: usize = 0;
let walkedColumn: u32 = 0;
let walkedBreaks: u32 = 0;

/** Resets all counts for a new file. */
export function forgetAll(hasMark: bool): void {
  showsEachByte = hasMark;
  memory.fill(TOTALS, 0, PLACE_CODE_COUNT * 4);
  memory.fill(LOCATED, 0, PLACE_CODE_COUNT * 4);
}

/** Resets the places for a new call. */
export function beginCall(): void {
  places = 0;
}

/** True if there is room for a row with a place of each code. */
export function hasRoom(): bool {
  return places + PLACE_CODE_COUNT <= MAX_PLACES - PLACES_FOR_SECRETS;
}

/** Begins a row. `breaks` is the number of lone CRs before it in this call. */
export function beginRow(start: usize, number: u32, breaks: u32, withBreaks: bool): void {
  noted = 0;
  failure = -1;
  beginPlaces(start, number, breaks, withBreaks);
}

/** Begins a row whose places are reported directly. */
export function beginPlaces(start: usize, number: u32, breaks: u32, withBreaks: bool): void {
  rowStart = start;
  rowNumber = number;
  breaksBefore = breaks;
  hasBreaks = withBreaks;
  walkedTo = start;
  walkedColumn = 0;
  walkedBreaks = 0;
}

/** Notes why the row is not JSON; returns 0, which is never an address in the input. */
export function fail(code: i32, at: usize, length: usize): usize {
  failure = code;
  failureAt = at;
  failureLength = length;
  return 0;
}

/** Notes a problem of the row; only the first of each code. */
export function noteInRow(code: i32, at: usize, length: usize): void {
  const bit = (<u64>1) << code;
  if (noted & bit) return;
  noted |= bit;
  const entry = NOTED + ((<usize>code) << 3);
  store<u32>(entry, <u32>at);
  store<u32>(entry, <u32>length, 4);
}

/** Forgets what was noted in the row of the codes from one to another. */
export function forgetNotes(first: i32, last: i32): void {
  for (let code = first; code <= last; code++) noted &= ~((<u64>1) << code);
}

/** True if the row is not JSON. */
export function hasFailed(): bool {
  return failure >= 0 || (noted & ((<u64>1) << COMMA_AFTER_OBJECT)) != 0;
}

/** True if the row has a problem that is an error. */
function hasErrors(): bool {
  const errors: u64 = ((<u64>1) << INVALID_UTF8) | ((<u64>1) << BOM_INSIDE) | ((<u64>1) << NOT_AN_OBJECT);
  return hasFailed() || (noted & errors) != 0;
}

/** Returns what the row is, apart from its format, as the bits of `codes.ts`. */
export function flagsOfRow(): i32 {
  const flags = (noted & ((<u64>1) << DUPLICATE_KEY)) != 0 ? ROW_REPEATS_KEY : 0;
  if (hasErrors()) return flags | ROW_ERROR;
  for (let why = 1; why < UNTRAINABLE_COUNT; why++)
    if ((noted & load<u64>(UNTRAINABLE_CODES + ((<usize>why) << 3))) != 0)
      return flags | (why << ROW_UNTRAINABLE_SHIFT);
  return flags;
}

/** Reports the problems of the row, but not those of its shape if it is not JSON. */
export function endRow(): void {
  if (failure >= 0) {
    forgetNotes(UNKNOWN_FORMAT, VERY_LONG_ROW);
    report(failure, failureAt, failureLength);
  }
  for (let left = noted; left != 0; left &= left - 1) {
    const code = <i32>ctz(left);
    const entry = NOTED + ((<usize>code) << 3);
    report(code, load<u32>(entry), load<u32>(entry, 4));
  }
}

/** Begins to report secrets of rows that were just checked. */
export function beginSecrets(count: u32): void {
  rows = count;
  row = 0;
  begun = -1;
}

/** Reports a secret in its row. */
export function reportSecret(code: i32, from: usize, to: usize): void {
  const position = <u32>(from - inputStart());
  // Places are nearly in order, so the search starts at the last row.
  if (load<u32>(ROW_STARTS + ((<usize>row) << 2)) > position) row = 0;
  let last = rows - 1;
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
  const flags = ROW_FLAGS + ((<usize>row) << 1);
  const flag = code == API_KEY || code == PRIVATE_KEY ? ROW_SECRET : ROW_PERSONAL;
  store<u16>(flags, load<u16>(flags) | (<u16>flag));
  report(code, from, to - from);
}

/** Counts a problem and locates it, up to the limit. */
export function report(code: i32, at: usize, length: usize): void {
  const counter = (<usize>code) << 2;
  store<u32>(TOTALS + counter, load<u32>(TOTALS + counter) + 1);
  const located = load<u32>(LOCATED + counter);
  if (located >= <u32>LOCATED_LIMIT || places >= MAX_PLACES) return;
  store<u32>(LOCATED + counter, located + 1);
  walk(at);
  const column = walkedColumn;
  const breaks = walkedBreaks;
  const place = PLACES + places++ * PLACE_BYTES;
  store<u32>(place, code);
  store<u32>(place, rowNumber, 4);
  store<u32>(place, breaksBefore + breaks, 8);
  store<u32>(place, <u32>at, 12);
  store<u32>(place, column, 16);
  store<u32>(place, max(utf16Length(at, at + length), 1), 20);
}

/** Moves to `at`, counting UTF-16 units since the last line break. */
function walk(at: usize): void {
  if (at < walkedTo) return walkBack(at);
  if (hasBreaks) {
    for (let byte = walkedTo; byte < at; byte++) {
      if (load<u8>(byte) == 0x0d) {
        walkedBreaks++;
        walkedTo = byte + 1;
        walkedColumn = 0;
      }
    }
  }
  walkedColumn += utf16Length(walkedTo, at);
  walkedTo = at;
}

/** Moves back to `at`, which is seldom far because places are nearly in order. */
function walkBack(at: usize): void {
  let breaks: u32 = 0;
  if (hasBreaks) {
    for (let byte = at; byte < walkedTo; byte++) if (load<u8>(byte) == 0x0d) breaks++;
  }
  if (breaks == 0) {
    walkedColumn -= utf16Length(at, walkedTo);
  } else {
    walkedBreaks -= breaks;
    let line = at;
    while (line > rowStart && load<u8>(line - 1) != 0x0d) line--;
    walkedColumn = utf16Length(line, at);
  }
  walkedTo = at;
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
    if (length == 0) length = showsEachByte ? 1 : brokenLength(at);
    at += length;
  }
  return units;
}
