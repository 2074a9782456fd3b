import { StoppedError } from './hashIndex.ts';
import { endOfText, PLACE_NUMBERS, type Scanned, type Scanner } from './scanner.ts';
import {
  API_KEY,
  CARD_NUMBER,
  DUPLICATE_KEY,
  EMAIL_ADDRESS,
  HASH_NONE,
  HASH_NORMALIZED,
  PRIVATE_KEY,
  ROW_ERROR,
} from './scanner/codes.ts';

/** How many secrets of each kind were masked. */
export interface MaskCounts {
  apiKeys: number;
  privateKeys: number;
  emailAddresses: number;
  cardNumbers: number;
}

/** What to mask, which is to replace it by a placeholder such as `[API_KEY]`. */
export interface Masks {
  /** API keys and private keys. */
  secrets: boolean;
  /** Email addresses and card numbers. */
  personal: boolean;
}

/** One scan locates up to 5,000 secrets of each kind. More rounds aren't worth the time. */
const MAX_ROUNDS = 16;
const DOUBLE_QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** The last line of a private key (RFC 7468; SSH2 has spaces), and the word by which it is found. */
const KEY_END = /^----[- ]END [^-]{0,30}PRIVATE KEY[^-]{0,10}-{4,5}/;
const END_WORD = 'END ';
const MAX_END = 64;
const DASHES = '-----';
/** A private key without an end line must fill this much of its string. Otherwise its lines are in other strings. */
const MIN_KEY_BYTES = 100;
/** The base64 value after this name is a key; the name stays. */
const ACCOUNT_KEY = /^AccountKey(?:=|\\+u003d)/i;

/** A range of a row, and the code of what is in it. */
interface Range {
  code: number;
  from: number;
  to: number;
}

/** A scanned row, valid until the scanner's next call. */
export interface ScannedRow {
  /** Has no row if the row is too long. */
  scanned: Scanned;
  /** The row without a line end. */
  bytes: Uint8Array;
}

/** Scans one row on its own. */
export function scanRow(scanner: Scanner, row: Uint8Array, withPrompts: boolean): ScannedRow {
  const bytes = scanner.input(row.length);
  bytes.set(row);
  scanner.begin(false, withPrompts ? HASH_NORMALIZED : HASH_NONE);
  return { scanned: scanner.scan(0, row.length, false, true), bytes };
}

export function noMasks(): MaskCounts {
  return { apiKeys: 0, privateKeys: 0, emailAddresses: 0, cardNumbers: 0 };
}

/**
 * Masks secrets in a row, until a scan finds no more.
 * @param row must not be in the scanner's memory
 * @returns the row after the last scan; undefined if it is too long, has too many secrets, or would no longer be the same JSON
 * @throws StoppedError
 */
export function maskRow(
  scanner: Scanner,
  row: Uint8Array,
  masks: Masks,
  { withPrompts = false, shouldContinue }: { withPrompts?: boolean; shouldContinue?: () => boolean } = {},
): { row: ScannedRow; masked: MaskCounts } | undefined {
  let current = scanRow(scanner, row, withPrompts);
  const before = { isJson: isJson(current), repeatsKey: repeatsKey(current) };
  const masked = noMasks();
  for (let round = 0; round < MAX_ROUNDS && current.scanned.rows === 1; round++) {
    if (shouldContinue?.() === false) throw new StoppedError();
    const ranges = rangesOf(current, masks);
    if (ranges === undefined) return undefined;
    if (ranges.length === 0) {
      // Two keys of an object may become equal: that would change the object.
      const isBroken = (before.isJson && !isJson(current)) || (!before.repeatsKey && repeatsKey(current));
      return isBroken ? undefined : { row: current, masked };
    }
    for (const { code } of ranges) masked[KINDS[code] ?? 'apiKeys']++;
    current = scanRow(scanner, replaced(current.bytes, ranges), withPrompts);
  }
  return undefined;
}

const KINDS: Readonly<Record<number, keyof MaskCounts>> = {
  [API_KEY]: 'apiKeys',
  [PRIVATE_KEY]: 'privateKeys',
  [EMAIL_ADDRESS]: 'emailAddresses',
  [CARD_NUMBER]: 'cardNumbers',
};

function isJson({ scanned }: ScannedRow): boolean {
  return ((scanned.rowFlags[0] ?? ROW_ERROR) & ROW_ERROR) === 0;
}

function repeatsKey({ scanned: { places } }: ScannedRow): boolean {
  for (let at = 0; at < places.length; at += PLACE_NUMBERS) if (places[at] === DUPLICATE_KEY) return true;
  return false;
}

/**
 * Returns what to mask, in order and without overlaps. An address inside a secret counts as part of it.
 * Undefined if a private key can't be masked.
 */
function rangesOf(
  { scanned: { places }, bytes }: ScannedRow,
  { secrets, personal }: Masks,
): Range[] | undefined {
  const found: Range[] = [];
  for (let at = 0; at < places.length; at += PLACE_NUMBERS) {
    const [code = 0, , , from = 0, , length = 0] = places.subarray(at, at + PLACE_NUMBERS);
    const isSecret = code === API_KEY || code === PRIVATE_KEY;
    const isChosen = isSecret ? secrets : personal && (code === EMAIL_ADDRESS || code === CARD_NUMBER);
    if (isChosen) found.push({ code, from, to: endOfText(bytes, from, length) });
  }
  found.sort((one, other) => one.from - other.from);
  const merged: Range[] = [];
  const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const lastEnd = lastLineOf(row, 'END');
  for (const range of found) {
    const last = merged.at(-1);
    if (last !== undefined && range.from < last.to) {
      last.to = Math.max(last.to, range.to);
      if (range.code === PRIVATE_KEY || (range.code === API_KEY && last.code !== PRIVATE_KEY))
        last.code = range.code;
      continue;
    }
    if (range.code === PRIVATE_KEY) {
      const to = endOfKey(row, range.from, lastEnd);
      if (to === undefined) return undefined;
      range.to = to;
    }
    merged.push(range);
  }
  return merged;
}

/**
 * Returns the end of the private key whose first line is at `from`. That is after its last line, or the end of the string if the
 * key fills it. Undefined if the key continues in other strings.
 * @param lastEnd where the last line of the row's last key may be, or -1
 */
function endOfKey(row: Buffer, from: number, lastEnd: number): number | undefined {
  const quote = row.indexOf(DOUBLE_QUOTE, from);
  let end = quote < 0 ? row.length : quote;
  // JSON in a string has escaped quotes.
  while (row[end - 1] === BACKSLASH) end--;
  for (let at = from; at <= lastEnd; at++) {
    at = row.indexOf(END_WORD, at);
    const line = at - DASHES.length;
    const [found] = KEY_END.exec(row.toString('latin1', line, line + MAX_END)) ?? [];
    if (found !== undefined) return line + found.length <= end ? line + found.length : undefined;
  }
  return end - from < MIN_KEY_BYTES ? undefined : end;
}

/** Returns where the last BEGIN or END line of a key is, or -1. SSH2 has a space after four dashes. */
export function lastLineOf(row: Buffer, word: 'BEGIN' | 'END'): number {
  return Math.max(row.lastIndexOf(`${DASHES}${word} `), row.lastIndexOf(`---- ${word} `));
}

function replaced(bytes: Uint8Array, ranges: readonly Range[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { code, from, to } of ranges) {
    pieces.push(bytes.subarray(at, from), maskOf(code, bytes.subarray(from, to)));
    at = to;
  }
  return Buffer.concat([...pieces, bytes.subarray(at)]);
}

function maskOf(code: number, found: Uint8Array): Uint8Array {
  if (code === CARD_NUMBER) return zeros(found);
  const text = Buffer.from(found).toString('latin1');
  if (code === EMAIL_ADDRESS) return Buffer.from('[EMAIL]');
  if (code === PRIVATE_KEY) return Buffer.from('[PRIVATE_KEY]');
  return Buffer.from(`${ACCOUNT_KEY.exec(text)?.[0] ?? ''}[API_KEY]`);
}

/** Replaces all digits but the first one with zeros. The result is still a number, but not a card number. */
function zeros(found: Uint8Array): Uint8Array {
  let digits = 0;
  return Uint8Array.from(found, (byte) => (byte >= 0x30 && byte <= 0x39 && digits++ > 0 ? 0x30 : byte));
}
