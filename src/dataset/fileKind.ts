import type { FileKind } from './report.ts';

/** How much of a file's beginning tells what it is. */
export const SAMPLE_BYTES = 64 * 1024;

const GZIP = [0x1f, 0x8b];
const ZIP = [0x50, 0x4b, 0x03, 0x04];
const PARQUET = [0x50, 0x41, 0x52, 0x31];
const UTF_16_MARKS = [
  [0xff, 0xfe],
  [0xfe, 0xff],
];

/** What a file is, by its first bytes: UTF-16 text and binary files have no rows that could be judged. */
export function kindOf(sample: Uint8Array): Exclude<FileKind, 'json-array'> {
  if (UTF_16_MARKS.some((mark) => startsWith(sample, mark))) return 'utf-16';
  if ([GZIP, ZIP, PARQUET].some((magic) => startsWith(sample, magic))) return 'binary';
  let zeros = 0;
  let oddZeros = 0;
  let controls = 0;
  for (const [index, byte] of sample.entries()) {
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

/** The first byte that is no white space. */
export function firstByte(sample: Uint8Array): number | undefined {
  return sample.find((byte) => !isSpace(byte));
}

/** The last byte that is no white space. */
export function lastByte(sample: Uint8Array): number | undefined {
  return sample.findLast((byte) => !isSpace(byte));
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function startsWith(bytes: Uint8Array, beginning: readonly number[]): boolean {
  return beginning.every((byte, index) => bytes[index] === byte);
}
