import { throwIfCancelled } from '../base/errors.ts';
import type { RowFile } from './rowFile.ts';

/** A longer text is cut: what is compared at each place must stay short. */
export const MAX_SEARCH_UNITS = 200;

const PIECE_BYTES = 128 * 1024;
/** `\uXXXX`, the longest way in which JSON spells one unit. */
const BYTES_OF_AN_ESCAPE = 6;
const LF = '\n';

/** What a search has come to. */
export interface SearchStep {
  /** Rows with the text, found since the step before, in the order of the file. */
  rows: number[];
  /** Bytes looked at so far. */
  bytes: number;
}

/** A text to look for, in every spelling that JSON has for it. */
export interface SearchPattern {
  /** Finds it in bytes that were read as Latin-1: that way each byte is one character, and nothing need be decoded. */
  expression: RegExp;
  /** No match is longer. */
  maxBytes: number;
}

/** The pattern of a text as a person reads it; undefined where there is nothing to look for. */
export function searchPattern(text: string, matchCase: boolean): SearchPattern | undefined {
  const wanted = text.slice(0, MAX_SEARCH_UNITS);
  if (wanted === '') return undefined;
  const source = Array.from(wanted, (character) => spellings(character, matchCase)).join('');
  return { expression: new RegExp(source, 'g'), maxBytes: wanted.length * BYTES_OF_AN_ESCAPE };
}

/**
 * Looks through a file from its start, a piece at a time, and tells the rows that hold the text, each once. It goes on when
 * the next step is asked for, so whoever has enough just stops asking.
 * @throws CancelledError, CheckError `unreadable`
 */
export async function* searchRows(
  file: RowFile,
  { expression, maxBytes }: SearchPattern,
  signal: AbortSignal,
): AsyncGenerator<SearchStep, void, undefined> {
  const buffer = Buffer.allocUnsafeSlow(maxBytes + PIECE_BYTES);
  /** The row in which the buffer begins. */
  let row = 1;
  let lastFound = 0;
  let kept = 0;
  for (let offset = 0; offset < file.sizeBytes;) {
    const piece = await file.read(buffer.subarray(kept, kept + PIECE_BYTES), offset);
    throwIfCancelled(signal);
    if (piece.length === 0) return;
    offset += piece.length;
    const text = buffer.toString('latin1', 0, kept + piece.length);
    const rows: number[] = [];
    let at = 0;
    expression.lastIndex = 0;
    for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
      row += countLineFeeds(text, at, match.index);
      at = match.index;
      if (row > lastFound) rows.push(row);
      lastFound = Math.max(row, lastFound);
      const end = text.indexOf(LF, at);
      if (end === -1) break;
      expression.lastIndex = end;
    }
    // A match may begin in this piece and end in the next one.
    const keepFrom = Math.max(0, text.length - maxBytes);
    row += keepFrom >= at ? countLineFeeds(text, at, keepFrom) : -countLineFeeds(text, keepFrom, at);
    kept = buffer.copy(buffer, 0, keepFrom, text.length);
    yield { rows, bytes: offset };
  }
}

/** Each way to write a character in a JSON string, and the character itself: the bytes of each. */
function spellings(character: string, matchCase: boolean): string {
  const cases = new Set(
    matchCase ? [character] : [character, character.toLowerCase(), character.toUpperCase()],
  );
  // Nobody escapes what needs none.
  if (/^[A-Za-z0-9 ]$/.test(character)) return cases.size === 1 ? character : `[${[...cases].join('')}]`;
  const short = { '"': '"', '\\': '\\\\', '/': '\\/', '\t': 't' }[character];
  const ways = [
    ...(short === undefined ? [] : [`\\\\${short}`]),
    ...[...cases].map(bytesOf),
    ...[...cases].map((one) => one.replace(/[^]/g, escapeOfUnit)),
  ];
  return `(?:${ways.join('|')})`;
}

/** The UTF-8 bytes of a text as Latin-1, none of them with a meaning in an expression. */
function bytesOf(text: string): string {
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** The four digits may be written either way whatever the case of the text. */
function escapeOfUnit(unit: string): string {
  const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
  return `\\\\u${digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`;
}

function countLineFeeds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf(LF, from); at !== -1 && at < to; at = text.indexOf(LF, at + 1)) count += 1;
  return count;
}
