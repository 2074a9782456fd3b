import { createHash } from 'node:crypto';
import type { AnswerRow, ComparedSide } from './answerRow.ts';
import { chanceOf, type BySide, type Chance } from './comparison.ts';
import type { RowScores } from './scores.ts';

/** Rows of one session; as many are added at a time. */
export const VOTE_ROWS = 20;

/** A vote, as the page remembers it: adapter, base model, or equal. */
export type Vote = 'a' | 'b' | 'e';

/** The user's choice between the two texts that are shown. */
export type Choice = 'left' | 'right' | 'equal';

/** Votes by the line of their row, from 1. */
export type Votes = ReadonlyMap<number, Vote>;

/**
 * Returns the indexes of the rows to vote on, in their order. Their answers differ, and no program failed.
 * Trained ones are left out.
 * The order is by a hash of file and row: it reveals nothing of the rows, and stays the same.
 * @param sha256 of the file
 */
export function voteOrder(
  sha256: string,
  rows: readonly Pick<AnswerRow, 'line'>[],
  scores: readonly RowScores[],
  trained: ReadonlySet<number>,
): number[] {
  return scores
    .flatMap(({ isSame, base, adapter }, index) => {
      const line = rows[index]?.line;
      if (line === undefined || trained.has(index)) return [];
      if (isSame || base.hasFailed || adapter.hasFailed) return [];
      return [{ index, hash: hashOf(sha256, line) }];
    })
    .toSorted((one, other) => one.hash.compare(other.hash))
    .map(({ index }) => index);
}

/** Which side is shown on the left, by the same hash. */
export function leftSide(sha256: string, line: number): ComparedSide {
  // Its order depends on the first bytes.
  return (hashOf(sha256, line).at(-1) ?? 0) % 2 === 0 ? 'base' : 'adapter';
}

function hashOf(sha256: string, line: number): Buffer {
  return createHash('sha256').update(`${sha256}:${line}`).digest();
}

/** Returns which side a choice votes for. */
export function voteOf(choice: Choice, left: ComparedSide): Vote {
  if (choice === 'equal') return 'e';
  return (choice === 'left') === (left === 'adapter') ? 'a' : 'b';
}

export interface VoteTally extends BySide {
  equal: number;
  chance: Chance;
}

const NAMES = { a: 'adapter', b: 'base', e: 'equal' } as const;

export function tallyVotes(votes: Iterable<Vote>): VoteTally {
  const tally = { adapter: 0, base: 0, equal: 0 };
  for (const vote of votes) tally[NAMES[vote]]++;
  return { ...tally, chance: chanceOf(tally.adapter, tally.base) };
}
