export interface KeptRow {
  /** Offset in its segment. */
  start: number;
  /** Bytes in the source, without a line end. */
  length: number;
  /** The number of its prompt. */
  prompt: number;
  isChanged: boolean;
}

const NUMBERS = 3;

/** Remembers which rows of a file stay, so that they can be written without another scan. Takes 12 bytes a row. */
export class KeptRows {
  readonly #segments: Uint32Array[] = [];
  #waiting: number[] = [];

  /** Adds a row of the segment that will end next. */
  add({ start, length, prompt, isChanged }: KeptRow): void {
    this.#waiting.push(start, length, 2 * prompt + Number(isChanged));
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
      return { start, length, prompt: Math.trunc(last / 2), isChanged: last % 2 === 1 };
    });
  }
}
