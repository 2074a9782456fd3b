import type { AnswerRow, ComparedSide } from './answerRow.ts';
import { isRight, type Comparison } from './comparison.ts';
import { foldAnswer } from './foldAnswer.ts';
import type { RowScores } from './scores.ts';
import { splitThinking } from './thinking.ts';

const MAX_LABELS = 12;
/** Rows of a label on average. With fewer, a table only repeats the rows. */
const ROWS_OF_LABEL = 2;

/**
 * Counts, for each expected answer, the compared rows and those in which a side is right. The most frequent comes
 * first; none if that shows nothing.
 */
export function labelsOf(
  rows: readonly AnswerRow[],
  scores: readonly RowScores[],
  { leads, measure }: Comparison,
) {
  const labels = new Map<string, { label: string } & Record<ComparedSide | 'rows', number>>();
  let compared = 0;
  for (const [index, { expected }] of rows.entries()) {
    const [score, lead] = [scores[index], leads[index]];
    if (score === undefined || (lead !== 'base' && lead !== 'adapter' && lead !== 'equal')) continue;
    const label = foldAnswer(splitThinking(expected).answer);
    const counts = labels.get(label) ?? { label, rows: 0, base: 0, adapter: 0 };
    counts.rows++;
    counts.base += Number(isRight(score.base, measure));
    counts.adapter += Number(isRight(score.adapter, measure));
    if (labels.set(label, counts).size > MAX_LABELS) return [];
    compared++;
  }
  if (labels.size < 2 || compared < ROWS_OF_LABEL * labels.size) return [];
  return [...labels.values()].sort((one, other) => other.rows - one.rows);
}
