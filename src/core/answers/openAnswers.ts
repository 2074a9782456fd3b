import { runThread } from '../base/thread.ts';
import type { AnswerRow } from './answerRow.ts';
import { AnswersError, type AnswersFailure, type AnswersFile } from './answersFile.ts';
import type { RowScores } from './scores.ts';

/** Enough for the most rows, or for the longest one if each of its characters is a value. */
const LIMITS = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 8 } as const;

export interface OpenOptions {
  /** The script of the thread: `dist('answersWorker.cjs')`. */
  worker: string;
  signal?: AbortSignal | undefined;
  /** Called once, as soon as the rows can be shown: scores of long answers take seconds. */
  onRead: (file: AnswersFile) => void;
  /** Called several times a second with the fraction of rows that have scores, from 0 to 1. */
  onProgress?: ((fraction: number) => void) | undefined;
}

export interface OpenJob {
  path: string;
}

/** What the thread says meanwhile: rows in some pieces, then the rest of the file, then how far the scores are. */
export type OpenProgress =
  | { kind: 'rows'; rows: AnswerRow[] }
  | { kind: 'read'; file: Omit<AnswersFile, 'rows'> }
  | { kind: 'scored'; fraction: number };

/**
 * Reads a file of answers and scores its rows, in a thread that ends with it. Returns the scores of each row, in their order;
 * `compareScores` says what they mean.
 * @throws AnswersError before `onRead`; CancelledError as soon as the signal is aborted
 */
export function openAnswers(
  path: string,
  { worker, signal, onRead, onProgress }: OpenOptions,
): Promise<readonly RowScores[]> {
  const rows: AnswerRow[] = [];
  const take = (progress: OpenProgress) => {
    if (progress.kind === 'rows') for (const row of progress.rows) rows.push(row);
    else if (progress.kind === 'read') onRead({ ...progress.file, rows });
    else onProgress?.(progress.fraction);
  };
  const errorOf = (code: AnswersFailure) => new AnswersError(code);
  const job: OpenJob = { path };
  return runThread(worker, job, { limits: LIMITS, signal, errorOf, onProgress: take });
}
