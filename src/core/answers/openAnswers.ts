import type { AnswersFile } from './answersFile.ts';
import type { RowScores } from './scores.ts';

export interface OpenOptions {
  /** The script of the thread: `dist('answersWorker.cjs')`. */
  worker: string;
  signal?: AbortSignal | undefined;
  /** Called once, as soon as the rows can be shown: scores of long answers take seconds. */
  onRead: (file: AnswersFile) => void;
  /** Called several times a second with the fraction of rows that have scores, from 0 to 1. */
  onProgress?: ((fraction: number) => void) | undefined;
}

/**
 * Reads a file of answers and scores its rows, in a thread that ends with it. Returns the scores of each row, in their order;
 * `compareScores` says what they mean.
 * @throws AnswersError before `onRead`; CancelledError as soon as the signal is aborted
 */
export function openAnswers(path: string, options: OpenOptions): Promise<readonly RowScores[]> {
  throw new Error(`not implemented ${path} ${options.worker}`);
}
