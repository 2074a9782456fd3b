import type { DatasetChecker } from './checker.ts';
import type { DatasetFile } from './fileKind.ts';
import type { FactRows } from './report.ts';
import type { FoundRows, TrainedData } from './sharedPrompts.ts';

export type { FoundRows, TrainedData };

/** How the rows of a dataset differ from those of an earlier one. Added + changed + equal = rows now. */
export interface Difference {
  added: number;
  removed: number;
  /** Same prompt, another answer or system message. */
  changed: number;
  equal: number;
  /** Rows with errors, of now or then, which aren't compared. */
  notCompared: number;
  /** The added and changed rows of a file, from 1; none if two submissions are compared. */
  rows: FactRows;
}

/** A charged submission, as far as its fingerprints depend on it. */
export interface SubmittedDataset {
  id: string;
  dataset: { path: string; sizeBytes: number; mtimeMs?: number | undefined; ctimeMs?: number | undefined };
  /** Milliseconds since the epoch. */
  submittedAtMs: number;
}

/**
 * Owns the fingerprints of the rows that were submitted from this machine: 16 bytes a row, under a random key. They have no text
 * and say later what changed.
 */
export class Fingerprints {
  readonly #folder: string;
  readonly #checker: () => Promise<DatasetChecker>;

  constructor(folder: string, checker: () => Promise<DatasetChecker>) {
    this.#folder = folder;
    this.#checker = checker;
  }

  /**
   * Keeps those of a submission, from its file if that is unchanged, and removes the oldest above the limit. Does nothing if they are
   * known. @param submitted all charged submissions @throws if they can't be written
   */
  async keep(one: SubmittedDataset, submitted: readonly SubmittedDataset[]): Promise<void> {
    await Promise.reject(new Error(`${this.#folder}${one.id}${submitted.length}`));
  }

  /** Returns how a file differs from a submission; undefined if that has none. @throws CheckError; CancelledError */
  async since(id: string, file: DatasetFile, signal?: AbortSignal): Promise<Difference | undefined> {
    await this.#checker();
    return Promise.reject(new Error(`${id}${file.path}${String(signal)}`));
  }

  /** Returns how a submission differs from an earlier one; undefined if one of them has none. */
  async between(earlierId: string, id: string): Promise<Difference | undefined> {
    return Promise.reject(new Error(`${earlierId}${id}`));
  }

  /** Whether a submission has fingerprints. Never rejects. */
  async has(id: string): Promise<boolean> {
    return Promise.reject(new Error(id));
  }

  /**
   * Finds the rows whose prompts are in other data.
   * @param rows a chat dataset in memory, at most some thousand rows
   * @throws CheckError `changing` if the file is another one now; CancelledError
   */
  async find(rows: Uint8Array, data: TrainedData, signal?: AbortSignal): Promise<FoundRows> {
    return Promise.reject(new Error(`${rows.length}${String(data)}${String(signal)}`));
  }

  /** Counts the rows of a dataset whose prompts are also in another file. Kept while both are unchanged. */
  async alsoIn(other: string, file: DatasetFile, signal?: AbortSignal): Promise<number> {
    return Promise.reject(new Error(`${other}${file.path}${String(signal)}`));
  }

  /** Removes all, and the key. */
  async removeAll(): Promise<void> {
    await Promise.reject(new Error());
  }
}
