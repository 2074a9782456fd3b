import type { Archive } from './archive/bytes.ts';
import { openArchive } from './archive/openArchive.ts';
import { inspect, type Inspection } from './inspect.ts';
import { BrokenArchiveError, NotAnAdapterError, printable } from './problems.ts';
import type { Measurements, Progress } from './report.ts';
import type { SafetensorsHeader, Tensor } from './safetensors.ts';
import { dtypeShares } from './tensors.ts';

const MAX_NAMES = 10;
/** Bytes of values counted per batch. */
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
    const counts = await countsOf(archive, weights, onProgress);
    return measurementsOf(weights, counts);
  } finally {
    await archive.close();
  }
}

/** Counts the values of each tensor of a measured type. */
async function countsOf(
  archive: Archive,
  { name, header }: InspectedWeights,
  onProgress: (progress: Progress) => void,
): Promise<Map<Tensor, TensorCounts>> {
  const counts = new Map<Tensor, TensorCounts>();
  const add = adder(header, counts);
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
  return counts;
}

/** Returns a function that adds the pieces of a file, in order, to the counts of their tensors. */
function adder(header: SafetensorsHeader, counts: Map<Tensor, TensorCounts>): (piece: Buffer) => void {
  const memory = new Uint8Array(BATCH_BYTES);
  let at = 0;
  let index = 0;
  return (piece) => {
    const begin = at - header.dataAt;
    at += piece.length;
    for (; index < header.tensors.length; index++) {
      const tensor = header.tensors[index];
      if (tensor === undefined || begin + piece.length < tensor.from) return;
      const infinity = INFINITY_BITS[tensor.dtype];
      if (infinity !== undefined) {
        const its = counts.get(tensor) ?? new TensorCounts(infinity, memory);
        counts.set(tensor, its);
        its.add(piece.subarray(Math.max(0, tensor.from - begin), tensor.to - begin));
      }
      // The tensor continues in the next piece.
      if (tensor.to > begin + piece.length) return;
    }
  };
}

function measurementsOf(
  { header: { tensors }, pairs }: InspectedWeights,
  counts: ReadonlyMap<Tensor, TensorCounts>,
): Measurements {
  const all = [...counts];
  const nonFinite = all.filter(([, { nans, infinities }]) => nans + infinities > 0);
  const isZero = (tensor: Tensor | undefined) => tensor !== undefined && counts.get(tensor)?.isZero === true;
  const zeroPairs = pairs.filter(({ a, b }) => isZero(a) || isZero(b)).length;
  const paired = new Set(pairs.flatMap(({ a, b }) => [a, b]));
  const notMeasured = dtypeShares(tensors.filter(({ dtype }) => !(dtype in INFINITY_BITS)));
  const total = (key: 'values' | 'nans' | 'infinities') => all.reduce((sum, [, one]) => sum + one[key], 0);
  return {
    zeroPairs,
    values: total('values'),
    nans: total('nans'),
    infinities: total('infinities'),
    nonFinite: nonFinite.slice(0, MAX_NAMES).map(([{ name }]) => printable(name)),
    hasNoEffect:
      notMeasured.length === 0 &&
      zeroPairs === pairs.length &&
      all.every(([tensor, one]) => one.isZero || paired.has(tensor)),
    notMeasured,
  };
}

/** Bits of infinity in each measured type. Without the sign, NaN has greater bits and a number smaller ones. */
const INFINITY_BITS: Readonly<Record<string, number>> = { F32: 0x7f80_0000, F16: 0x7c00, BF16: 0x7f80 };

/** Counts the values of one tensor. Its little-endian bytes may arrive in pieces of any length. */
class TensorCounts {
  values = 0;
  nans = 0;
  infinities = 0;
  isZero = true;
  readonly #infinity: number;
  readonly #words: Uint32Array | Uint16Array;
  /** Aligned, unlike the pieces. The bytes of a value that continues in the next piece stay at the start. */
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #filled = 0;

  /** @param bytes working memory, which consecutive tensors can share */
  constructor(infinity: number, bytes: Uint8Array<ArrayBuffer>) {
    this.#infinity = infinity;
    this.#bytes = bytes;
    this.#words = infinity > 0xffff ? new Uint32Array(bytes.buffer) : new Uint16Array(bytes.buffer);
  }

  add(piece: Uint8Array): void {
    const width = this.#words.BYTES_PER_ELEMENT;
    for (let from = 0; from < piece.length;) {
      const part = piece.subarray(from, from + this.#bytes.length - this.#filled);
      this.#bytes.set(part, this.#filled);
      from += part.length;
      const end = this.#filled + part.length;
      this.#filled = end % width;
      this.#count((end - this.#filled) / width);
      this.#bytes.copyWithin(0, end - this.#filled, end);
    }
  }

  #count(length: number): void {
    const [words, infinity] = [this.#words, this.#infinity];
    const withoutSign = infinity > 0xffff ? 0x7fff_ffff : 0x7fff;
    let seen = 0;
    for (let index = 0; index < length; index++) {
      const bits = (words[index] ?? 0) & withoutSign;
      seen |= bits;
      if (bits > infinity) this.nans++;
      else if (bits === infinity) this.infinities++;
    }
    if (seen !== 0) this.isZero = false;
    this.values += length;
  }
}
