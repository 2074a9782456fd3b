/** Values of a block of rows, at least. */
const BLOCK_VALUES = 8192;
/** Columns and rows that are worked on together: as many sums as a processor holds. */
const TILE_ROWS = 4;
const TILE_COLUMNS = 2;

/**
 * The Gram matrix of vectors of one length that come one after another: the sum of their outer products. Of B's rows it is
 * BᵀB, of A's columns AAᵀ; `‖BA‖² = tr(BᵀB · AAᵀ)`, so that BA itself, as large as a model's weight, is never there.
 */
export class Gram {
  /** Length of a vector, and the same made a multiple of the tile. */
  readonly length: number;
  readonly stride: number;
  readonly #sums: Float64Array;
  readonly #block: Float64Array;
  readonly #blockRows: number;
  #row = 0;
  #column = 0;

  constructor(length: number) {
    this.length = length;
    this.stride = strideOf(length);
    this.#sums = new Float64Array(this.stride * this.stride);
    this.#blockRows = Math.ceil(BLOCK_VALUES / this.stride);
    this.#block = new Float64Array(this.#blockRows * this.stride);
  }

  /** Bytes that one holds. */
  static bytesOf(length: number): number {
    return 8 * (strideOf(length) ** 2 + Math.max(BLOCK_VALUES, strideOf(length)));
  }

  /** Values of vectors, in order; they may end within one. */
  add(values: Float32Array): void {
    for (let from = 0; from < values.length;) {
      const count = Math.min(values.length - from, this.length - this.#column);
      const at = this.#row * this.stride + this.#column;
      for (let index = 0; index < count; index++) this.#block[at + index] = values[from + index] ?? 0;
      from += count;
      this.#column += count;
      if (this.#column < this.length) continue;
      this.#column = 0;
      if (++this.#row === this.#blockRows) this.#flush();
    }
  }

  /** Adds the columns of a matrix that stands row by row, `length` rows. */
  addColumns(matrix: Float32Array): void {
    const columns = matrix.length / this.length;
    for (let column = 0; column < columns; column++) {
      const at = this.#row * this.stride;
      for (let row = 0; row < this.length; row++) this.#block[at + row] = matrix[row * columns + column] ?? 0;
      if (++this.#row === this.#blockRows) this.#flush();
    }
  }

  /** The sum of the products of both matrices' elements: the trace of their product, for they are symmetric. */
  trace(other: Gram): number {
    this.#flush();
    other.#flush();
    let sum = 0;
    for (let row = 0; row < this.length; row++) {
      const at = row * this.stride;
      for (let column = 0; column < row; column++)
        sum += 2 * (this.#sums[at + column] ?? 0) * (other.#sums[at + column] ?? 0);
      sum += (this.#sums[at + row] ?? 0) * (other.#sums[at + row] ?? 0);
    }
    return sum;
  }

  #flush(): void {
    if (this.#row > 0) addProducts(this.#block, this.#row, this.stride, this.#sums);
    this.#row = 0;
  }
}

function strideOf(length: number): number {
  return Math.ceil(length / TILE_ROWS) * TILE_ROWS;
}

/** The lower half, tile by tile. */
function addProducts(block: Float64Array, rows: number, stride: number, sums: Float64Array): void {
  const end = rows * stride;
  for (let i = 0; i < stride; i += TILE_ROWS) {
    for (let j = 0; j < i + TILE_ROWS; j += TILE_COLUMNS) {
      let [s00, s01, s10, s11, s20, s21, s30, s31] = [0, 0, 0, 0, 0, 0, 0, 0];
      for (let at = 0; at < end; at += stride) {
        const y0 = block[at + j] ?? 0;
        const y1 = block[at + j + 1] ?? 0;
        const x0 = block[at + i] ?? 0;
        const x1 = block[at + i + 1] ?? 0;
        const x2 = block[at + i + 2] ?? 0;
        const x3 = block[at + i + 3] ?? 0;
        s00 += x0 * y0;
        s01 += x0 * y1;
        s10 += x1 * y0;
        s11 += x1 * y1;
        s20 += x2 * y0;
        s21 += x2 * y1;
        s30 += x3 * y0;
        s31 += x3 * y1;
      }
      const at = i * stride + j;
      sums[at] = (sums[at] ?? 0) + s00;
      sums[at + 1] = (sums[at + 1] ?? 0) + s01;
      sums[at + stride] = (sums[at + stride] ?? 0) + s10;
      sums[at + stride + 1] = (sums[at + stride + 1] ?? 0) + s11;
      sums[at + 2 * stride] = (sums[at + 2 * stride] ?? 0) + s20;
      sums[at + 2 * stride + 1] = (sums[at + 2 * stride + 1] ?? 0) + s21;
      sums[at + 3 * stride] = (sums[at + 3 * stride] ?? 0) + s30;
      sums[at + 3 * stride + 1] = (sums[at + 3 * stride + 1] ?? 0) + s31;
    }
  }
}
