/** Limit of the code points compared, without white space. Only the beginning of a longer text counts. */
export const MAX_CODE_POINTS = 8_000;

/** The longest n-grams. */
const MAX_N = 6;
/** More than any code point. */
const CODE_POINTS = 0x110000;

/**
 * Owns the n-grams of an expected text, and compares answers with it by chrF2. The score is that of sacrebleu
 * (`case:mixed|eff:yes|nc:6|nw:0|space:no`, for each sentence). The n-grams are the nodes of a trie, numbered from 1,
 * so they need no strings.
 */
export class Chrf {
  readonly #points: readonly number[];
  /** The nodes, by the node before them and their last code point. */
  readonly #nodes = new Map<number, number>();
  /** How often each n-gram is in the expected text, by node. */
  readonly #counts = [0];
  #isShortened: boolean;

  constructor(expected: string) {
    const { points, isShortened } = codePointsOf(expected);
    this.#points = points;
    this.#isShortened = isShortened;
    for (let from = 0; from < points.length; from++)
      for (let at = from, node = 0; at < Math.min(from + MAX_N, points.length); at++) {
        const key = node * CODE_POINTS + (points[at] ?? 0);
        node = this.#nodes.get(key) ?? this.#counts.push(0) - 1;
        this.#nodes.set(key, node);
        this.#counts[node] = (this.#counts[node] ?? 0) + 1;
      }
  }

  /** Whether a text had more code points than are compared. */
  get isShortened(): boolean {
    return this.#isShortened;
  }

  /** Returns the score of an answer, from 0 to 100. */
  score(answer: string): number {
    const { points, isShortened } = codePointsOf(answer);
    this.#isShortened ||= isShortened;
    const left = Int32Array.from(this.#counts);
    /** N-grams that both texts have, by n - 1. A repeated one counts as often as in the text with fewer. */
    const matches = new Array<number>(MAX_N).fill(0);
    for (let from = 0; from < points.length; from++)
      for (let n = 0, node: number | undefined = 0; n < MAX_N && from + n < points.length; n++) {
        node = this.#nodes.get(node * CODE_POINTS + (points[from + n] ?? 0));
        if (node === undefined) break;
        const count = left[node] ?? 0;
        if (count > 0) matches[n] = (matches[n] ?? 0) + 1;
        left[node] = count - 1;
      }
    return f2(matches, points.length, this.#points.length);
  }
}

/** Returns the F2 score of n-grams, from 0 to 100, of two texts with so many code points. */
function f2(matches: readonly number[], answered: number, expected: number): number {
  // Both texts have n-grams up to this n.
  const most = Math.min(MAX_N, answered, expected);
  let precision = 0;
  let recall = 0;
  for (let n = 1; n <= most; n++) {
    precision += (matches[n - 1] ?? 0) / (answered - n + 1) / most;
    recall += (matches[n - 1] ?? 0) / (expected - n + 1) / most;
  }
  return precision + recall === 0 ? 0 : (100 * 5 * precision * recall) / (4 * precision + recall);
}

function codePointsOf(text: string): { points: readonly number[]; isShortened: boolean } {
  const points: number[] = [];
  for (const character of text.replace(/\p{White_Space}+/gu, '')) {
    if (points.length === MAX_CODE_POINTS) return { points, isShortened: true };
    points.push(character.codePointAt(0) ?? 0);
  }
  return { points, isShortened: false };
}
