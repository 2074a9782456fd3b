// The hashes by which rows are compared: of the prompt, and of the answer or of all texts. Runs in a worker thread.
import { closeSync, fstatSync, openSync } from 'node:fs';
import { isSameStamp, stampOf } from '../base/fileStamp.ts';
import type { DatasetFile } from './fileKind.ts';
import { StoppedError } from './hashIndex.ts';
import { CheckError } from './report.ts';
import type { Scanned, Scanner } from './scanner.ts';
import { HASH_TEXTS, ROW_BLANK, ROW_ERROR, ROW_UNCHECKED } from './scanner/codes.ts';
import { scanSegment, SEGMENT_BYTES } from './segments.ts';

export interface HashedRow {
  /** From 1. */
  row: number;
  /** If there is no prompt: the hash of all texts, or else of the row. */
  prompt: readonly [low: number, high: number];
  hasPrompt: boolean;
  /** The hash of the answer or of all texts, by `HashReader.hashing`. Zeros if there are none. */
  text: readonly [low: number, high: number];
}

/** How to read rows: the scanner, what it hashes, and whether to continue. */
export interface HashReader {
  scanner: Scanner;
  /** `HASH_NORMALIZED`, `HASH_ANSWERS` or `HASH_TEXTS`. */
  hashing: number;
  shouldContinue: () => boolean;
}

/**
 * Reads the rows of a file in order. Rows with errors can't be compared, and blank ones don't count.
 * @returns how many rows can't be compared
 * @throws CheckError `changing` if the file has changed since it was inspected; StoppedError; errors of the file system
 */
export function readHashes(file: DatasetFile, reader: HashReader, take: (row: HashedRow) => void): number {
  const fd = openSync(file.path, 'r');
  try {
    const check = () => {
      if (!isSameStamp(file, stampOf(fstatSync(fd, { bigint: true })))) throw new CheckError('changing');
    };
    check();
    reader.scanner.begin(false, reader.hashing);
    let rows = 0;
    let left = 0;
    for (let number = 0; number * SEGMENT_BYTES < file.sizeBytes; number++) {
      if (!reader.shouldContinue()) throw new StoppedError();
      for (const { scanned } of scanSegment(reader.scanner, { fd, sizeBytes: file.sizeBytes }, number)) {
        left += takeRows(scanned, reader, rows, take);
        rows += scanned.rows;
      }
    }
    check();
    return left;
  } finally {
    closeSync(fd);
  }
}

/** Does the same for rows in memory. */
export function hashesIn(rows: Uint8Array, reader: HashReader, take: (row: HashedRow) => void): void {
  const { scanner, hashing } = reader;
  scanner.input(rows.length).set(rows);
  scanner.begin(false, hashing);
  let before = 0;
  for (let at = 0; at < rows.length;) {
    const scanned = scanner.scan(at, rows.length, false, true);
    if (scanned.rows === 0) return;
    takeRows(scanned, reader, before, take);
    before += scanned.rows;
    at = scanned.stoppedAt;
  }
}

function takeRows(
  scanned: Scanned,
  { hashing }: HashReader,
  before: number,
  take: (row: HashedRow) => void,
): number {
  const { rows, rowFlags, rowHashes, promptHashes, answerHashes } = scanned;
  const hashIn = (hashes: Uint32Array, row: number) =>
    [hashes[2 * row] ?? 0, hashes[2 * row + 1] ?? 0] as const;
  let left = 0;
  for (let row = 0; row < rows; row++) {
    const flags = rowFlags[row] ?? 0;
    if ((flags & ROW_BLANK) !== 0) continue;
    if ((flags & (ROW_ERROR | ROW_UNCHECKED)) !== 0) {
      left++;
      continue;
    }
    const [prompt, text] = [hashIn(promptHashes, row), hashIn(answerHashes, row)];
    const instead = hashing === HASH_TEXTS && !isNone(text) ? text : hashIn(rowHashes, row);
    const hasPrompt = !isNone(prompt);
    take({ row: before + row + 1, prompt: hasPrompt ? prompt : instead, hasPrompt, text });
  }
  return left;
}

/** Whether there is no such text. */
export function isNone([low, high]: HashedRow['prompt']): boolean {
  return (low | high) === 0;
}
