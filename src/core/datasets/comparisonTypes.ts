import type { DatasetFile } from './fileKind.ts';
import type { FactRows } from './report.ts';

/** The most rows whose fingerprints are kept, which bounds the files. Below 2^20: see `sorted` in `keptFingerprints.ts`. */
export const MAX_KEPT_ROWS = 1_000_000;

/** How a file of fingerprints begins: a magic number, and the version of the file and of the hashes. */
export const KEPT_START = [0x50465446, 2] as const;

/** A file of fingerprints, and its key of 16 bytes. */
export interface KeptRef {
  path: string;
  key: Uint8Array;
}

/** Which of some rows are in other data. */
export interface FoundRows {
  /** For each row, whether its prompt is there. */
  isFound: readonly boolean[];
  /** How many other rows have a long answer that is there under one to three other prompts. 0 for fingerprints, which have no answers. */
  sameAnswer: number;
}

/** How the rows of a dataset differ from those of an earlier one. Added + changed + equal = rows now. */
export interface RowDifference {
  added: number;
  removed: number;
  /** Same prompt, another answer or system message. */
  changed: number;
  equal: number;
  /** Present rows with errors: they can't be compared. */
  notCompared: number;
  /** The added and changed rows of the file, from 1; none if two submissions are compared. */
  rows: FactRows;
}

/** What to compare. The thread opens the files. */
export type RowComparison =
  | { of: 'count'; file: DatasetFile; other: DatasetFile }
  | { of: 'find'; rows: Uint8Array; data: DatasetFile | KeptRef }
  | { of: 'keep'; file: DatasetFile; kept: KeptRef }
  | { of: 'difference'; now: DatasetFile | string; then: KeptRef };

/** The result, a field for each kind of comparison. Undefined if the fingerprints can't be compared. */
export interface ComparedRows {
  shared?: number;
  found?: FoundRows | undefined;
  isKept?: boolean;
  difference?: RowDifference | undefined;
}
