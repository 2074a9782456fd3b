import { HashIndex } from './hashIndex.ts';
import { USUAL_HOLD_OUT, type Amount, type Split, type SplitFailure } from './copyTypes.ts';

/** The file that a row is written to; undefined if it is in none. */
export type SplitSide = 'main' | 'hold-out' | undefined;

const MAIN = 0;
const HELD_OUT = 1;
const IN_TRIAL = 2;
/** A trial takes it first, and only a hold-out of more than half of the rows takes it. */
const FOR_TRIALS = 3;
/** Another copy holds it out: a trial without a hold-out takes it last. */
const SET_ASIDE = 4;
/** A trial of so many rows, or of a tenth, meets no hold-out of another copy; up to half of the rows each. */
const USUAL_TRIAL = 10;

/** Returns how many of some rows an amount is, at least one. */
export function rowsOf(amount: Amount, rows: number): number {
  const wanted = 'rows' in amount ? amount.rows : Math.round(amount.share * rows);
  return Math.max(1, wanted);
}

/**
 * Decides which rows are held out, or are in a trial: rows with the same prompt stay together. Prompts are taken in the order
 * of their hashes, for a hold-out from the start, for a trial from the end, so that the same file is always split alike.
 */
export class PromptSplit {
  readonly #split: Split;
  readonly #prompts: HashIndex;
  /** Rows of each prompt. */
  #rowsOf = new Uint32Array(1024);
  #sides = new Uint8Array();
  /** The last prompt of a trial, of which it takes only so many rows. */
  #cut = { prompt: -1, rowsLeft: 0 };
  rows = 0;

  constructor(split: Split, shouldContinue: () => boolean) {
    this.#split = split;
    this.#prompts = new HashIndex(shouldContinue);
  }

  /** Counts a row, by the hash of its prompt. @returns the prompt's number */
  count(low: number, high: number): number {
    const prompt = this.#prompts.add(low, high);
    if (prompt === this.#rowsOf.length) {
      this.#rowsOf = new Uint32Array(this.#rowsOf.buffer.transfer(8 * prompt));
    }
    this.#rowsOf[prompt] = (this.#rowsOf[prompt] ?? 0) + 1;
    this.rows++;
    return prompt;
  }

  /** Decides, once all rows are counted. Returns why nothing can be held out, although it should be. */
  decide(): SplitFailure | undefined {
    const { holdOut, trial } = this.#split;
    const order = this.#prompts.sorted();
    this.#prompts.clear();
    this.#sides = new Uint8Array(order.length);
    this.#setApart(order);
    if (holdOut !== undefined) {
      // A row stays to train on.
      if (rowsOf(holdOut, this.rows) >= this.rows) return 'too-few-rows';
      if (!this.#holdOut(order, holdOut, HELD_OUT))
        return order.length === 1 ? 'one-prompt' : 'large-prompts';
    }
    if (trial === undefined) return undefined;
    if (holdOut === undefined) this.#holdOut(order, USUAL_HOLD_OUT, SET_ASIDE);
    let left = rowsOf(trial, this.rows);
    for (const side of [FOR_TRIALS, MAIN, SET_ASIDE]) left = this.#takeTrial(order, side, left);
    return undefined;
  }

  /** Sets the last prompts apart for trials, but not the first of the smallest: a hold-out may fit nowhere else. */
  #setApart(order: Uint32Array): void {
    const rowsIn = (prompt: number) => this.#rowsOf[prompt] ?? 0;
    const smallest = order.reduce((one, other) => (rowsIn(other) < rowsIn(one) ? other : one), order[0] ?? 0);
    let left = Math.min(Math.max(USUAL_TRIAL, this.rows / 10), this.rows / 2);
    for (let at = order.length - 1; at >= 0 && left > 0; at--) {
      const prompt = order[at] ?? 0;
      if (prompt === smallest) continue;
      this.#sides[prompt] = FOR_TRIALS;
      left -= rowsIn(prompt);
    }
  }

  /** Takes prompts for a hold-out. Returns whether it has one. */
  #holdOut(order: Uint32Array, amount: Amount, side: number): boolean {
    const wanted = rowsOf(amount, this.rows);
    let left = wanted;
    for (const prompt of order) {
      const rows = this.#rowsOf[prompt] ?? 0;
      if (rows > left || (2 * wanted <= this.rows && this.#sides[prompt] === FOR_TRIALS)) continue;
      this.#sides[prompt] = side;
      left -= rows;
      if (left === 0) break;
    }
    return left < wanted;
  }

  /** Takes prompts of a side for the trial. Returns how many rows are missing. */
  #takeTrial(order: Uint32Array, side: number, wanted: number): number {
    let left = wanted;
    for (let at = order.length - 1; at >= 0 && left > 0; at--) {
      const prompt = order[at] ?? 0;
      if (this.#sides[prompt] !== side) continue;
      const rows = this.#rowsOf[prompt] ?? 0;
      this.#sides[prompt] = IN_TRIAL;
      if (rows > left) this.#cut = { prompt, rowsLeft: left };
      left -= rows;
    }
    return left;
  }

  /** Returns where the next row of a prompt belongs. */
  sideOf(prompt: number): SplitSide {
    const side = this.#sides[prompt] ?? MAIN;
    if (side === HELD_OUT) return 'hold-out';
    if (this.#split.trial === undefined) return 'main';
    if (side !== IN_TRIAL) return undefined;
    if (prompt === this.#cut.prompt && this.#cut.rowsLeft-- <= 0) return undefined;
    return 'main';
  }
}
