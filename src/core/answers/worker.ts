// The thread that reads and scores one file of answers and ends.
import { serveThread } from '../base/thread.ts';
import type { DatasetProblem } from '../datasets/fileKind.ts';
import { readAnswers, type ScoredAnswers } from './answersFile.ts';
import { scoreRow } from './scores.ts';

async function openAndScore(path: string): Promise<ScoredAnswers | DatasetProblem> {
  const file = await readAnswers(path);
  return typeof file === 'string' ? file : { file, scores: file.rows.map(scoreRow) };
}

serveThread(openAndScore, () => undefined);
