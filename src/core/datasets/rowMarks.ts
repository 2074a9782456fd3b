/** The block of a file in which one mark at most is kept; a row is found by reading no more than this. */
export const BLOCK_BYTES = 64 * 1024;

const LF = 0x0a;
/** With more line ends than this in a block, looking at each byte is faster than jumping from one to the next. */
const SPARSE = 2_000;

/** Where a row begins. */
export interface RowMark {
  /** Counted from 1. */
  row: number;
  /** In bytes from the start of the file. */
  offset: number;
}

/**
 * Where rows begin, learned from the file's start on: one mark for each block of 64 KiB in which a row begins, so that the
 * memory depends on the file's size alone, whatever the length of its rows. Rows end at LF only.
 */
export class RowMarks {
  #rows = new Float64Array(64);
  #offsets = new Float64Array(64);
  #count = 1;
  #lineFeeds = 0;
  #bytes = 0;
  #endsWithLf = true;
  #isComplete = false;

  constructor() {
    this.#rows[0] = 1;
  }

  /** Bytes looked at so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True once the file's end was seen. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Rows whose end is known; what follows the last LF is a row if it is not empty. */
  get rows(): number {
    return this.#lineFeeds + (this.#isComplete && !this.#endsWithLf ? 1 : 0);
  }

  /** Learns from the bytes that follow those learned before; all but the last must be whole blocks. */
  add(bytes: Buffer): void {
    for (let from = 0; from < bytes.length; from += BLOCK_BYTES)
      this.#addBlock(bytes.subarray(from, from + BLOCK_BYTES));
    if (bytes.length > 0) this.#endsWithLf = bytes.at(-1) === LF;
  }

  /** The file ends here. */
  end(): void {
    this.#isComplete = true;
  }

  /** The last mark at or before a row. */
  before(row: number): RowMark {
    return this.#at(this.#after(row) - 1);
  }

  /** The first mark behind a row; where the row crosses the border of a block, that is the next row's beginning. */
  behind(row: number): RowMark | undefined {
    const index = this.#after(row);
    return index < this.#count ? this.#at(index) : undefined;
  }

  #at(index: number): RowMark {
    return { row: this.#rows[index] ?? 1, offset: this.#offsets[index] ?? 0 };
  }

  /** The index of the first mark behind a row. */
  #after(row: number): number {
    let low = 1;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#rows[middle] ?? 0) > row) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #addBlock(block: Buffer): void {
    const first = block.indexOf(LF);
    if (first !== -1) {
      this.#mark(this.#lineFeeds + 2, this.#bytes + first + 1);
      this.#lineFeeds += countLineFeeds(block, first);
    }
    this.#bytes += block.length;
  }

  #mark(row: number, offset: number): void {
    if (this.#count === this.#rows.length) {
      this.#rows = doubled(this.#rows);
      this.#offsets = doubled(this.#offsets);
    }
    this.#rows[this.#count] = row;
    this.#offsets[this.#count] = offset;
    this.#count += 1;
  }
}

function doubled(numbers: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}

function countLineFeeds(block: Buffer, from: number): number {
  let count = 0;
  let at = from;
  for (; at !== -1 && count < SPARSE; at = block.indexOf(LF, at + 1)) count += 1;
  if (at === -1) return count;
  for (let index = at; index < block.length; index++) if (block[index] === LF) count += 1;
  return count;
}
