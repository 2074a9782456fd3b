import type { Side } from './answerRow.ts';
import type { RowScores } from './scores.ts';

/** What is compared. Chosen from the expected answers alone. */
export type Measure = 'exact' | 'fields' | 'closer';

/** Who is ahead in a row. Answers that are the same are equal; `failed`: a program failed, so that nothing is compared. */
export type Lead = Side | 'equal' | 'failed';

/** What the sign test says of the rows in which one side is ahead. */
export type Chance =
  | { kind: 'too-few' }
  /** `p`: the probability of such a difference, or a larger one, without a preference; `unlikely` up to 5 %. */
  | { kind: 'unlikely' | 'likely'; p: number };

/** A number of each side. */
export type BySide = Readonly<Record<Side, number>>;

export interface Comparison {
  rows: number;
  /** Rows in which a program failed; all other numbers but `rows` are of the rest. */
  failed: number;
  measure: Measure;
  /** For each row, in order. */
  leads: readonly Lead[];
  /** Rows in which one is ahead. */
  ahead: BySide;
  equal: number;
  /** Rows with the same answer of both. */
  same: number;
  /** Same in 95 % of five rows or more: the adapter probably wasn't active, and this is said instead of all statistics. */
  isProbablyInactive: boolean;
  chance: Chance;
  exact: BySide & { readonly both: number };
  /** Undefined unless every expected answer is JSON. */
  validJson: BySide | undefined;
  /** The median of the code points; undefined without rows. */
  medianCharacters: (BySide & { readonly expected: number }) | undefined;
  /** `rows`: those in which at least one was cut off. */
  cutOff: BySide & { readonly rows: number };
  /** Cut off in at least a tenth of the answers of a side. */
  isOftenCutOff: boolean;
  /** Whether more than half of the answers of a side begin with thinking. */
  isMostlyThinking: Readonly<Record<Side, boolean>>;
  /** Rows in which chrF compared only the beginning of a text; 0 if chrF isn't the measure. */
  shortened: number;
}

/** Compares all rows. Pure, and fast for the most rows that a file shows. */
export function compareScores(scores: readonly RowScores[]): Comparison {
  throw new Error(`not implemented ${scores.length}`);
}

/** What the sign test says of two counts: too few below six. */
export function chanceOf(one: number, other: number): Chance {
  throw new Error(`not implemented ${one} ${other}`);
}

/**
 * The exact two-sided sign test: how probable a difference this large is, or a larger one, if both sides are as likely to be ahead.
 * @returns from 0 to 1
 */
export function signTest(one: number, other: number): number {
  throw new Error(`not implemented ${one} ${other}`);
}
