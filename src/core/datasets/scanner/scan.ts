// The scanner: checks the rows of a dataset that are completely in its memory. Its results are in regions of
// `buffers`, `found` and this module. Its only caller is `datasets/scanner.ts`.
import {
  hasRoom,
  beginCall,
  beginPlaces,
  beginRow,
  endRow,
  flagsOfRow,
  forgetAll,
  hasFailed,
  noteInRow,
  report,
  TOTALS,
  places,
  UNTRAINABLE_CODES,
} from './found';
import {
  ANSWER_HASHES,
  inputStart,
  MAX_ROWS,
  PLACES,
  PROMPT_HASHES,
  reserve,
  ROW_BREAKS,
  ROW_FLAGS,
  ROW_HASHES,
  ROW_STARTS,
} from './buffers';
import {
  BLANK_LINE,
  BOM_AT_START,
  CRLF,
  FORMAT_COUNT,
  ROLE_COUNT,
  ROW_BLANK,
  ROW_ERROR,
  ROW_FORMAT_SHIFT,
  ROW_OF_FORMAT,
  ROW_TOO_LONG,
  ROW_UNCHECKED,
  ROW_UNTRAINABLE_SHIFT,
  UNTRAINABLE_COUNT,
  VERY_LONG_ROW,
} from './codes';
import { assistantBytes, forgetTexts, rowsOver4096, rowsOver8192, textBytes } from './contents';
import { turns, TURNS_BY_ROLE } from './conversation';
import { MAX_ROW_BYTES, readRow, skipSpace } from './grammar';
import { FORMAT_TABLE } from './formats';
import { ANCHORS, PATTERNS } from './keyPatterns';
import { characters, countReturns, findLineEnd, hasReturn, hashRow } from './lines';
import { beginFile, hashesPrompts } from './prompts';
import { searchSecrets } from './secrets';
import { answerHash, countRowTexts, format, hasTypes, promptHash } from './shape';
import { isByteOrderMark } from './utf8';

export { inputStart, reserve, places, PLACES, ROW_STARTS, ROW_HASHES, ROW_BREAKS, TOTALS };
export { beginFile as hashPrompts } from './prompts';
export { assistantBytes, rowsOver4096, rowsOver8192, textBytes };
export { UNTRAINABLE_CODES, ANCHORS, PATTERNS, FORMAT_TABLE, ANSWER_HASHES, PROMPT_HASHES, ROW_FLAGS };

/** About 8,192 tokens: trainers often truncate rows to less. */
const LONG_ROW_BYTES: u32 = 32768;

/** Rows of the last call including blank ones, and its blank rows. */
export let rows: u32 = 0;
export let blankRows: u32 = 0;
/** Lone CRs in the rows of the last call, which end a line in the editor. */
export let lineBreaks: u32 = 0;
/** Unicode characters of the rows of the last call, including line ends. */
export let charactersRead: u32 = 0;

// Counts of the rows that are not blank, since `begin`.

/** Rows with a problem that is an error. */
export let errorRows: u32 = 0;

/** Bins of row lengths: one per byte below 32 bytes, then 32 per doubling. */
const LENGTH_BINS_COUNT = 32 * 24;
/** A u32 for each bin. */
export const LENGTH_BINS: usize = memory.data(LENGTH_BINS_COUNT * 4, 4);
/** A u32 for each format, also of the rows whose fields have its types, and for each role. */
export const FORMATS: usize = memory.data(FORMAT_COUNT * 4, 4);
export const TYPED_FORMATS: usize = memory.data(FORMAT_COUNT * 4, 4);
export const ROLES: usize = memory.data(ROLE_COUNT * 4, 4);
/** A u32 for each reason why rows can't be trained on. */
export const UNTRAINABLE: usize = memory.data(UNTRAINABLE_COUNT * 4, 4);
/** Turns of the longest conversation. */
export let maxTurns: u32 = 0;
export let maxLength: u32 = 0;

/** Begins a file. `hasMark`: whether it begins with a byte order mark. `prompts`: how to hash them, `HASH_NONE` and so on. */
export function begin(hasMark: bool, prompts: i32): void {
  forgetAll(hasMark);
  beginFile(prompts);
  forgetCounts();
}

/** Stores the hash of a row, without its line end, as that of the first one. */
export function hashInput(from: usize, to: usize): void {
  store<u64>(ROW_HASHES, hashRow(from, to));
}

/**
 * Checks the rows in `from..to` and returns where it stopped: at the end, at a row whose end is not in
 * memory, or at a row that doesn't fit because the regions are full. `atFileStart`: a byte order mark may be
 * at `from`. `atFileEnd`: the last row needs no line end.
 */
export function scan(from: usize, to: usize, atFileStart: bool, atFileEnd: bool): usize {
  // A sentinel that stops every loop over a row.
  store<u8>(to, 0x0a);
  beginCall();
  rows = 0;
  blankRows = 0;
  lineBreaks = 0;
  charactersRead = 0;
  let at = from;
  if (atFileStart && at + 3 <= to && isByteOrderMark(at)) {
    beginRow(at, 0, 0, false);
    noteInRow(BOM_AT_START, at, 3);
    endRow();
    at += 3;
  }
  const first = at;
  while (at < to && rows < MAX_ROWS && hasRoom()) {
    if (load<u8>(at) == 0x0a) {
      takeEmptyRow(at++);
      continue;
    }
    const lineEnd = findLineEnd(at, to);
    if (lineEnd == to && !(atFileEnd && to - at <= MAX_ROW_BYTES)) break;
    scanRow(at, lineEnd, lineEnd < to);
    at = min(lineEnd + 1, to);
  }
  if (rows > 0) searchSecrets(first, at, rows);
  return at;
}

/** Counts an empty row; fast, because a file may contain nothing else. */
function takeEmptyRow(at: usize): void {
  beginPlaces(at, rows, lineBreaks, false);
  report(BLANK_LINE, at, 0);
  blankRows++;
  charactersRead++;
  setRow(ROW_BLANK, 0, 0);
  endOfRow(at, 0, 0);
}

/** Counts a row that is too long to check; its first bytes are at `from`. */
export function skipRow(from: usize): void {
  beginCall();
  beginRow(from, 0, 0, false);
  report(ROW_TOO_LONG, from, 1);
  rows = 1;
  blankRows = 0;
  lineBreaks = 0;
  charactersRead = 0;
  store<u16>(ROW_FLAGS, ROW_UNCHECKED);
  store<u64>(PROMPT_HASHES, 0);
  store<u64>(ANSWER_HASHES, 0);
  store<u32>(ROW_STARTS, <u32>(from - inputStart()));
  store<u64>(ROW_HASHES, 0);
  store<u32>(ROW_BREAKS, 0);
}

function scanRow(start: usize, lineEnd: usize, hasLineEnd: bool): void {
  const hasCrlf = hasLineEnd && lineEnd > start && load<u8>(lineEnd - 1) == 0x0d;
  const end = hasCrlf ? lineEnd - 1 : lineEnd;
  const breaks = hasReturn ? countReturns(start, end) : 0;
  charactersRead += characters + <u32>hasLineEnd;
  beginRow(start, rows, lineBreaks, breaks > 0);
  if (hasCrlf) noteInRow(CRLF, end, 1);
  const text = skipSpace(start, end);
  let hash: u64 = 0;
  if (text == end) {
    blankRows++;
    noteInRow(BLANK_LINE, start, end - start);
    setRow(ROW_BLANK, 0, 0);
  } else if (end - start > MAX_ROW_BYTES) {
    noteInRow(ROW_TOO_LONG, start, 1);
    setRow(ROW_UNCHECKED, 0, 0);
  } else {
    const length = <u32>(end - start);
    countLength(length);
    if (length >= LONG_ROW_BYTES) noteInRow(VERY_LONG_ROW, start, 1);
    const isObject = readRow(text, end);
    if (isObject) {
      countShape();
      report(ROW_OF_FORMAT + format.number, start, 1);
    }
    // Rows that are not JSON, such as parts of a row with line breaks, are not duplicates.
    if (!hasFailed()) hash = hashRow(start, end);
    const flags = flagsOfRow() | (isObject ? format.number << ROW_FORMAT_SHIFT : 0);
    if (flags & ROW_ERROR) errorRows++;
    else increment(UNTRAINABLE, (flags >> ROW_UNTRAINABLE_SHIFT) & 3, 1);
    const prompt = isObject && hashesPrompts ? promptHash() : 0;
    setRow(flags, prompt, isObject && hashesPrompts ? answerHash() : 0);
  }
  endRow();
  endOfRow(start, hash, breaks);
}

/** Stores what the row is that ends now, with the hashes of its prompt and answer. */
function setRow(flags: i32, prompt: u64, answer: u64): void {
  store<u16>(ROW_FLAGS + ((<usize>rows) << 1), <u16>flags);
  store<u64>(PROMPT_HASHES + ((<usize>rows) << 3), prompt);
  store<u64>(ANSWER_HASHES + ((<usize>rows) << 3), answer);
}

/** Stores where a row begins, its hash, and its number of lone CRs. */
function endOfRow(start: usize, hash: u64, breaks: u32): void {
  store<u32>(ROW_STARTS + ((<usize>rows) << 2), <u32>(start - inputStart()));
  store<u64>(ROW_HASHES + ((<usize>rows) << 3), hash);
  store<u32>(ROW_BREAKS + ((<usize>rows) << 2), lineBreaks);
  rows++;
  lineBreaks += breaks;
  store<u32>(ROW_BREAKS + ((<usize>rows) << 2), lineBreaks);
}

function forgetCounts(): void {
  memory.fill(LENGTH_BINS, 0, LENGTH_BINS_COUNT * 4);
  memory.fill(FORMATS, 0, FORMAT_COUNT * 4);
  memory.fill(TYPED_FORMATS, 0, FORMAT_COUNT * 4);
  memory.fill(ROLES, 0, ROLE_COUNT * 4);
  memory.fill(UNTRAINABLE, 0, UNTRAINABLE_COUNT * 4);
  maxTurns = 0;
  maxLength = 0;
  forgetTexts();
  errorRows = 0;
}

function increment(table: usize, index: u32, by: u32): void {
  const counter = table + ((<usize>index) << 2);
  store<u32>(counter, load<u32>(counter) + by);
}

/** Counts a row of this many bytes. */
function countLength(length: u32): void {
  increment(LENGTH_BINS, binOf(length), 1);
  maxLength = max(maxLength, length);
}

function binOf(length: u32): u32 {
  if (length < 32) return length;
  const octave = 31 - clz(length);
  return ((octave - 4) << 5) + ((length >> (octave - 5)) & 31);
}

/** Counts the format and roles of the object that was read last. */
function countShape(): void {
  increment(FORMATS, format.number, 1);
  if (hasTypes) increment(TYPED_FORMATS, format.number, 1);
  countRowTexts();
  if (turns == 0) return;
  maxTurns = max(maxTurns, turns);
  for (let role = 0; role < ROLE_COUNT; role++)
    increment(ROLES, role, load<u32>(TURNS_BY_ROLE + ((<usize>role) << 2)));
}
