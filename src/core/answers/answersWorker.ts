// The worker thread, which scores one file of answers, or says what a file with a long first line is, and exits.
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
