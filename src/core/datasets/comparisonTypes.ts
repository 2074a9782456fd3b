import type { DatasetFile } from './fileKind.ts';
import type { FactRows } from './report.ts';

/** Limit of rows with fingerprints, which bounds the files. Below 2^20: see `sorted` in `keptFingerprints.ts`. */
export const MAX_KEPT_ROWS = 1_000_000;

/** How a file of fingerprints begins: magic, and the version of the file and of the hashes. */
export const KEPT_START = [0x50465446, 2] as const;

/** A file of fingerprints, and the key: 16 bytes. */
export interface KeptRef {
  path: string;
  key: Uint8Array;
}

/** What was found of some rows in other data. */
export interface FoundRows {
  /** For each row, whether its prompt is there. */
  isFound: readonly boolean[];
  /** Other rows whose long answer is there, under one to three other prompts. Fingerprints have no answers. */
  sameAnswer: number;
}

/** How the rows of a dataset differ from those of an earlier one. Added + changed + equal = rows now. */
export interface RowDifference {
  added: number;
  removed: number;
  /** Same prompt, another answer or system message. */
  changed: number;
  equal: number;
  /** Rows of now with errors, which aren't compared. */
  notCompared: number;
  /** The added and changed rows of a file, from 1; none if two submissions are compared. */
  rows: FactRows;
}

/** Rows to compare with other data. The thread opens the files. */
export type RowComparison =
  | { of: 'count'; file: DatasetFile; other: DatasetFile }
  | { of: 'find'; rows: Uint8Array; data: DatasetFile | KeptRef }
  | { of: 'keep'; file: DatasetFile; kept: KeptRef }
  | { of: 'difference'; now: DatasetFile | string; then: KeptRef };

/** What a comparison found, each for its kind. Undefined if what is kept can't be compared. */
export interface ComparedRows {
  shared?: number;
  found?: FoundRows | undefined;
  isKept?: boolean;
  difference?: RowDifference | undefined;
}
