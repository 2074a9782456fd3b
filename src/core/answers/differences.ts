/** Longer texts, in UTF-16 units, are shown without their differences. */
export const MAX_COMPARED_UNITS = 2_000;

/** Consecutive text that both have, that only the answer has, or only the expected one. */
export interface Difference {
  in: 'both' | 'answer' | 'expected';
  text: string;
}

/**
 * Returns the differences of two texts by words, in reading order; `expected` comes before `answer` where both differ. The parts of
 * `both` and `answer` make up the answer. Undefined if one is too long. Takes at most some tens of milliseconds.
 */
export function differences(answer: string, expected: string): Difference[] | undefined {
  throw new Error(`not implemented ${answer.length} ${expected.length}`);
}
