const CHANGES = ['none', 'converted', 'masked'] as const;

/** How a row that stays is changed. A converted row may be masked as well. */
export type Change = (typeof CHANGES)[number];

export interface KeptRow {
  /** Offset in its segment. */
  start: number;
  /** Bytes in the source, without a line end. */
  length: number;
  /** The number of its prompt. */
  prompt: number;
  change: Change;
}

const NUMBERS = 3;

/** Remembers which rows of a file stay, so that they can be written without another scan: 12 bytes each. */
export class KeptRows {
  readonly #segments: Uint32Array[] = [];
  #waiting: number[] = [];

  /** Adds a row of the segment that will end next. */
  add({ start, length, prompt, change }: KeptRow): void {
    this.#waiting.push(start, length, prompt * CHANGES.length + CHANGES.indexOf(change));
  }

  endSegment(): void {
    this.#segments.push(Uint32Array.from(this.#waiting));
    this.#waiting = [];
  }

  /** Returns the rows of a segment, in order. */
  ofSegment(number: number): KeptRow[] {
    const numbers = this.#segments[number] ?? new Uint32Array();
    return Array.from({ length: numbers.length / NUMBERS }, (_, row) => {
      const [start = 0, length = 0, last = 0] = numbers.subarray(row * NUMBERS, (row + 1) * NUMBERS);
      const change = CHANGES[last % CHANGES.length] ?? 'none';
      return { start, length, prompt: Math.trunc(last / CHANGES.length), change };
    });
  }
}
