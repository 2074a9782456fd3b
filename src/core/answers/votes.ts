import type { AnswerRow, Side } from './answerRow.ts';
import type { BySide, Chance } from './comparison.ts';
import type { RowScores } from './scores.ts';

/** Rows of one session; as many are added at a time. */
export const VOTE_ROWS = 20;

/** A vote, as the page remembers it: adapter, base model, or equal. */
export type Vote = 'a' | 'b' | 'e';

/** What the user chose of the two that are shown. */
export type Choice = 'left' | 'right' | 'equal';

/** Votes by the line of their row, from 1. */
export type Votes = ReadonlyMap<number, Vote>;

/**
 * Returns the indexes of the rows that are voted on, in their order: those whose answers differ, without those in which a program
 * failed. The order is that of a hash of file and row, so it says nothing of the rows and stays the same.
 * @param sha256 of the file
 */
export function voteOrder(
  sha256: string,
  rows: readonly Pick<AnswerRow, 'line'>[],
  scores: readonly RowScores[],
): number[] {
  throw new Error(`not implemented ${sha256} ${rows.length} ${scores.length}`);
}

/** Which side is shown on the left, by the same hash. */
export function leftSide(sha256: string, line: number): Side {
  throw new Error(`not implemented ${sha256} ${line}`);
}

/** Returns for whom a choice votes. */
export function voteOf(choice: Choice, left: Side): Vote {
  throw new Error(`not implemented ${choice} ${left}`);
}

export interface VoteTally extends BySide {
  equal: number;
  chance: Chance;
}

export function tallyVotes(votes: Iterable<Vote>): VoteTally {
  throw new Error(`not implemented ${typeof votes}`);
}
