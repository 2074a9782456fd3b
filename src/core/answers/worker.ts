// The thread that reads and scores one file of answers and ends.
import { setTimeout as delay } from 'node:timers/promises';
import { serveThread, throttled } from '../base/thread.ts';
import type { AnswerRow } from './answerRow.ts';
import { AnswersError, readAnswers } from './answersFile.ts';
import type { OpenJob, OpenProgress } from './openAnswers.ts';
import { scoreRow, type RowScores } from './scores.ts';

/** Texts of one message, in UTF-16 units: taking them must not block the other end for long. */
const BATCH_UNITS = 1024 * 1024;
const PAUSE_MS = 10;

async function openAndScore(
  { path }: OpenJob,
  onProgress: (progress: OpenProgress) => void,
): Promise<RowScores[]> {
  const { rows, ...file } = await readAnswers(path);
  for (const batch of batches(rows)) {
    onProgress({ kind: 'rows', rows: batch });
    // Otherwise they arrive together.
    if (batch.at(-1) !== rows.at(-1)) await delay(PAUSE_MS);
  }
  onProgress({ kind: 'read', file });
  const report = throttled((fraction) => onProgress({ kind: 'scored', fraction }));
  return rows.map((row, index) => {
    report(index / rows.length);
    return scoreRow(row);
  });
}

function* batches(rows: readonly AnswerRow[]): Generator<AnswerRow[]> {
  let batch: AnswerRow[] = [];
  let units = 0;
  for (const row of rows) {
    batch.push(row);
    units += row.messages.reduce((sum, { text }) => sum + text.length, 0);
    units += row.expected.length + row.base.length + row.adapter.length;
    if (units < BATCH_UNITS) continue;
    yield batch;
    [batch, units] = [[], 0];
  }
  yield batch;
}

serveThread(openAndScore, (error) => (error instanceof AnswersError ? error.code : undefined));
