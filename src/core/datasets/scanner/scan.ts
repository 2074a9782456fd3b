import { ANSWER_HASHES, beginFile, call, CALL, clear, file, FORMAT_COUNTS, inputStart } from './buffers';
import { SCAN_ROWS, PROMPT_HASHES, ROLE_COUNTS, ROW_BREAKS, ROW_FLAGS } from './buffers';
import { ROW_HASHES, ROW_STARTS, TYPED_FORMATS, UNTRAINABLE_COUNTS } from './buffers';
import * as codes from './codes';
import { conversation, TURNS_BY_ROLE } from './conversation';
// The scanner: checks rows of a dataset that are completely in its memory. Its results are in memory regions (`buffers.ts`). Its only
// caller is `datasets/scanner.ts`.
import { beginPlaces, beginRow, endRow, flagsOfRow, hasFailed, hasRoom, noteInRow, report } from './found';
import { LONGEST_ROW, readRow, skipSpace } from './grammar';
import { promptHash, hashMessages, textsHash } from './hashes';
import { countReturns, findLineEnd, hashRow, line } from './lines';
import { hashPrompts, whole } from './prompts';
import { searchSecrets } from './secrets';
import { shape } from './shape';
import { isByteOrderMark } from './utf8';

export { FILE, inputStart, PLACES, reserve, TOTALS } from './buffers';
export { ANCHORS, PATTERNS } from './keyPatterns';
export { FORMAT_TABLE } from './formats';
export { UNTRAINABLE_CODES } from './found';
export { CALL, ROW_STARTS, ROW_HASHES, ROW_BREAKS, ROW_FLAGS, PROMPT_HASHES, ANSWER_HASHES };
export { FORMAT_COUNTS, TYPED_FORMATS, ROLE_COUNTS, UNTRAINABLE_COUNTS, hashPrompts };

/** About 8,192 tokens: trainers often truncate rows to less. */
const LONG_ROW_BYTES: u32 = 32768;

/** Begins a file. @param hasMark whether it begins with a byte order mark @param prompts how to hash them: `HASH_NONE` and so on */
export function begin(hasMark: bool, prompts: i32): void {
  beginFile();
  file.showsEachByte = hasMark;
  hashPrompts(prompts);
}

/** Hashes a row without its line end, and stores the hash as that of the first row. */
export function hashInput(from: usize, to: usize): void {
  store<u64>(ROW_HASHES, hashRow(from, to));
}

/**
 * Checks the rows in `from..to`. Returns where it stopped: at the end, at a row whose end isn't in memory, or where the regions are
 * full.
 * @param atFileStart whether a byte order mark may be at `from`
 * @param atFileEnd whether the last row needs no line end
 */
export function scan(from: usize, to: usize, atFileStart: bool, atFileEnd: bool): usize {
  // A line end that stops every loop over the last row.
  store<u8>(to, 0x0a);
  clear(CALL, 32);
  let at = from;
  if (atFileStart && at + 3 <= to && isByteOrderMark(at)) {
    beginRow(at, 0, 0, false);
    noteInRow(codes.BOM_AT_START, at, 3);
    endRow();
    at += 3;
  }
  const first = at;
  while (at < to && call.rows < SCAN_ROWS && hasRoom()) {
    if (load<u8>(at) == 0x0a) {
      takeEmptyRow(at++);
      continue;
    }
    const lineEnd = findLineEnd(at, to);
    if (lineEnd == to && !(atFileEnd && to - at <= LONGEST_ROW)) break;
    scanRow(at, lineEnd, lineEnd < to);
    at = min(lineEnd + 1, to);
  }
  if (call.rows > 0) searchSecrets(first, at, call.rows);
  return at;
}

/** Counts an empty row. It must be fast: a file may have nothing else. */
function takeEmptyRow(at: usize): void {
  beginPlaces(at, call.rows, call.lineBreaks, false);
  report(codes.BLANK_LINE, at, 0);
  call.blankRows++;
  call.characters++;
  setRow(codes.ROW_BLANK);
  endOfRow(at, 0, 0);
}

/** Counts a row that is too long to check; its first bytes are at `from`. */
export function skipRow(from: usize): void {
  clear(CALL, 32);
  beginRow(from, 0, 0, false);
  report(codes.ROW_TOO_LONG, from, 1);
  setRow(codes.ROW_UNCHECKED);
  call.rows = 1;
  store<u32>(ROW_STARTS, <u32>(from - inputStart()));
  store<u64>(ROW_HASHES, 0);
  store<u32>(ROW_BREAKS, 0);
}

function scanRow(start: usize, lineEnd: usize, hasLineEnd: bool): void {
  const hasCrlf = hasLineEnd && lineEnd > start && load<u8>(lineEnd - 1) == 0x0d;
  const end = hasCrlf ? lineEnd - 1 : lineEnd;
  const breaks = line.hasReturn ? countReturns(start, end) : 0;
  call.characters += line.characters + <u32>hasLineEnd;
  beginRow(start, call.rows, call.lineBreaks, breaks > 0);
  if (hasCrlf) noteInRow(codes.CRLF, end, 1);
  const text = skipSpace(start, end);
  let hash: u64 = 0;
  if (text == end) {
    call.blankRows++;
    noteInRow(codes.BLANK_LINE, start, end - start);
    setRow(codes.ROW_BLANK);
  } else if (end - start > LONGEST_ROW) {
    noteInRow(codes.ROW_TOO_LONG, start, 1);
    setRow(codes.ROW_UNCHECKED);
  } else {
    const length = <u32>(end - start);
    file.maxLength = max(file.maxLength, length);
    if (length >= LONG_ROW_BYTES) noteInRow(codes.VERY_LONG_ROW, start, 1);
    const isObject = readRow(text, end);
    if (isObject) {
      countShape();
      report(codes.ROW_OF_FORMAT + shape.format.number, start, 1);
    }
    // Rows that are not JSON, such as parts of a row with line breaks, are not duplicates.
    if (!hasFailed()) hash = hashRow(start, end);
    const flags = flagsOfRow() | (isObject ? shape.format.number << codes.ROW_FORMAT_SHIFT : 0);
    if (flags & codes.ROW_ERROR) file.errorRows++;
    else
      increment(UNTRAINABLE_COUNTS, (flags >> codes.ROW_UNTRAINABLE_SHIFT) & codes.ROW_UNTRAINABLE_MASK, 1);
    setRow(flags);
    if (isObject && file.hashing != codes.HASH_NONE) takeHashes();
  }
  endRow();
  endOfRow(start, hash, breaks);
}

/** Stores the flags of the current row. */
function setRow(flags: i32): void {
  store<u16>(ROW_FLAGS + ((<usize>call.rows) << 1), <u16>flags);
  setHashes(0, 0);
}

/** Stores the hashes of the current row's prompt and answer. */
function setHashes(prompt: u64, answer: u64): void {
  store<u64>(PROMPT_HASHES + ((<usize>call.rows) << 3), prompt);
  store<u64>(ANSWER_HASHES + ((<usize>call.rows) << 3), answer);
}

/** Stores the hashes of the object that was read last. */
function takeHashes(): void {
  hashMessages();
  const prompt = promptHash();
  if (prompt == 0 && shape.format.second != 0) file.unprompted++;
  setHashes(prompt, file.hashing == codes.HASH_TEXTS ? textsHash() : whole.answer);
}

/** Stores where a row begins, its hash, and its number of lone CRs. */
function endOfRow(start: usize, hash: u64, breaks: u32): void {
  store<u32>(ROW_STARTS + ((<usize>call.rows) << 2), <u32>(start - inputStart()));
  store<u64>(ROW_HASHES + ((<usize>call.rows) << 3), hash);
  store<u32>(ROW_BREAKS + ((<usize>call.rows) << 2), call.lineBreaks);
  call.rows++;
  call.lineBreaks += breaks;
  store<u32>(ROW_BREAKS + ((<usize>call.rows) << 2), call.lineBreaks);
}

function increment(table: usize, index: u32, by: u32): void {
  const counter = table + ((<usize>index) << 2);
  store<u32>(counter, load<u32>(counter) + by);
}

/** Counts the format and roles of the object that was read last. */
function countShape(): void {
  increment(FORMAT_COUNTS, shape.format.number, 1);
  if (shape.hasTypes) increment(TYPED_FORMATS, shape.format.number, 1);
  if (conversation.turns == 0) return;
  file.maxTurns = max(file.maxTurns, conversation.turns);
  for (let role = 0; role < codes.ROLE_COUNT; role++)
    increment(ROLE_COUNTS, role, load<u32>(TURNS_BY_ROLE + ((<usize>role) << 2)));
}
