import { PROBLEM_COUNT } from './scanner/codes.ts';

/** An error makes the row unusable for the service; a warning should be reviewed. */
export type Severity = 'error' | 'warning';

/** What a problem is about, for filtering. */
export type ProblemClass = 'grammar' | 'encoding' | 'lines' | 'values' | 'shape' | 'duplicates' | 'privacy';

/**
 * Why a row can't be trained on (is untrainable). `format`: no known format or role. `content`: a text is missing. `answer`:
 * nothing to learn. `weight`: all answers have weight 0. The first reason counts; the scanner numbers them from 1.
 */
export const UNTRAINABLE = ['format', 'content', 'answer', 'weight'] as const;
export type Untrainable = (typeof UNTRAINABLE)[number];

/**
 * Every problem that a row can have, in the order of the scanner's numbers (`scanner/codes.ts`). The last column says why a
 * row with it can't be trained on.
 */
export const PROBLEMS = [
  ['unexpected-character', 'error', 'grammar'],
  ['unexpected-end', 'error', 'grammar'],
  ['unterminated-string', 'error', 'grammar'],
  ['control-character', 'error', 'grammar'],
  ['bad-escape', 'error', 'grammar'],
  ['bad-number', 'error', 'grammar'],
  ['bad-literal', 'error', 'grammar'],
  ['trailing-comma', 'error', 'grammar'],
  ['extra-value', 'error', 'grammar'],
  ['single-quote', 'error', 'grammar'],
  ['key-expected', 'error', 'grammar'],
  ['colon-expected', 'error', 'grammar'],
  ['comma-expected', 'error', 'grammar'],
  ['invalid-utf8', 'error', 'encoding'],
  ['bom-inside', 'error', 'encoding'],
  ['not-an-object', 'error', 'shape'],
  ['blank-line', 'warning', 'lines'],
  ['bom-at-start', 'warning', 'encoding'],
  ['crlf', 'warning', 'lines'],
  ['duplicate-key', 'warning', 'values'],
  ['lone-surrogate', 'warning', 'values'],
  ['number-precision', 'warning', 'values'],
  ['too-deep', 'warning', 'values'],
  ['row-too-long', 'warning', 'lines'],
  ['too-many-keys', 'warning', 'values'],
  ['unknown-format', 'warning', 'shape', 'format'],
  ['different-format', 'warning', 'shape'],
  ['messages-not-array', 'warning', 'shape', 'format'],
  ['conversations-not-array', 'warning', 'shape', 'format'],
  ['messages-empty', 'warning', 'shape', 'content'],
  ['message-not-object', 'warning', 'shape', 'format'],
  ['role-missing', 'warning', 'shape', 'format'],
  ['role-unknown', 'warning', 'shape', 'format'],
  ['content-missing', 'warning', 'shape', 'content'],
  ['content-wrong-type', 'warning', 'shape', 'content'],
  ['content-empty', 'warning', 'shape', 'content'],
  ['weight', 'warning', 'shape'],
  ['no-assistant', 'warning', 'shape', 'answer'],
  ['weights-zero', 'warning', 'shape', 'weight'],
  ['last-not-assistant', 'warning', 'shape'],
  ['starts-with-assistant', 'warning', 'shape'],
  ['repeated-role', 'warning', 'shape'],
  ['system-inside', 'warning', 'shape'],
  ['tool-order', 'warning', 'shape'],
  ['tool-arguments', 'warning', 'shape'],
  ['prompt-missing', 'warning', 'shape', 'content'],
  ['completion-missing', 'warning', 'shape', 'answer'],
  ['instruction-missing', 'warning', 'shape'],
  ['output-missing', 'warning', 'shape', 'answer'],
  ['question-missing', 'warning', 'shape', 'content'],
  ['answer-missing', 'warning', 'shape', 'answer'],
  ['chosen-missing', 'warning', 'shape', 'answer'],
  ['rejected-missing', 'warning', 'shape', 'answer'],
  ['field-wrong-type', 'warning', 'shape', 'content'],
  ['field-empty', 'warning', 'shape', 'content'],
  ['same-answers', 'warning', 'shape'],
  ['very-long-row', 'warning', 'shape'],
  ['duplicate-row', 'warning', 'duplicates'],
  ['cut-off', 'error', 'grammar'],
  ['comma-after-object', 'error', 'grammar'],
  ['typographic-quotes', 'error', 'grammar'],
  ['api-key', 'warning', 'privacy'],
  ['private-key', 'warning', 'privacy'],
  ['email-address', 'warning', 'privacy'],
  ['card-number', 'warning', 'privacy'],
] as const satisfies readonly (readonly [string, Severity, ProblemClass, Untrainable?])[];

export type ProblemCode = (typeof PROBLEMS)[number][0];

/** A located problem. Rows, lines, and columns count from 1. */
export interface Problem {
  code: ProblemCode;
  severity: Severity;
  class: ProblemClass;
  /** Rows end at LF only; blank ones count. */
  row: number;
  /** The editor's line, which also ends at a lone CR. */
  line: number;
  /** In UTF-16 units as the editor shows them: a BOM counts 0, invalid bytes count as their replacement characters. */
  column: number;
  /** In bytes from the start of the file. */
  offset: number;
  /** In UTF-16 units, at least 1. */
  length: number;
  /**
   * For `privacy`: a shortened form of what was found. For a duplicate: the number of the identical row. For `repeated-role`
   * and `tool-order`: the role of the message.
   */
  detail?: string;
}

/** Numbers per located problem in messages between threads. */
export const PROBLEM_FIELDS = 5;

/** All problems of one code: the count is complete, the places are limited. */
export class ProblemGroup {
  readonly code: ProblemCode;
  readonly severity: Severity;
  readonly class: ProblemClass;
  /** Number of problems in the file, with or without a place. */
  readonly total: number;
  readonly #places: Float64Array;
  readonly #details: readonly string[];

  /** @param places row, line, column, offset, and length of each, in file order */
  constructor(number: number, total: number, places: Float64Array, details: readonly string[]) {
    const entry = PROBLEMS[number];
    if (entry === undefined || number >= PROBLEM_COUNT)
      throw new RangeError(`no problem has number ${number}`);
    [this.code, this.severity, this.class] = entry;
    this.total = total;
    this.#places = places;
    this.#details = details;
  }

  /** How many problems have a known place: always the first ones. */
  get located(): number {
    return this.#places.length / PROBLEM_FIELDS;
  }

  /** Returns the problem at an index below `located`. It is created on demand, since there can be many. */
  at(index: number): Problem {
    const [row = 0, line = 0, column = 0, offset = 0, length = 1] = this.#places.subarray(
      index * PROBLEM_FIELDS,
      (index + 1) * PROBLEM_FIELDS,
    );
    const detail = this.#details[index];
    const { code, severity, class: problemClass } = this;
    return {
      code,
      severity,
      class: problemClass,
      row,
      line,
      column,
      offset,
      length,
      ...(detail === undefined ? {} : { detail }),
    };
  }

  /** Returns the group without its last problem, whose place is known; empty if that was the only one. */
  withoutLast(): ProblemGroup[] {
    const number = PROBLEMS.findIndex(([code]) => code === this.code);
    const places = this.#places.subarray(0, -PROBLEM_FIELDS);
    return this.total === 1 ? [] : [new ProblemGroup(number, this.total - 1, places, this.#details)];
  }

  /** Iterates the located problems. */
  *[Symbol.iterator](): Iterator<Problem> {
    for (let index = 0; index < this.located; index++) yield this.at(index);
  }
}
