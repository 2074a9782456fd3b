import { open, stat } from 'node:fs/promises';
import { isMissing } from '../base/diskError.ts';
import { stampOf, type FileStamp } from '../base/fileStamp.ts';
import type { FileKind, Report } from './report.ts';

/** How much of a file's beginning is read to detect its kind. */
export const SAMPLE_BYTES = 64 * 1024;

const GZIP: readonly number[] = [0x1f, 0x8b];
const ZIP: readonly number[] = [0x50, 0x4b, 0x03, 0x04];
const PARQUET: readonly number[] = [0x50, 0x41, 0x52, 0x31];
const UTF_8_MARK: readonly number[] = [0xef, 0xbb, 0xbf];
const UTF_16_MARKS: readonly (readonly number[])[] = [
  [0xff, 0xfe],
  [0xfe, 0xff],
];

/** What a file is, by its first bytes: UTF-16 text and binary files have no rows that could be judged. */
export function kindOf(sample: Uint8Array): Exclude<FileKind, 'json-array'> {
  if (UTF_16_MARKS.some((mark) => startsWith(sample, mark))) return 'utf-16';
  if (isUtf16Json(sample)) return 'utf-16';
  if ([GZIP, ZIP, PARQUET].some((magic) => startsWith(sample, magic))) return 'binary';
  let zeros = 0;
  let oddZeros = 0;
  let controls = 0;
  for (let index = 0; index < sample.length; index++) {
    const byte = sample[index] ?? 0;
    if (byte === 0) {
      zeros++;
      oddZeros += index & 1;
    }
    // Tab, LF and CR are of text.
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) controls++;
  }
  // Of ASCII in UTF-16 every other byte is zero, and always the same one of the two.
  const sameSide = Math.max(oddZeros, zeros - oddZeros);
  if (zeros > sample.length * 0.3 && sameSide > zeros * 0.9) return 'utf-16';
  return controls > sample.length * 0.1 ? 'binary' : 'rows';
}

/** True if the first two characters are ASCII, as all JSON texts begin, in UTF-16 (RFC 4627, section 3). */
function isUtf16Json([a, b, c, d]: Uint8Array): boolean {
  return a === 0 && c === 0 ? Boolean(b) && Boolean(d) : b === 0 && d === 0 && Boolean(a) && Boolean(c);
}

/** True if a file begins with a byte order mark of UTF-8. */
export function hasByteOrderMark(sample: Uint8Array): boolean {
  return startsWith(sample, UTF_8_MARK);
}

/** The first byte that is not white space. */
export function firstByte(sample: Uint8Array): number | undefined {
  return sample.find((byte) => !isSpace(byte));
}

/** The last byte that is not white space. */
export function lastByte(sample: Uint8Array): number | undefined {
  return sample.findLast((byte) => !isSpace(byte));
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function startsWith(bytes: Uint8Array, beginning: readonly number[]): boolean {
  return beginning.every((byte, index) => bytes[index] === byte);
}

/** Why a file cannot be sent as a dataset. */
export type DatasetProblem = 'missing' | 'folder' | 'not-a-file' | 'unreadable' | 'empty' | 'too-large';

export interface DatasetFile extends FileStamp {
  path: string;
}

/** Whether a file can be sent at all, without reading its rows. Never throws. */
export async function inspectDataset(path: string, maxBytes: number): Promise<DatasetFile | DatasetProblem> {
  try {
    const found = await stat(path, { bigint: true });
    if (found.isDirectory()) return 'folder';
    // Not opened: opening a pipe would wait for its writer.
    if (!found.isFile()) return 'not-a-file';
    // Whether a file may be read is known only by opening it.
    await (await open(path, 'r')).close();
    const stamp = stampOf(found);
    if (stamp.sizeBytes === 0) return 'empty';
    return stamp.sizeBytes > maxBytes ? 'too-large' : { path, ...stamp };
  } catch (error) {
    return isMissing(error) ? 'missing' : 'unreadable';
  }
}

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Whether a file is one JSON array instead of rows: it begins and ends like one, and its rows are not arrays of their own.
 * @param start its first bytes
 * @param end its last bytes
 */
export function isJsonArray(report: Report, start: Uint8Array, end: Uint8Array): boolean {
  const text = hasByteOrderMark(start) ? start.subarray(3) : start;
  if (firstByte(text) !== OPEN_BRACKET || lastByte(end) !== CLOSE_BRACKET) return false;
  const isOneRow = report.rows - report.blankRows === 1;
  const firstError = Math.min(
    ...report.problems
      .filter((group) => group.class === 'grammar' && group.located > 0)
      .map((group) => group.at(0).row),
  );
  return isOneRow ? firstError === Infinity : firstError <= report.blankRows + 1;
}
