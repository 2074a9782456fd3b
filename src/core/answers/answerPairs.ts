import type { AnswerRow, ComparedSide } from './answerRow.ts';
import type { RowScores, ScoredAnswers } from './answersFile.ts';
import { foldAnswer } from './foldAnswer.ts';
import { splitThinking } from './thinking.ts';

/** How two files of answers differ. */
export interface AnswerPairs {
  /** Rows that only one of them has, and rows that it repeats. */
  only: Readonly<Record<ComparedSide, number>>;
  /** Shared rows in which the base model answered differently. */
  baseDiffers: number;
}

/**
 * Pairs the rows of two files by messages and expected answer. In the result, `base` is the adapter of the first file
 * and `adapter` that of the second; line numbers are the first file's. If a file repeats a row, the first one counts.
 */
export function pairAnswers(
  one: ScoredAnswers,
  other: ScoredAnswers,
): ScoredAnswers & { pairs: AnswerPairs } {
  const others = byPrompt(other);
  const rows: AnswerRow[] = [];
  const scores: RowScores[] = [];
  let [chat, baseDiffers] = ['', 0];
  for (const [key, { row, score, line }] of byPrompt(one)) {
    const second = others.get(key);
    if (second === undefined) continue;
    const { adapter } = second.row;
    if (!isSame(row.base, second.row.base)) baseDiffers++;
    const ends = { base: row.ends.adapter, adapter: second.row.ends.adapter };
    rows.push({ ...row, base: row.adapter, adapter, ends });
    const isShortened = score.isShortened || second.score.isShortened;
    const sides = { base: score.adapter, adapter: second.score.adapter };
    scores.push({ ...score, ...sides, isSame: isSame(row.adapter, adapter), isShortened });
    chat += `${line}\n`;
  }
  const [mine, theirs] = [one.file, other.file];
  const leftOut = { ...mine.leftOut };
  for (const [reason, count] of Object.entries(theirs.leftOut) as [keyof typeof leftOut, number][])
    leftOut[reason] = (leftOut[reason] ?? 0) + count;
  const isCut = mine.isCut || theirs.isCut;
  const isBeingWritten = mine.isBeingWritten || theirs.isBeingWritten;
  const sha256 = `${mine.sha256} ${theirs.sha256}`;
  const only = { base: mine.rows.length - rows.length, adapter: theirs.rows.length - rows.length };
  const bytes = new TextEncoder().encode(chat);
  return {
    file: { ...mine, rows, leftOut, isCut, isBeingWritten, sha256, chat: bytes },
    scores,
    pairs: { only, baseDiffers },
  };
}

/** Returns the rows by messages and expected answer, in order, each with its line of `chat`. */
function byPrompt({ file, scores }: ScoredAnswers) {
  const lines = Buffer.from(file.chat).toString().split('\n');
  const found = new Map<string, { row: AnswerRow; score: RowScores; line: string }>();
  for (const [index, row] of file.rows.entries()) {
    const asked = row.messages.map(({ role = null, text }) => [role, foldAnswer(text)]);
    const key = JSON.stringify([asked, foldAnswer(row.expected)]);
    const [score, line = '{}'] = [scores[index], lines[index]];
    if (score !== undefined && !found.has(key)) found.set(key, { row, score, line });
  }
  return found;
}

function isSame(one: string, other: string): boolean {
  const answerIn = (text: string) => foldAnswer(splitThinking(text).answer);
  return answerIn(one) === answerIn(other);
}
