import { StoppedError } from './hashIndex.ts';
import { LOCATED_LIMIT } from './scanner/codes.ts';

/** The most rows to compare; the limit bounds the memory. */
export const MAX_COMPARED_ROWS = 8_000_000;
/** The same for prompts and answers. */
export const MAX_COMPARED_PROMPTS = 1_000_000;
/** Numbers for the texts of each row: two for the hash of its prompt, and of its answer. */
export const TEXT_NUMBERS = 4;
const PROMPT = 0;
const ANSWER = 2;
/** Comparisons between two checks for cancellation. */
const STEP = 4096;

/** Rows with the hash of an earlier one. Rows are numbered from 0, in the order of `hashes`. */
export interface SameRows {
  total: number;
  /** The first `LOCATED_LIMIT` of them, each with the first row that has its hash. */
  pairs: [row: number, first: number][];
}

/** Prompts of several rows, and how many of them have different answers. */
export interface Repeats {
  prompts: number;
  withOtherAnswers: number;
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
 * Finds prompts that several rows have.
 * @param hashes `TEXT_NUMBERS` for each row; both of a text are 0 if it has none
 * @param shouldContinue called regularly; false ends the search
 * @throws StoppedError
 */
export function findRepeats(hashes: Uint32Array, shouldContinue: () => boolean): Repeats {
  const rows = hashes.length / TEXT_NUMBERS;
  const firstRows = new FirstRows(hashes, TEXT_NUMBERS, shouldContinue);
  const hasOther = new Uint8Array(rows);
  const found: Repeats = { prompts: 0, withOtherAnswers: 0 };
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
  return found;
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

  /** Whether a row has no such text. @param at the index of the hash among the row's numbers */
  isNone(row: number, at: number): boolean {
    const place = row * this.#stride + at;
    return ((this.#hashes[place] ?? 0) | (this.#hashes[place + 1] ?? 0)) === 0;
  }

  /** Returns the first row with the same hash, which may be the row itself. @param at the index of the hash among the row's numbers */
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
