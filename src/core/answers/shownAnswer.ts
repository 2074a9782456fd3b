import { splitThinking } from './thinking.ts';

/** Longer texts, in UTF-16 units, are shown without their differences. */
const MAX_COMPARED_UNITS = 2_000;

/** Consecutive text that both have, or only the answer (`answer`), or only the expected one. */
export interface Difference {
  in: 'both' | 'answer' | 'expected';
  text: string;
}

/**
 * Splits an answer into thinking and answer. Compares it with the expected one, which may have thinking, too.
 * Takes some tens of milliseconds at most. For pages that show rows.
 */
export function shownAnswer(text: string, expected?: string) {
  const split = splitThinking(text);
  const from = expected === undefined ? undefined : splitThinking(expected).answer;
  return { ...split, differences: from === undefined ? undefined : differences(split.answer, from) };
}

/**
 * Returns the differences of two texts by words, in reading order; `expected` comes before `answer` where
 * both differ. `both` and `answer` make up the answer. Undefined if a text is too long. Takes tens of
 * milliseconds at most.
 */
export function differences(answer: string, expected: string): Difference[] | undefined {
  if (Math.max(answer.length, expected.length) > MAX_COMPARED_UNITS) return undefined;
  const [ours, theirs] = [wordsOf(answer), wordsOf(expected)];
  const lengths = commonLengths(ours, theirs);
  const lengthAt = (at: number, other: number) => lengths[at * (theirs.length + 1) + other] ?? 0;
  const parts: Difference[] = [];
  const add = (where: Difference['in'], text: string) => {
    const last = parts.at(-1);
    if (last?.in === where) last.text += text;
    else parts.push({ in: where, text });
  };
  for (let at = 0, other = 0; at < ours.length || other < theirs.length;) {
    const [our, their] = [ours[at], theirs[other]];
    if (our !== undefined && our === their) {
      add('both', our);
      at++;
      other++;
    } else if (
      their !== undefined &&
      (our === undefined || lengthAt(at, other + 1) >= lengthAt(at + 1, other))
    ) {
      add('expected', their);
      other++;
    } else {
      add('answer', our ?? '');
      at++;
    }
  }
  return parts;
}

/** Words, and what is between them. */
function wordsOf(text: string): string[] {
  // With a fixed language, so that the same texts have the same differences everywhere.
  return Array.from(
    new Intl.Segmenter('en', { granularity: 'word' }).segment(text),
    ({ segment }) => segment,
  );
}

/** Returns the lengths of the longest common subsequences from each word of both texts on: at most 8 MB. */
function commonLengths(ours: readonly string[], theirs: readonly string[]): Uint16Array {
  const width = theirs.length + 1;
  const lengths = new Uint16Array((ours.length + 1) * width);
  for (let at = ours.length - 1; at >= 0; at--)
    for (let other = theirs.length - 1; other >= 0; other--) {
      const cell = at * width + other;
      lengths[cell] =
        ours[at] === theirs[other]
          ? 1 + (lengths[cell + width + 1] ?? 0)
          : Math.max(lengths[cell + width] ?? 0, lengths[cell + 1] ?? 0);
    }
  return lengths;
}
