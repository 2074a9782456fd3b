import { StoppedError } from './hashIndex.ts';
import { LOCATED_LIMIT, NO_SYSTEM, REFUSAL_BIT } from './scanner/codes.ts';

/** Limit of compared rows, which bounds the memory. */
export const MAX_COMPARED_ROWS = 8_000_000;
/** The same for texts: prompts, answers and system messages. */
export const MAX_COMPARED_PROMPTS = 1_000_000;
/** Numbers for the texts of each row: two for the hash of its prompt, its answer, and its system messages. */
export const TEXT_NUMBERS = 6;
const PROMPT = 0;
const ANSWER = 2;
const SYSTEM = 4;
/** Comparisons between two checks for cancellation. */
const STEP = 4096;
/** A common answer has at least so many rows, and at least this share of them. */
const COMMON_ROWS = 10;
const COMMON_SHARE = 0.05;
/** So few answers are labels, if each has so many rows on average. */
const MOST_LABELS = 12;
const ROWS_OF_LABEL = 10;

/** Rows with the hash of an earlier one. They count from 0, in the order of their hashes. */
export interface SameRows {
  total: number;
  /** The first `LOCATED_LIMIT` of them, each with the first row that has its hash. */
  pairs: [row: number, first: number][];
}

/** A text that several rows have: the first of them, and how many. */
export interface SharedText {
  first: number;
  rows: number;
}

/** Texts of several rows, which count from 0. */
export interface Repeats {
  rows: number;
  /** Prompts of several rows, and how many of them have different answers. */
  prompts: number;
  withOtherAnswers: number;
  /** Rows with an answer, and those whose answer begins like a refusal. */
  answers: number;
  refusals: number;
  /** The most common answer, if it is common. */
  answer: SharedText | undefined;
  /** All answers, the most common first, if they are few, as labels are. */
  labels: readonly SharedText[];
  /** The conversations that can have system messages, and those without; how many different ones there are, and the main one. */
  system: { conversations: number; without: number; texts: number; main: SharedText | undefined };
}

/** Of a file without texts. */
export function noRepeats(): Repeats {
  const system = { conversations: 0, without: 0, texts: 0, main: undefined };
  const counts = { rows: 0, prompts: 0, withOtherAnswers: 0, answers: 0, refusals: 0 };
  return { ...counts, answer: undefined, labels: [], system };
}

/**
 * Finds rows with equal hashes. They have 64 bits: among eight million different rows, two collide in about one
 * of half a million files.
 * @param hashes two numbers for each row
 * @param shouldContinue called regularly; false ends the search
 * @throws StoppedError
 */
export function findSameRows(hashes: Uint32Array, shouldContinue: () => boolean): SameRows {
  const rows = hashes.length / 2;
  const firstRows = new FirstRows(hashes, 2, shouldContinue);
  const found: SameRows = { total: 0, pairs: [] };
  for (let row = 0; row < rows; row++) {
    const first = firstRows.of(row, 0);
    if (first === row) continue;
    found.total++;
    if (found.pairs.length < LOCATED_LIMIT) found.pairs.push([row, first]);
  }
  return found;
}

/**
 * Finds texts that several rows have.
 * @param hashes `TEXT_NUMBERS` for each row; both of a text are 0 if it has none
 * @param shouldContinue called regularly; false ends the search
 * @throws StoppedError
 */
export function findRepeats(hashes: Uint32Array, shouldContinue: () => boolean): Repeats {
  const rows = hashes.length / TEXT_NUMBERS;
  const firstRows = new FirstRows(hashes, TEXT_NUMBERS, shouldContinue);
  const hasOther = new Uint8Array(rows);
  const found = { rows, prompts: 0, withOtherAnswers: 0 };
  const answerAt = (row: number) => row * TEXT_NUMBERS + ANSWER;
  for (let row = 0; row < rows; row++) {
    if (firstRows.isNone(row, PROMPT)) continue;
    const first = firstRows.of(row, PROMPT);
    if (first === row) continue;
    const isSame =
      hashes[answerAt(row)] === hashes[answerAt(first)] &&
      hashes[answerAt(row) + 1] === hashes[answerAt(first) + 1];
    // 1 if the first row's prompt repeats, 2 if with another answer.
    const known = hasOther[first] ?? 0;
    if (known === 0) found.prompts++;
    if (known < 2 && !isSame) found.withOtherAnswers++;
    hasOther[first] = isSame ? Math.max(known, 1) : 2;
  }
  const answers = columnOf(firstRows, rows, ANSWER);
  const answer = answers.main;
  const isCommon = answer !== undefined && answer.rows >= Math.max(COMMON_ROWS, rows * COMMON_SHARE);
  const areLabels = answers.texts <= MOST_LABELS && answers.rows >= answers.texts * ROWS_OF_LABEL;
  let refusals = 0;
  let without = 0;
  for (let at = 0; at < hashes.length; at += TEXT_NUMBERS) {
    refusals += (hashes[at + ANSWER] ?? 0) & REFUSAL_BIT;
    if (hashes[at + SYSTEM] !== NO_SYSTEM || hashes[at + SYSTEM + 1] !== 0) continue;
    without++;
    hashes[at + SYSTEM] = 0;
  }
  const { texts, main, rows: having } = columnOf(firstRows, rows, SYSTEM);
  return {
    ...found,
    ...{ answers: answers.rows, refusals, answer: isCommon ? answer : undefined },
    labels: areLabels ? answers.few.toSorted((one, other) => other.rows - one.rows) : [],
    system: { conversations: having + without, without, texts, main },
  };
}

/** The different texts of a column, the rows that have one, and the text of most; `few`: all of them, if they may be labels. */
interface Column {
  texts: number;
  rows: number;
  main: SharedText | undefined;
  few: SharedText[];
}

function columnOf(firstRows: FirstRows, rows: number, at: number): Column {
  firstRows.clear();
  const counts = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) {
    if (firstRows.isNone(row, at)) continue;
    const first = firstRows.of(row, at);
    counts[first] = (counts[first] ?? 0) + 1;
  }
  const column: Column = { texts: 0, rows: 0, main: undefined, few: [] };
  for (let first = 0; first < rows; first++) {
    const count = counts[first] ?? 0;
    if (count === 0) continue;
    column.texts++;
    column.rows += count;
    if (count > (column.main?.rows ?? 0)) column.main = { first, rows: count };
    if (column.texts <= MOST_LABELS) column.few.push({ first, rows: count });
  }
  return column;
}

/** Owns a table of the first rows that have each hash: open addressing, two thirds full. */
class FirstRows {
  readonly #hashes: Uint32Array;
  readonly #stride: number;
  readonly #shouldContinue: () => boolean;
  /** A slot contains a row plus 1, or 0. */
  readonly #slots: Int32Array;
  #probes = 0;

  /** @param stride how many numbers each row has */
  constructor(hashes: Uint32Array, stride: number, shouldContinue: () => boolean) {
    this.#hashes = hashes;
    this.#stride = stride;
    this.#shouldContinue = shouldContinue;
    this.#slots = new Int32Array(Math.ceil((1.5 * hashes.length) / stride));
  }

  clear(): void {
    this.#slots.fill(0);
  }

  /** Whether a row has no such text. @param at which of its numbers */
  isNone(row: number, at: number): boolean {
    const place = row * this.#stride + at;
    return ((this.#hashes[place] ?? 0) | (this.#hashes[place + 1] ?? 0)) === 0;
  }

  /** Returns the first row with a row's hash, itself if it is new. @param at which of its numbers */
  of(row: number, at: number): number {
    const [hashes, slots, stride] = [this.#hashes, this.#slots, this.#stride];
    const one = hashes[row * stride + at] ?? 0;
    const other = hashes[row * stride + at + 1];
    for (let slot = Math.trunc((one / 2 ** 32) * slots.length); ; slot++) {
      if (slot === slots.length) slot = 0;
      // Check at each probe, not each row: a crafted file may have hashes that all begin alike.
      if (this.#probes++ % STEP === 0 && !this.#shouldContinue()) throw new StoppedError();
      const known = slots[slot] ?? 0;
      if (known === 0) {
        slots[slot] = row + 1;
        return row;
      }
      const place = (known - 1) * stride + at;
      if (hashes[place] === one && hashes[place + 1] === other) return known - 1;
    }
  }
}
