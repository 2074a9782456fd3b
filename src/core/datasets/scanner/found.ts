// What is found in rows, and where: a failure ends its row, what is noted is reported when the row has ended.
import { MAX_PLACES, PLACE_BYTES, PLACES, PLACES_FOR_SECRETS } from './buffers';
import { LOCATED_LIMIT, PLACE_CODE_COUNT, UNKNOWN_FORMAT, VERY_LONG_ROW } from './codes';
import { brokenLength, sequenceLength } from './utf8';

/** A u32 for each code: how many there are since `forgetAll`. */
export const TOTALS: usize = memory.data(PLACE_CODE_COUNT * 4, 4);
/** A u32 for each code: how many of them were located. */
const LOCATED: usize = memory.data(PLACE_CODE_COUNT * 4, 4);
/** For each code, what is noted in the row: offset and length, each a u32. */
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
/** A CR that no LF follows ends a line of the editor, though no row: how many came before the row, and whether it has some. */
let breaksBefore: u32 = 0;
let hasBreaks: bool = false;

/** The last column that was asked for: a row with many places is walked once. */
let walkedTo: usize = 0;
let walkedColumn: u32 = 0;
let walkedBreaks: u32 = 0;

/** Forgets all counts: a new file begins. */
export function forgetAll(hasMark: bool): void {
  showsEachByte = hasMark;
  memory.fill(TOTALS, 0, PLACE_CODE_COUNT * 4);
  memory.fill(LOCATED, 0, PLACE_CODE_COUNT * 4);
}

/** Begins a call: its places start over. */
export function beginCall(): void {
  places = 0;
}

/** True while a row can begin: there is room for one place of each code. */
export function hasRoom(): bool {
  return places + PLACE_CODE_COUNT <= MAX_PLACES - PLACES_FOR_SECRETS;
}

/** Begins a row; `breaks` lone CRs came before it in this call. */
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

/** Notes why the row is not JSON; returns 0, which no position in the input has. */
export function fail(code: i32, at: usize, length: usize): usize {
  failure = code;
  failureAt = at;
  failureLength = length;
  return 0;
}

/** Notes a problem of the row: of each code the first. */
export function noteInRow(code: i32, at: usize, length: usize): void {
  const bit = (<u64>1) << code;
  if (noted & bit) return;
  noted |= bit;
  const entry = NOTED + ((<usize>code) << 3);
  store<u32>(entry, <u32>at);
  store<u32>(entry, <u32>length, 4);
}

/** True if the row is not JSON. */
export function hasFailed(): bool {
  return failure >= 0;
}

/** Reports what was found in the row, but not the shape of a row that is not JSON. */
export function endRow(): void {
  if (failure >= 0) {
    for (let code = UNKNOWN_FORMAT; code <= VERY_LONG_ROW; code++) noted &= ~((<u64>1) << code);
    report(failure, failureAt, failureLength);
  }
  for (let left = noted; left != 0; left &= left - 1) {
    const code = <i32>ctz(left);
    const entry = NOTED + ((<usize>code) << 3);
    report(code, load<u32>(entry), load<u32>(entry, 4));
  }
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

/** Goes to `at`, counting UTF-16 units since the last line break. */
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

/** Goes back to `at`: seldom far, since places come nearly in order. */
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
 * UTF-16 units that the editor shows for some bytes. It decodes with TextDecoder, which shows one U+FFFD for a sequence that is
 * cut short; but a file that begins with a byte order mark with iconv-lite, which shows one for each byte.
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
