import { splitThinking, type AnswerRow, type Side } from './answerRow.ts';
import { Chrf } from './chrf.ts';
import { countFields, expectedFields, fencedJson, parseJson } from './fields.ts';
import { codePointsIn, foldAnswer } from './foldAnswer.ts';

export interface AnswerScores {
  /** Equal to the expected answer: after NFC, with white space folded to one blank, trimmed. */
  isExact: boolean;
  /** chrF2 with the expected answer, from 0 to 100. An exact one has 100. */
  chrf: number;
  /** Fields of the expected answer that this one has with the same value; 0 if it has no fields. */
  fieldsRight: number;
  /** Whether all of it is JSON. */
  isJson: boolean;
  /** Code points, without thinking and blanks around it. */
  characters: number;
  isCutOff: boolean;
  /** Whether the program failed, so that there is nothing to compare. */
  hasFailed: boolean;
  /** Code points of the thinking that it begins with. */
  thinkingCharacters: number;
}

/** The scores of a row, without its texts. */
export interface RowScores extends Readonly<Record<Side, AnswerScores>> {
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
  const fields = expectedFields(expected);
  const folded = foldAnswer(expected);
  const chrf = new Chrf(expected);
  const scoresOf = (side: Side) => {
    const { answer, thinking } = splitThinking(row[side]);
    const text = foldAnswer(answer);
    const isExact = text === folded;
    const json = parseJson(answer);
    const scores: AnswerScores = {
      isExact,
      chrf: isExact ? 100 : chrf.score(side, answer),
      fieldsRight: fields === undefined ? 0 : countFields(fields, (json ?? fencedJson(answer))?.value).right,
      isJson: json !== undefined,
      characters: codePointsIn(answer),
      isCutOff: row.ends[side] === 'length',
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
    expected: {
      characters: codePointsIn(expected),
      fields: fields === undefined ? undefined : countFields(fields, undefined).fields,
    },
    isShortened: chrf.isShortened,
  };
}
