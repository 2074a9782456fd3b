import { HashIndex } from '../hashIndex.ts';

/** So many texts are distinguished; they need 3 MB. */
const MOST = 100_000;
/** Only the beginning and the end of longer texts are hashed. */
const HASHED = 4_096;

/** Different texts by their hashes, as plain data. */
export interface DistinctTexts {
  /** Two numbers for each. */
  hashes: Uint32Array<ArrayBuffer>;
  /** How many rows have each, and the place of the first one. */
  counts: Float64Array<ArrayBuffer>;
  firsts: Float64Array<ArrayBuffer>;
}

/** Counts the rows of each text. Texts are compared by 64-bit hashes. */
export class Distinct {
  readonly #index = new HashIndex(() => true);
  readonly #counts: number[] = [];
  readonly #firsts: number[] = [];
  /** Rows with a text. */
  rows = 0;

  get size(): number {
    return this.#index.size;
  }

  add(text: string, place: number): void {
    const [low, high] = hashOf(text);
    this.#add(low, high, 1, place);
  }

  merge({ hashes, counts, firsts }: DistinctTexts): void {
    for (const [at, count] of counts.entries())
      this.#add(hashes[2 * at] ?? 0, hashes[2 * at + 1] ?? 0, count, firsts[at] ?? 0);
  }

  #add(low: number, high: number, rows: number, place: number): void {
    this.rows += rows;
    const number = this.size < MOST ? this.#index.add(low, high) : this.#index.find(low, high);
    if (number < 0) return;
    this.#counts[number] = (this.#counts[number] ?? 0) + rows;
    this.#firsts[number] = Math.min(this.#firsts[number] ?? Infinity, place);
  }

  has(text: string): boolean {
    return this.#index.find(...hashOf(text)) >= 0;
  }

  /** Returns the most common texts, at most so many. */
  most(texts: number): { place: number; rows: number }[] {
    const all = this.#counts.map((rows, at) => ({ rows, place: this.#firsts[at] ?? 0 }));
    const least =
      this.size > texts ? (this.#counts.toSorted((one, other) => other - one)[texts - 1] ?? 0) : 0;
    return all
      .filter(({ rows }) => rows >= least)
      .sort((one, other) => other.rows - one.rows || one.place - other.place)
      .slice(0, texts);
  }

  all(): DistinctTexts {
    return {
      hashes: this.#index.hashes(),
      counts: Float64Array.from(this.#counts),
      firsts: Float64Array.from(this.#firsts),
    };
  }
}

function hashOf(text: string): [low: number, high: number] {
  let one = text.length;
  let other = 0x9e3779b1;
  const half = HASHED / 2;
  for (let at = 0; at < text.length; at++) {
    if (at === half && text.length > HASHED) at = text.length - half;
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x85ebca6b);
    one ^= one >>> 15;
    other = Math.imul(other, 0x01000193) ^ unit;
  }
  other = Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
  return [one >>> 0, (other ^ (other >>> 16)) >>> 0];
}
