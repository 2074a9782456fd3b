// The thread that reads and scores one file of answers, or only says what a long first row is, and ends.
import { serveThread } from '../base/thread.ts';
import type { DatasetProblem } from '../datasets/fileKind.ts';
import { kindIn, MAX_BYTES, readAnswers, type AnswersJob, type ScoredAnswers } from './answersFile.ts';
import { scoreRow } from './scores.ts';

async function openAndScore(path: string): Promise<ScoredAnswers | DatasetProblem> {
  const file = await readAnswers(path);
  return typeof file === 'string' ? file : { file, scores: file.rows.map(scoreRow) };
}

serveThread(
  ({ path, wants }: AnswersJob) => (wants === 'kind' ? kindIn(path, MAX_BYTES) : openAndScore(path)),
  () => undefined,
);
