import type { AnswerRow, ComparedSide } from './answerRow.ts';
import { Chrf } from './chrf.ts';
import { containerIn, countFields, parseJson } from './fields.ts';
import { codePointsIn, foldAnswer } from './foldAnswer.ts';
import { splitThinking } from './thinking.ts';

export interface AnswerScores {
  /** Equal to the expected answer: after NFC, with white space folded to one blank, trimmed. */
  isExact: boolean;
  /** chrF2 with the expected answer, from 0 to 100. An exact one has 100. */
  chrf: number;
  /** Fields of the expected answer that this one has with the same value; 0 if it has no fields. */
  fieldsRight: number;
  /** Whether it has all of these fields, and no others. */
  hasSameFields: boolean;
  /** Whether all of it is JSON. */
  isJson: boolean;
  /** Code points, without thinking and blanks around it. */
  characters: number;
  /** At the limit of tokens, or because its thinking doesn't end. */
  isCutOff: boolean;
  /** Whether the program failed, so that there is nothing to compare. */
  hasFailed: boolean;
  /** Code points of the thinking that it begins with. */
  thinkingCharacters: number;
}

/** The scores of a row, without its texts. */
export interface RowScores extends Readonly<Record<ComparedSide, AnswerScores>> {
  /** Whether both answers are equal, as `isExact` is. */
  isSame: boolean;
  expected: {
    /** Code points. */
    characters: number;
    /** Fields of the JSON object or array that it is; undefined if it isn't one. */
    fields: number | undefined;
  };
  /** Whether chrF compared only the beginning of a text. */
  isShortened: boolean;
}

/** Scores one row. Takes some milliseconds for long texts. */
export function scoreRow(row: AnswerRow): RowScores {
  const expected = splitThinking(row.expected).answer;
  const fields = containerIn(expected, false);
  const all = fields && countFields(fields, undefined).fields;
  const folded = foldAnswer(expected);
  const chrf = new Chrf(expected);
  const scoresOf = (side: ComparedSide) => {
    const { answer, thinking, isUnended } = splitThinking(row[side]);
    const text = foldAnswer(answer);
    const isExact = text === folded;
    const found = fields && containerIn(answer, true);
    const right = fields === undefined ? 0 : countFields(fields, found).right;
    const scores: AnswerScores = {
      isExact,
      chrf: isExact ? 100 : chrf.score(answer),
      fieldsRight: right,
      hasSameFields: found !== undefined && right === all && countFields(found, undefined).fields === all,
      isJson: parseJson(answer) !== undefined,
      characters: codePointsIn(answer),
      isCutOff: row.ends[side] === 'length' || isUnended,
      hasFailed: row.ends[side] === 'error',
      thinkingCharacters: codePointsIn(thinking),
    };
    return { scores, text };
  };
  const [base, adapter] = [scoresOf('base'), scoresOf('adapter')];
  return {
    base: base.scores,
    adapter: adapter.scores,
    isSame: base.text === adapter.text,
    expected: { characters: codePointsIn(expected), fields: all },
    isShortened: chrf.isShortened,
  };
}
