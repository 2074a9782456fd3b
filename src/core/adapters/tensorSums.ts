/** The value of each bit pattern of a 16-bit type. */
const BF16 = new Float32Array(Uint32Array.from({ length: 2 ** 16 }, (_, bits) => bits << 16).buffer);
const F16 = Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
  const sign = bits < 0x8000 ? 1 : -1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
});

/** Whether values of this type are read. */
export function isMeasured(dtype: string): boolean {
  return dtype === 'F32' || dtype === 'F16' || dtype === 'BF16';
}

/** Sums up the values of one tensor, whose little-endian bytes come in pieces of any length. */
export class TensorSums {
  values = 0;
  nans = 0;
  infinities = 0;
  /** Not finite where a value is not; 0 only where all values are, as the smallest 32-bit value has a 64-bit square. */
  squares = 0;
  readonly #table: Float32Array | undefined;
  /** Aligned, unlike the pieces; the bytes of a value that continues in the next piece stay at its start. */
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #filled = 0;

  /** @param bytes working memory, which tensors can share that come one after the other */
  constructor(dtype: string, bytes: Uint8Array<ArrayBuffer>) {
    this.#table = dtype === 'F16' ? F16 : dtype === 'BF16' ? BF16 : undefined;
    this.#bytes = bytes;
  }

  add(piece: Uint8Array): void {
    const width = this.#table === undefined ? 4 : 2;
    for (let from = 0; from < piece.length;) {
      const part = piece.subarray(from, from + this.#bytes.length - this.#filled);
      this.#bytes.set(part, this.#filled);
      from += part.length;
      const end = this.#filled + part.length;
      this.#filled = end % width;
      this.#sum((end - this.#filled) / width);
      this.#bytes.copyWithin(0, end - this.#filled, end);
    }
  }

  #sum(count: number): void {
    const { buffer } = this.#bytes;
    const table = this.#table;
    let squares = 0;
    if (table === undefined) {
      const floats = new Float32Array(buffer, 0, count);
      for (let index = 0; index < count; index++) squares += (floats[index] ?? 0) ** 2;
      if (!Number.isFinite(squares)) this.#countOthers(floats);
    } else {
      const bits = new Uint16Array(buffer, 0, count);
      for (let index = 0; index < count; index++) squares += (table[bits[index] ?? 0] ?? 0) ** 2;
      if (!Number.isFinite(squares)) this.#countOthers(Float32Array.from(bits, (one) => table[one] ?? 0));
    }
    this.values += count;
    this.squares += squares;
  }

  #countOthers(values: Float32Array): void {
    for (const value of values) {
      if (Number.isNaN(value)) this.nans++;
      else if (!Number.isFinite(value)) this.infinities++;
    }
  }
}
