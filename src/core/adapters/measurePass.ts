import type { Archive } from './archive/archive.ts';
import { openArchive } from './archive/openArchive.ts';
import { BrokenArchiveError, NotAnAdapterError } from './faults.ts';
import { inspect, type Inspection } from './inspect.ts';
import { printable } from './printable.ts';
import type { AdapterReport, Measurements, PairMeasure, Progress } from './report.ts';
import type { SafetensorsHeader, Tensor } from './safetensors.ts';
import { dtypeShares, type Parts } from './tensors.ts';
import { isMeasured, TensorSums } from './tensorSums.ts';

const MAX_NAMES = 10;
/** Bytes of values that are summed at once. */
const BATCH_BYTES = 64 * 1024;

/** One pass over all values of an adapter. @throws NotAnAdapterError, BrokenArchiveError */
export async function measurePass(
  file: string,
  onProgress: (progress: Progress) => void,
): Promise<Measurements> {
  const { report, file: weights, pairs } = await inspect(file);
  if (weights === undefined) throw new NotAnAdapterError(report.verdict);
  const archive = await openArchive(file);
  try {
    const sums = await sumsOf(archive, weights, onProgress);
    return measurementsOf(report, weights.header.tensors, pairs, sums);
  } finally {
    await archive.close();
  }
}

/** Sums up each tensor of a type that is measured. */
async function sumsOf(
  archive: Archive,
  { name, header }: NonNullable<Inspection['file']>,
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

/** Takes the pieces of a file, and hands each tensor its bytes. */
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
      // It continues in the next piece.
      if (tensor.to > begin + piece.length) return;
    }
  };
}

function measurementsOf(
  { weights }: AdapterReport,
  tensors: readonly Tensor[],
  pairs: readonly Parts[],
  sums: ReadonlyMap<Tensor, TensorSums>,
): Measurements {
  const measures = (weights?.pairs ?? []).map(({ path }, index) => pairMeasure(path, pairs[index], sums));
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

function pairMeasure(
  path: string,
  parts: Parts | undefined,
  sums: ReadonlyMap<Tensor, TensorSums>,
): PairMeasure {
  const [a, b] = [parts?.a && sums.get(parts.a), parts?.b && sums.get(parts.b)];
  // PEFT starts training with an A of zeros for embeddings.
  const squares = (parts?.isEmbedding === true ? a : b)?.squares ?? NaN;
  return {
    path,
    ...(Number.isFinite(squares) ? { norm: Math.sqrt(squares) } : {}),
    isZero: a?.squares === 0 || b?.squares === 0,
    nonFinite: [a, b].reduce((sum, one) => sum + (one?.nans ?? 0) + (one?.infinities ?? 0), 0),
  };
}
