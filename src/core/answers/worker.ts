// The thread that reads, scores and compares one file of answers and ends.
import { serveThread } from '../base/thread.ts';
import type { DatasetProblem } from '../datasets/fileKind.ts';
import { readAnswers, type ComparedAnswers } from './answersFile.ts';
import { compareScores } from './comparison.ts';
import { scoreRow } from './scores.ts';

async function openAndCompare(path: string): Promise<ComparedAnswers | DatasetProblem> {
  const file = await readAnswers(path);
  if (typeof file === 'string') return file;
  const scores = file.rows.map(scoreRow);
  return { file, scores, comparison: compareScores(scores) };
}

serveThread(openAndCompare, () => undefined);
