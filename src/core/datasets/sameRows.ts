import { StoppedError } from './hashIndex.ts';
import { LOCATED_LIMIT } from './scanner/codes.ts';

/** Limit of compared rows, which bounds the memory. */
export const MAX_COMPARED_ROWS = 8_000_000;
/** The same for prompts and answers: 16 bytes a row. */
export const MAX_COMPARED_PROMPTS = 1_000_000;
/** Comparisons between two checks for cancellation. */
const STEP = 4096;
/** A common answer has at least so many rows, and at least this share of them. */
const COMMON_ROWS = 10;
const COMMON_SHARE = 0.05;

/** Rows with the hash of an earlier one. They count from 0, in the order of their hashes. */
export interface SameRows {
  total: number;
  /** The first `LOCATED_LIMIT` of them, each with the first row that has its hash. */
  pairs: [row: number, first: number][];
}

/** Prompts and answers of several rows, which count from 0. */
export interface Repeats {
  rows: number;
  /** Prompts of several rows, and how many of them have different answers. */
  prompts: number;
  withOtherAnswers: number;
  /** The most common answer, if it is common: the first row that has it, and how many do. */
  answer: { first: number; rows: number } | undefined;
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
 * Finds prompts and answers that several rows have.
 * @param hashes four numbers for each row: of its prompt and its answer, each 0 if it has none
 * @param shouldContinue called regularly; false ends the search
 * @throws StoppedError
 */
export function findRepeats(hashes: Uint32Array, shouldContinue: () => boolean): Repeats {
  const rows = hashes.length / 4;
  const firstRows = new FirstRows(hashes, 4, shouldContinue);
  const isNone = (at: number) => ((hashes[at] ?? 0) | (hashes[at + 1] ?? 0)) === 0;
  const hasOther = new Uint8Array(rows);
  const found: Repeats = { rows, prompts: 0, withOtherAnswers: 0, answer: undefined };
  for (let row = 0; row < rows; row++) {
    if (isNone(4 * row)) continue;
    const first = firstRows.of(row, 0);
    if (first === row) continue;
    const isSame =
      hashes[4 * row + 2] === hashes[4 * first + 2] && hashes[4 * row + 3] === hashes[4 * first + 3];
    // 1 if the first row's prompt repeats, 2 if with another answer.
    const known = hasOther[first] ?? 0;
    if (known === 0) found.prompts++;
    if (known < 2 && !isSame) found.withOtherAnswers++;
    hasOther[first] = isSame ? Math.max(known, 1) : 2;
  }
  firstRows.clear();
  const counts = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) {
    if (isNone(4 * row + 2)) continue;
    const first = firstRows.of(row, 2);
    const count = (counts[first] ?? 0) + 1;
    counts[first] = count;
    if (count > (found.answer?.rows ?? 0)) found.answer = { first, rows: count };
  }
  const { answer } = found;
  const isCommon = answer !== undefined && answer.rows >= Math.max(COMMON_ROWS, rows * COMMON_SHARE);
  return isCommon ? found : { ...found, answer: undefined };
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
