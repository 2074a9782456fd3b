// Reads a row as JSON (RFC 8259), without recursion. Open containers are a stack of bits with room for any depth.
import { isLetter } from './characters';
import * as codes from './codes';
import { fail, noteInRow, row } from './found';
import { beginKeys, newObject, takeKey } from './keys';
import { KIND_BOOLEAN, KIND_NULL, KIND_NUMBER, KIND_STRING } from './names';
import { readNumber } from './numbers';
import { beginShape, closeShape, endShape, keyShape, MAX_SHAPE_DEPTH, openShape } from './shape';
import { scalarShape, shapeDepth } from './shape';
import { readString } from './strings';
import { isByteOrderMark, sequenceLength } from './utf8';

export const LONGEST_ROW: u32 = codes.MAX_ROW_BYTES;
/** Keys are compared down to this level; parsers usually refuse deeper ones. */
const MAX_DEPTH = 512;

/** One bit for each open container, set for an object; large enough for any row. */
const OPEN: usize = memory.data(codes.MAX_ROW_BYTES / 8);
/** The number of the open object at each level, for its keys. */
const OBJECTS: usize = memory.data((MAX_DEPTH + 1) * 4, 4);

const EIGHT_BRACKETS: u64 = 0x5b5b5b5b5b5b5b5b;

/** What the next token may be. */
const VALUE = 0;
const VALUE_OR_CLOSE = 1;
const KEY = 2;
const KEY_OR_CLOSE = 3;
const AFTER_VALUE = 4;

/**
 * Checks a row whose first byte after white space is at `from`. Fails if it isn't JSON, and notes other problems. Returns whether it
 * is an object.
 */
export function readRow(from: usize, end: usize): bool {
  let at = from;
  if (isByteOrderMark(at)) {
    noteInRow(codes.BOM_INSIDE, at, 3);
    at = skipSpace(at + 3, end);
  }
  const isObject = load<u8>(at) == 0x7b;
  const start = at;
  beginKeys();
  beginShape();
  if (readTokens(at, end) == 0) return false;
  if (isObject) endShape(start);
  else noteInRow(codes.NOT_AN_OBJECT, start, 1);
  return isObject;
}

/** Reads one value with nothing after it; returns 0 after a failure. */
function readTokens(from: usize, end: usize): usize {
  let at = from;
  let state = VALUE;
  let comma: usize = 0;
  let depth: i32 = 0;
  while (true) {
    at = skipSpace(at, end);
    if (at >= end) return state == AFTER_VALUE && depth == 0 ? at : fail(codes.UNEXPECTED_END, end, 1);
    const character = <u32>load<u8>(at);
    if (state == AFTER_VALUE) {
      if (depth == 0) return readExtra(from, at, end);
      if (character == 0x2c) {
        comma = at++;
        state = isInObject(depth) ? KEY : VALUE;
      } else if (character == (isInObject(depth) ? 0x7d : 0x5d)) {
        close(depth--, at++);
      } else {
        return fail(
          character == 0x7d || character == 0x5d ? codes.UNEXPECTED_CHARACTER : codes.COMMA_EXPECTED,
          at,
          1,
        );
      }
      continue;
    }
    if (state == KEY || state == KEY_OR_CLOSE) {
      if (character == 0x22) {
        at = readKey(at, end, depth);
        if (at == 0) return 0;
        state = VALUE;
      } else if (character == 0x7d) {
        if (state == KEY) return fail(codes.TRAILING_COMMA, comma, 1);
        close(depth--, at++);
        state = AFTER_VALUE;
      } else if (isTypographicQuote(at)) {
        return fail(codes.TYPOGRAPHIC_QUOTES, at, 3);
      } else {
        return fail(character == 0x27 ? codes.SINGLE_QUOTE : codes.KEY_EXPECTED, at, 1);
      }
      continue;
    }
    if (character == 0x22) {
      const next = readString(at + 1, end);
      if (next == 0) return 0;
      if (shapeDepth(depth) <= MAX_SHAPE_DEPTH) scalarShape(shapeDepth(depth), KIND_STRING, at + 1, next - 1);
      at = next;
      state = AFTER_VALUE;
    } else if (depth > MAX_DEPTH && (depth & 7) == 0 && load<u64>(at) == EIGHT_BRACKETS) {
      // Nothing is noted at this depth, so skip eight brackets at once: a file full of brackets must not be slow.
      store<u8>(OPEN + (<usize>depth >> 3), 0);
      depth += 8;
      at += 8;
      state = VALUE_OR_CLOSE;
    } else if (character == 0x7b || character == 0x5b) {
      open(++depth, character == 0x7b, at++);
      state = character == 0x7b ? KEY_OR_CLOSE : VALUE_OR_CLOSE;
    } else if (character == 0x5d && state == VALUE_OR_CLOSE) {
      close(depth--, at++);
      state = AFTER_VALUE;
    } else if (character == 0x5d && depth > 0 && !isInObject(depth)) {
      return fail(codes.TRAILING_COMMA, comma, 1);
    } else {
      at = readBare(at, end, character, depth);
      if (at == 0) return 0;
      state = AFTER_VALUE;
    }
  }
}

/** Handles text after the value that begins at `from`. Fails, unless it is only a comma after an object: then returns the end. */
function readExtra(from: usize, at: usize, end: usize): usize {
  const isComma = load<u8>(at) == 0x2c && skipSpace(at + 1, end) == end;
  // An indented object with a comma is more likely an element of an array.
  const isIndented = load<u8>(from - 1) == 0x20 || load<u8>(from - 1) == 0x09;
  if (!isComma || load<u8>(from) != 0x7b || isIndented) return fail(codes.EXTRA_VALUE, at, <i32>(end - at));
  // Not a failure: the object itself is valid, so its shape is checked and its row counted.
  noteInRow(codes.COMMA_AFTER_OBJECT, at, 1);
  return end;
}

/** Reads a key with its colon; returns the address after the colon, or 0 after a failure. */
function readKey(at: usize, end: usize, depth: i32): usize {
  const next = readString(at + 1, end);
  if (next == 0) return 0;
  if (depth <= MAX_DEPTH)
    takeKey(load<u32>(OBJECTS + ((<usize>depth) << 2)), at + 1, next - 1, row.hasEscape);
  if (shapeDepth(depth) <= MAX_SHAPE_DEPTH) keyShape(shapeDepth(depth), at + 1, next - 1);
  const colon = skipSpace(next, end);
  if (colon >= end) return fail(codes.UNEXPECTED_END, end, 1);
  return load<u8>(colon) == 0x3a ? colon + 1 : fail(codes.COLON_EXPECTED, colon, 1);
}

/** Reads a number or a literal; returns its end, or 0 after a failure. */
function readBare(at: usize, end: usize, character: u32, depth: i32): usize {
  if (character == 0x2d || character - 0x30 < 10) {
    const next = readNumber(at, end);
    if (next != 0 && shapeDepth(depth) <= MAX_SHAPE_DEPTH)
      scalarShape(shapeDepth(depth), KIND_NUMBER, at, next);
    return next;
  }
  const word = load<u32>(at);
  let length = 0;
  if (word == 0x65757274 || word == 0x6c6c756e) length = 4; // true, null
  if (word == 0x736c6166 && load<u8>(at + 4) == 0x65) length = 5; // false
  if (length > 0 && !isLetter(load<u8>(at + length))) {
    if (shapeDepth(depth) <= MAX_SHAPE_DEPTH)
      scalarShape(shapeDepth(depth), word == 0x6c6c756e ? KIND_NULL : KIND_BOOLEAN, at, at + length);
    return at + length;
  }
  if (isByteOrderMark(at)) return fail(codes.BOM_INSIDE, at, 3);
  if (character >= 0x80 && sequenceLength(at) == 0) return fail(codes.INVALID_UTF8, at, 1);
  if (character == 0x27) return fail(codes.SINGLE_QUOTE, at, 1);
  if (character == 0x2b || character == 0x2e) return fail(codes.BAD_NUMBER, at, 1);
  if (isTypographicQuote(at)) return fail(codes.TYPOGRAPHIC_QUOTES, at, 3);
  if (!isLetter(character)) return fail(codes.UNEXPECTED_CHARACTER, at, 1);
  let wordEnd = at;
  while (isLetter(load<u8>(wordEnd))) wordEnd++;
  return fail(codes.BAD_LITERAL, at, wordEnd - at);
}

/** Whether it is one of U+2018 to U+201F, which word processors write for straight quotes. */
function isTypographicQuote(at: usize): bool {
  return load<u16>(at) == 0x80e2 && <u32>load<u8>(at, 2) - 0x98 < 8;
}

/** Returns the first byte that is not white space, or `end` if there is none. */
export function skipSpace(from: usize, end: usize): usize {
  let at = from;
  for (; at < end; at++) {
    const character = <u32>load<u8>(at);
    if (character > 0x20) break;
    if (character != 0x20 && character != 0x09 && character != 0x0a && character != 0x0d) break;
  }
  return at;
}

function isInObject(depth: i32): bool {
  const index = <u32>(depth - 1);
  return <bool>((load<u8>(OPEN + (index >> 3)) >> (index & 7)) & 1);
}

/** Opens a container, which is then at this depth. */
function open(depth: i32, isObject: bool, at: usize): void {
  const index = <u32>(depth - 1);
  const byte = OPEN + (index >> 3);
  const bit: u32 = 1 << (index & 7);
  store<u8>(byte, isObject ? load<u8>(byte) | bit : load<u8>(byte) & ~bit);
  if (depth > MAX_DEPTH) {
    if (depth == MAX_DEPTH + 1) noteInRow(codes.TOO_DEEP, at, 1);
    return;
  }
  if (isObject) store<u32>(OBJECTS + ((<usize>depth) << 2), newObject());
  if (shapeDepth(depth) <= MAX_SHAPE_DEPTH) openShape(shapeDepth(depth), isObject, at);
}

function close(depth: i32, at: usize): void {
  if (shapeDepth(depth) <= MAX_SHAPE_DEPTH) closeShape(shapeDepth(depth), at);
}
