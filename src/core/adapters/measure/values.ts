/** Values that are decoded at once. */
const BATCH = 16 * 1024;

/** Dtypes whose values are looked at. */
export type MeasuredDtype = 'F32' | 'F16' | 'BF16';

export function isMeasured(dtype: string): dtype is MeasuredDtype {
  return dtype === 'F32' || dtype === 'F16' || dtype === 'BF16';
}

/** What is known of the values of one tensor. */
export interface Sums {
  values: number;
  squares: number;
  nans: number;
  infinities: number;
  isZero: boolean;
}

/** Decodes the bytes of tensors to floats, and sums up what they are like. One tensor after another. */
export class Values {
  readonly #floats = new Float32Array(BATCH);
  readonly #bits = new Uint32Array(this.#floats.buffer);
  /** Bytes of a value that goes on in the next piece. */
  readonly #kept = Buffer.alloc(4);
  #keptBytes = 0;
  #half: Float32Array | undefined;
  #dtype: MeasuredDtype = 'F32';
  #sums: Sums = noSums();

  begin(dtype: MeasuredDtype): void {
    this.#dtype = dtype;
    this.#keptBytes = 0;
    this.#sums = noSums();
  }

  /** Decodes a piece; `take` gets the values in batches that are only good until it returns. */
  add(piece: Buffer, take: (values: Float32Array) => void): void {
    const width = this.#dtype === 'F32' ? 4 : 2;
    let from = 0;
    while (this.#keptBytes > 0 && from < piece.length) {
      this.#kept[this.#keptBytes++] = piece[from++] ?? 0;
      if (this.#keptBytes < width) continue;
      this.#keptBytes = 0;
      this.#batch(this.#kept, 0, 1, take);
    }
    const count = Math.floor((piece.length - from) / width);
    for (let done = 0; done < count; done += BATCH)
      this.#batch(piece, from + done * width, Math.min(BATCH, count - done), take);
    from += count * width;
    while (from < piece.length) this.#kept[this.#keptBytes++] = piece[from++] ?? 0;
  }

  end(): Sums {
    return this.#sums;
  }

  #batch(bytes: Buffer, at: number, count: number, take: (values: Float32Array) => void): void {
    const mixed = this.#decode(bytes, at, count);
    const floats = this.#floats;
    let squares = 0;
    for (let index = 0; index < count; index++) {
      const value = floats[index] ?? 0;
      squares += value * value;
    }
    const values = floats.subarray(0, count);
    // The square of each finite value, and so many of them, are finite.
    if (!Number.isFinite(squares)) this.#countOthers(values);
    this.#sums.squares += squares;
    this.#sums.values += count;
    if (mixed !== 0) this.#sums.isZero = false;
    take(values);
  }

  /** Little-endian, at any place. Returns the bits of all values, signs left out, mixed into each other. */
  #decode(bytes: Buffer, at: number, count: number): number {
    const bits = this.#bits;
    let mixed = 0;
    if (this.#dtype === 'F32') {
      for (let index = 0, from = at; index < count; index++, from += 4) {
        const value =
          (bytes[from] ?? 0) |
          ((bytes[from + 1] ?? 0) << 8) |
          ((bytes[from + 2] ?? 0) << 16) |
          ((bytes[from + 3] ?? 0) << 24);
        mixed |= value;
        bits[index] = value;
      }
      return mixed & 0x7fffffff;
    }
    if (this.#dtype === 'BF16') {
      for (let index = 0, from = at; index < count; index++, from += 2) {
        const value = (bytes[from] ?? 0) | ((bytes[from + 1] ?? 0) << 8);
        mixed |= value;
        bits[index] = value << 16;
      }
      return mixed & 0x7fff;
    }
    const half = (this.#half ??= halfFloats());
    for (let index = 0, from = at; index < count; index++, from += 2) {
      const value = (bytes[from] ?? 0) | ((bytes[from + 1] ?? 0) << 8);
      mixed |= value;
      this.#floats[index] = half[value] ?? 0;
    }
    return mixed & 0x7fff;
  }

  #countOthers(values: Float32Array): void {
    for (const value of values) {
      if (Number.isNaN(value)) this.#sums.nans++;
      else if (!Number.isFinite(value)) this.#sums.infinities++;
    }
  }
}

function noSums(): Sums {
  return { values: 0, squares: 0, nans: 0, infinities: 0, isZero: true };
}

/** All 65,536 values of F16. */
function halfFloats(): Float32Array {
  return Float32Array.from({ length: 65_536 }, (_, bits) => {
    const sign = bits < 0x8000 ? 1 : -1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
    return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
}
