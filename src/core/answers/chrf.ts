import type { Side } from './answerRow.ts';

/** The most code points, without white space, that are compared: the beginning of a longer text. */
export const MAX_CODE_POINTS = 8_000;

/** The longest n-grams. */
const MAX_N = 6;
/** Integers of a slot: the n-gram, how often it is in the expected text, and how often it was seen in each answer. */
const SLOT = 4;
const SEEN: Readonly<Record<Side, number>> = { base: 2, adapter: 3 };

interface CodePoints {
  points: readonly number[];
  isShortened: boolean;
}

/**
 * Owns the n-grams of an expected text, and compares two answers with it by chrF2. The score is that of
 * sacrebleu (`case:mixed|eff:yes|nc:6|nw:0|space:no`, for each sentence).
 * The n-grams are the nodes of a trie. Its edges are in one table of integers, and a node is named by its
 * slot. So they need no strings, and an answer costs about one look-up per n-gram.
 */
export class Chrf {
  readonly #points: readonly number[];
  /** The code points of the expected text, numbered from 0. */
  readonly #numbers = new Map<number, number>();
  readonly #table: Int32Array;
  readonly #mask: number;
  #isShortened: boolean;

  constructor(expected: string) {
    const { points, isShortened } = codePointsOf(expected);
    this.#points = points;
    this.#isShortened = isShortened;
    // At most two thirds full: 2^17 slots, so that the largest key, a slot times a code point's number, has 30 bits.
    const slots = 2 ** Math.ceil(Math.log2(1 + points.length * MAX_N * 1.5));
    this.#mask = slots - 1;
    this.#table = new Int32Array(SLOT * slots);
    for (const point of points) if (!this.#numbers.has(point)) this.#numbers.set(point, this.#numbers.size);
    const numbers = this.#numbered(points);
    const table = this.#table;
    for (let from = 0; from < numbers.length; from++)
      for (let node = 0, n = 1; n <= MAX_N && from + n <= numbers.length; n++) {
        const key = this.#keyOf(node, numbers[from + n - 1] ?? 0);
        const slot = this.#find(key);
        table[slot] = key;
        table[slot + 1] = (table[slot + 1] ?? 0) + 1;
        node = slot / SLOT + 1;
      }
  }

  /** Whether a text had more code points than are compared. */
  get isShortened(): boolean {
    return this.#isShortened;
  }

  /** Returns the score of an answer, from 0 to 100. Each side has one. */
  score(side: Side, answer: string): number {
    const { points, isShortened } = codePointsOf(answer);
    this.#isShortened ||= isShortened;
    const numbers = this.#numbered(points);
    const table = this.#table;
    const column = SEEN[side];
    /** N-grams that both texts have, by n - 1: as often as in the text with fewer of it. */
    const matches = new Float64Array(MAX_N);
    for (let from = 0; from < numbers.length; from++)
      for (let node = 0, n = 1; n <= MAX_N && from + n <= numbers.length; n++) {
        const number = numbers[from + n - 1] ?? -1;
        const slot = number < 0 ? undefined : this.#find(this.#keyOf(node, number));
        if (slot === undefined || table[slot] === 0) break;
        const seen = (table[slot + column] ?? 0) + 1;
        table[slot + column] = seen;
        if (seen <= (table[slot + 1] ?? 0)) matches[n - 1] = (matches[n - 1] ?? 0) + 1;
        node = slot / SLOT + 1;
      }
    return f2(matches, numbers.length, this.#points.length);
  }

  /** Returns the numbers of code points, -1 for those that the expected text doesn't have. */
  #numbered(points: readonly number[]): Int32Array {
    const numbers = new Int32Array(points.length);
    for (const [index, point] of points.entries()) numbers[index] = this.#numbers.get(point) ?? -1;
    return numbers;
  }

  /** Returns the key of an n-gram: the node of its first n - 1 code points, and the last one. Never 0. */
  #keyOf(node: number, number: number): number {
    return node * this.#numbers.size + number + 1;
  }

  /** Returns where a key is in the table, or would be. */
  #find(key: number): number {
    // The product makes the slot depend on all bits (Knuth).
    let slot = (Math.imul(key, 0x9e3779b1) >>> 9) & this.#mask;
    for (;;) {
      const found = this.#table[SLOT * slot];
      if (found === key || found === 0) return SLOT * slot;
      slot = (slot + 1) & this.#mask;
    }
  }
}

/** Returns the F2 score of n-grams of two texts with so many code points. */
function f2(matches: Float64Array, answered: number, expected: number): number {
  // For these n both have n-grams.
  const most = Math.min(MAX_N, answered, expected);
  let precision = 0;
  let recall = 0;
  for (let n = 1; n <= most; n++) {
    precision += (matches[n - 1] ?? 0) / (answered - n + 1) / most;
    recall += (matches[n - 1] ?? 0) / (expected - n + 1) / most;
  }
  return precision + recall === 0 ? 0 : (100 * 5 * precision * recall) / (4 * precision + recall);
}

function codePointsOf(text: string): CodePoints {
  const points: number[] = [];
  for (const character of text.replace(/\p{White_Space}+/gu, '')) {
    if (points.length === MAX_CODE_POINTS) return { points, isShortened: true };
    points.push(character.codePointAt(0) ?? 0);
  }
  return { points, isShortened: false };
}
