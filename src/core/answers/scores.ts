import type { AnswerRow, Side } from './answerRow.ts';

/** The most code points, without white space, that chrF compares; longer texts are compared up to there. */
export const MAX_CHRF_CODE_POINTS = 8_000;

export interface AnswerScores {
  /** Equal to the expected answer: after NFC, with white space folded to one blank, trimmed. */
  isExact: boolean;
  /** chrF2 with the expected answer, from 0 to 100. */
  chrf: number;
  /** Fields of the expected answer that this one has with the same value; undefined if the expected one isn't an object or array. */
  fieldsRight: number | undefined;
  /** Whether all of it is JSON. */
  isJson: boolean;
  /** Code points, without thinking. */
  characters: number;
  isCutOff: boolean;
  /** Whether the program failed, so that there is nothing to compare. */
  hasFailed: boolean;
  /** Code points of the thinking that it begins with. */
  thinkingCharacters: number;
}

/** What is known of a row without its texts. */
export interface RowScores extends Readonly<Record<Side, AnswerScores>> {
  /** Whether both answers are equal, as `isExact` is. */
  isSame: boolean;
  expected: {
    /** Code points. */
    characters: number;
    /** Leaves of the JSON object or array that it is; undefined if it isn't one. */
    fields: number | undefined;
    isJson: boolean;
  };
  /** Whether chrF compared only the beginning of a text. */
  isShortened: boolean;
}

/** Scores one row. Takes some milliseconds for long texts. */
export function scoreRow(row: AnswerRow): RowScores {
  throw new Error(`not implemented ${row.line}`);
}
