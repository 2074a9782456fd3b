// Which rows have prompts that are in other data, in a worker thread. Prompts are compared by what they say (`scanner/texts.ts`).
import type { DatasetFile } from './fileKind.ts';

/** What may have been trained: a file as it was when its stamp was taken, or the kept fingerprints of a submission, by its ID. */
export type TrainedData = { file: DatasetFile } | { fingerprints: string };

/** What was found of some rows in other data. */
export interface FoundRows {
  /** For each row, whether its prompt is there. */
  isFound: readonly boolean[];
  /** Other rows whose answer of 80 characters or more is there, under one to three other prompts. Fingerprints have no answers. */
  sameAnswer: number;
}
