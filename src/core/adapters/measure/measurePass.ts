import type { Archive } from '../archive/archive.ts';
import { openArchive } from '../archive/openArchive.ts';
import { BrokenArchiveError, NotAnAdapterError } from '../faults.ts';
import { inspect, type Inspection } from '../inspect.ts';
import { printable } from '../printable.ts';
import type { Measurements, PairMeasure, Progress } from '../report.ts';
import type { Tensor } from '../safetensors.ts';
import { dtypeShares, type Parts, type WeightsFile } from '../tensors.ts';
import { isMeasured, SquareSum } from './squareSum.ts';

const MAX_NAMES = 10;
/** Bytes of values that are summed at once. */
const BATCH_BYTES = 64 * 1024;

/** One pass over all values of an adapter. @throws NotAnAdapterError, BrokenArchiveError */
export async function measurePass(
  file: string,
  onProgress: (progress: Progress) => void,
): Promise<Measurements> {
  const inspection = await inspect(file);
  const { report, file: weights } = inspection;
  if (weights === undefined) throw new NotAnAdapterError(report.verdict);
  const archive = await openArchive(file);
  try {
    return measurementsOf(inspection, weights, await sumsOf(archive, weights, onProgress));
  } finally {
    await archive.close();
  }
}

/** Sums up each tensor of a type that is measured. */
async function sumsOf(
  archive: Archive,
  weights: WeightsFile,
  onProgress: (progress: Progress) => void,
): Promise<Map<Tensor, SquareSum>> {
  const { name, header } = weights;
  const sums = new Map<Tensor, SquareSum>();
  const add = adder(weights, sums);
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
function adder({ header }: WeightsFile, sums: Map<Tensor, SquareSum>): (piece: Buffer) => void {
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
        const its = sums.get(tensor) ?? new SquareSum(tensor.dtype, memory);
        sums.set(tensor, its);
        its.add(piece.subarray(Math.max(0, tensor.from - begin), tensor.to - begin));
      }
      // It continues in the next piece.
      if (tensor.to > begin + piece.length) return;
    }
  };
}

function measurementsOf(
  { report, pairs }: Inspection,
  { header }: WeightsFile,
  sums: ReadonlyMap<Tensor, SquareSum>,
): Measurements {
  const measures = (report.weights?.pairs ?? []).map(({ path }, index) =>
    pairMeasure(path, pairs[index], sums),
  );
  const paired = new Set(pairs.flatMap(({ a, b }) => [a, b]));
  const notMeasured = dtypeShares(header.tensors.filter(({ dtype }) => !isMeasured(dtype)));
  return {
    pairs: measures,
    broken: [...sums]
      .filter(([, { value }]) => !Number.isFinite(value))
      .slice(0, MAX_NAMES)
      .map(([{ name }]) => printable(name)),
    hasNoEffect:
      notMeasured.length === 0 &&
      measures.every(({ isZero }) => isZero) &&
      ![...sums].some(([tensor, { value }]) => value !== 0 && !paired.has(tensor)),
    notMeasured,
  };
}

function pairMeasure(
  path: string,
  parts: Parts | undefined,
  sums: ReadonlyMap<Tensor, SquareSum>,
): PairMeasure {
  const [a, b] = [parts?.a, parts?.b].map((tensor) => tensor && sums.get(tensor)?.value);
  // PEFT starts training with an A of zeros for embeddings.
  const squares = (parts?.isEmbedding === true ? a : b) ?? NaN;
  return {
    path,
    ...(Number.isFinite(squares) ? { norm: Math.sqrt(squares) } : {}),
    isZero: a === 0 || b === 0,
    isBroken: [a, b].some((sum) => sum !== undefined && !Number.isFinite(sum)),
  };
}
