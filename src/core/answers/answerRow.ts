/** Texts of a row are a stranger's: they are shown as text, and are never stored or logged. */

/** One message of the prompt. */
export interface Message {
  /** Undefined if the file doesn't say who speaks. */
  role: string | undefined;
  text: string;
}

/** How an answer ended, if not by itself: at the limit of tokens, or because the program failed. */
export type AnswerEnd = 'length' | 'error';

/** The two that are compared: the base model, and the base model with the adapter. */
export type Side = 'base' | 'adapter';

export interface AnswerRow extends Readonly<Record<Side, string>> {
  /** Its line in the file, from 1. Identifies the row in votes. */
  line: number;
  /** The prompt, in which nothing was answered yet. */
  messages: readonly Message[];
  expected: string;
  ends: Readonly<Partial<Record<Side, AnswerEnd>>>;
}

/** Why a line isn't an answer, in the order in which it is examined. `too-long`: over 8 MB, it isn't read. */
export type LeftOut = 'too-long' | 'not-json' | 'no-messages' | 'no-expected' | 'no-base' | 'no-adapter';

/**
 * Reads one line. Contents may be strings, or lists of parts with text, and further fields are ignored.
 * @param line without its line end; a byte order mark is skipped
 * @param number from 1
 */
export function parseAnswerRow(line: string, number: number): AnswerRow | LeftOut {
  throw new Error(`not implemented ${line.length} ${number}`);
}

/** Whether a file that begins with this line has answers, and isn't a dataset. */
export function isAnswersLine(line: string): boolean {
  return typeof parseAnswerRow(line, 1) !== 'string';
}

/** Splits what a model thought from its answer, which alone is scored. */
export interface ThoughtAnswer {
  /** Between `<think>` and `</think>`, or all if it doesn't end; empty if there is none. */
  thinking: string;
  /** Without blanks around it. */
  answer: string;
}

/** Splits the thinking that an answer begins with. Its opening tag may stand in the prompt. */
export function splitThinking(text: string): ThoughtAnswer {
  throw new Error(`not implemented ${text.length}`);
}
