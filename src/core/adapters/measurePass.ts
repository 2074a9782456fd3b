import type { Archive } from './archive/bytes.ts';
import { openArchive } from './archive/openArchive.ts';
import { inspect, type Inspection } from './inspect.ts';
import { BrokenArchiveError, NotAnAdapterError, printable } from './problems.ts';
import type { Measurements, PairMeasure, Progress } from './report.ts';
import type { SafetensorsHeader, Tensor } from './safetensors.ts';
import { dtypeShares, type ModuleTensors } from './tensors.ts';

const MAX_NAMES = 10;
/** Bytes of values summed per batch. */
const BATCH_BYTES = 64 * 1024;

type InspectedWeights = NonNullable<Inspection['weights']>;

/** Measures an adapter in one pass over all values. @throws NotAnAdapterError, BrokenArchiveError */
export async function measurePass(
  file: string,
  onProgress: (progress: Progress) => void,
): Promise<Measurements> {
  const { report, weights } = await inspect(file);
  if (weights === undefined) throw new NotAnAdapterError(report.verdict);
  const archive = await openArchive(file);
  try {
    const sums = await sumsOf(archive, weights, onProgress);
    return measurementsOf(weights, sums);
  } finally {
    await archive.close();
  }
}

/** Sums up each tensor of a measured type. */
async function sumsOf(
  archive: Archive,
  { name, header }: InspectedWeights,
  onProgress: (progress: Progress) => void,
): Promise<Map<Tensor, TensorSums>> {
  const sums = new Map<Tensor, TensorSums>();
  const add = adder(header, sums);
  const totalBytes = header.dataAt + (header.tensors.at(-1)?.to ?? 0);
  let doneBytes = 0;
  for await (const member of archive.members()) {
    if (member.name !== name) continue;
    for await (const piece of member.open()) {
      add(piece);
      doneBytes += piece.length;
      onProgress({ doneBytes, totalBytes });
    }
    break;
  }
  // The file changed after it was inspected.
  if (doneBytes !== totalBytes) throw new BrokenArchiveError('truncated');
  return sums;
}

/** Returns a function that adds the pieces of a file, in order, to the sums of their tensors. */
function adder(header: SafetensorsHeader, sums: Map<Tensor, TensorSums>): (piece: Buffer) => void {
  const memory = new Uint8Array(BATCH_BYTES);
  let at = 0;
  let index = 0;
  return (piece) => {
    const begin = at - header.dataAt;
    at += piece.length;
    for (; index < header.tensors.length; index++) {
      const tensor = header.tensors[index];
      if (tensor === undefined || begin + piece.length < tensor.from) return;
      if (isMeasured(tensor.dtype)) {
        const its = sums.get(tensor) ?? new TensorSums(tensor.dtype, memory);
        sums.set(tensor, its);
        its.add(piece.subarray(Math.max(0, tensor.from - begin), tensor.to - begin));
      }
      // The tensor continues in the next piece.
      if (tensor.to > begin + piece.length) return;
    }
  };
}

function measurementsOf(
  { header: { tensors }, pairs }: InspectedWeights,
  sums: ReadonlyMap<Tensor, TensorSums>,
): Measurements {
  const measures = pairs.map((parts) => pairMeasure(parts, sums));
  const nonFinite = [...sums].filter(([, { nans, infinities }]) => nans + infinities > 0);
  const paired = new Set(pairs.flatMap(({ a, b }) => [a, b]));
  const notMeasured = dtypeShares(tensors.filter(({ dtype }) => !isMeasured(dtype)));
  const total = (key: 'values' | 'nans' | 'infinities') =>
    [...sums.values()].reduce((sum, one) => sum + one[key], 0);
  return {
    pairs: measures,
    values: total('values'),
    nans: total('nans'),
    infinities: total('infinities'),
    nonFinite: nonFinite.slice(0, MAX_NAMES).map(([{ name }]) => printable(name)),
    hasNoEffect:
      notMeasured.length === 0 &&
      measures.every(({ isZero }) => isZero) &&
      ![...sums].some(([tensor, { squares }]) => squares !== 0 && !paired.has(tensor)),
    notMeasured,
  };
}

function pairMeasure(parts: ModuleTensors, sums: ReadonlyMap<Tensor, TensorSums>): PairMeasure {
  const [a, b] = [parts.a && sums.get(parts.a), parts.b && sums.get(parts.b)];
  // For embeddings, PEFT starts training with A as zeros instead of B.
  const squares = (parts.isEmbedding ? a : b)?.squares ?? NaN;
  return {
    path: printable(parts.path),
    ...(Number.isFinite(squares) ? { norm: Math.sqrt(squares) } : {}),
    isZero: a?.squares === 0 || b?.squares === 0,
    nonFinite: [a, b].reduce((sum, one) => sum + (one?.nans ?? 0) + (one?.infinities ?? 0), 0),
  };
}

/** Lookup tables from the bit patterns of a 16-bit type to their values. */
const BF16 = new Float32Array(Uint32Array.from({ length: 2 ** 16 }, (_, bits) => bits << 16).buffer);
const F16 = Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
  const sign = bits < 0x8000 ? 1 : -1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
});

function isMeasured(dtype: string): boolean {
  return dtype === 'F32' || dtype === 'F16' || dtype === 'BF16';
}

/** Sums up the values of one tensor. Its little-endian bytes may arrive in pieces of any length. */
class TensorSums {
  values = 0;
  nans = 0;
  infinities = 0;
  /** Not finite if any value isn't. 0 only if all are: even the smallest 32-bit value has a 64-bit square. */
  squares = 0;
  readonly #table: Float32Array | undefined;
  /** Aligned, unlike the pieces. The bytes of a value that continues in the next piece stay at the start. */
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #filled = 0;

  /** @param bytes working memory, which consecutive tensors can share */
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
