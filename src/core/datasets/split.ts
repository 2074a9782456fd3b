import { USUAL_HOLD_OUT, type Amount, type Split, type SplitFailure } from './copyTypes.ts';
import { HashIndex } from './hashIndex.ts';

/** The side of a split, which is the file that a row is written to; undefined for neither. */
export type SplitSide = 'main' | 'hold-out' | undefined;

const MAIN = 0;
const HELD_OUT = 1;
const IN_TRIAL = 2;
/** Set apart for trials: a hold-out takes it only if it wants more than half of the rows. */
const FOR_TRIALS = 3;
/** The usual hold-out of another copy: a trial takes it last. */
const SET_ASIDE = 4;
/** So many rows, or a tenth, are set apart for trials, but at most half. No other copy's hold-out has them. */
const USUAL_TRIAL = 10;

/** Returns how many of some rows an amount is, at least one. */
export function rowsOf(amount: Amount, rows: number): number {
  const wanted = 'rows' in amount ? amount.rows : Math.round(amount.share * rows);
  return Math.max(1, wanted);
}

/**
 * Decides which rows are held out or in a trial. Rows with the same prompt stay together. A hold-out takes prompts in the order of
 * their hashes, a trial from the end of that order. So a file is always split alike.
 */
export class PromptSplit {
  readonly #split: Split;
  readonly #prompts: HashIndex;
  /** Rows of each prompt. */
  #rowsOf = new Uint32Array(1024);
  #sides = new Uint8Array();
  /** The last prompt of a trial, if it has too many rows: only so many are taken. */
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

  /** Decides once all rows are counted. Returns why nothing can be held out, if that was wanted. */
  decide(): SplitFailure | undefined {
    const { holdOut, trial } = this.#split;
    const order = this.#prompts.sorted();
    this.#prompts.clear();
    this.#sides = new Uint8Array(order.length);
    this.#setApart(order);
    if (holdOut !== undefined) {
      // At least one row must stay to train on.
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

  /** Sets the last prompts apart for trials, but not the first one of the fewest rows: a hold-out may have no other prompt that fits. */
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

  /** Takes prompts for a hold-out, as long as they fit. Returns whether it took any. */
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
