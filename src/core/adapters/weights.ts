import type { Breath } from '../base/breath.ts';
import type { Sorted } from './pairs.ts';
import { printable } from './printable.ts';
import type { DtypeShare, LoraPair, WeightsReport } from './report.ts';
import type { SafetensorsHeader, Tensor } from './safetensors.ts';
import { isEmbeddings, isLmHead } from './tensorName.ts';

const MAX_METADATA = 50;

/** A safetensors file of an archive. */
export interface WeightsFile {
  name: string;
  header: SafetensorsHeader;
}

/** Puts together what the headers say. @throws CancelledError */
export async function weightsReport(
  files: readonly WeightsFile[],
  { saved, biases }: Sorted,
  pairs: readonly LoraPair[],
  breath: Breath,
): Promise<WeightsReport> {
  const dtypes = new DtypeShares();
  for (const tensor of files.flatMap(({ header }) => header.tensors)) {
    if (breath.isDue) await breath.take();
    dtypes.add(tensor);
  }
  const layers = new Set<number>();
  const modules = new Set<string>();
  const labels = labelsOf(saved);
  const savedModules = [...new Set(saved.map(({ path }) => path))];
  let [minRank, maxRank] = [pairs[0]?.rank ?? 0, 0];
  let touchesEmbeddings = savedModules.some(isEmbeddings);
  let touchesLmHead = savedModules.some(isLmHead);
  for (const { layer, module, rank, path, isEmbedding } of pairs) {
    if (breath.isDue) await breath.take();
    if (layer !== undefined) layers.add(layer);
    modules.add(module);
    minRank = Math.min(minRank, rank);
    maxRank = Math.max(maxRank, rank);
    touchesEmbeddings ||= isEmbedding || isEmbeddings(path);
    touchesLmHead ||= isLmHead(path);
  }
  const shares = dtypes.list();
  const metadata = files.flatMap(({ header }) => [...header.metadata]).slice(0, MAX_METADATA);
  return {
    files: files.map(({ name }) => name),
    sizeBytes: shares.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    tensors: shares.reduce((sum, { tensors }) => sum + tensors, 0),
    parameters: shares.reduce((sum, { parameters }) => sum + parameters, 0),
    dtypes: shares,
    pairs,
    layers: [...layers].sort((a, b) => a - b),
    modules: [...modules],
    minRank,
    maxRank,
    savedModules: savedModules.map(printable),
    touchesEmbeddings,
    touchesLmHead,
    ...(labels === undefined ? {} : { labels }),
    hasBias: biases.length > 0,
    metadata: Object.fromEntries(metadata.map(([key, value]) => [printable(key), printable(value)])),
  };
}

/** A classifier's head, as Transformers calls it, has a row for each label. */
function labelsOf(saved: Sorted['saved']): number | undefined {
  return saved.find(({ path }) => /^(?:score|classifier|classifier\.out_proj)$/.test(path))?.tensor.shape[0];
}

/** Sums tensors up by their dtypes. */
export class DtypeShares {
  readonly #shares = new Map<string, DtypeShare>();

  add({ dtype, parameters, from, to }: Tensor): void {
    let share = this.#shares.get(dtype);
    if (share === undefined) {
      share = { dtype, tensors: 0, parameters: 0, sizeBytes: 0 };
      this.#shares.set(dtype, share);
    }
    share.tensors++;
    share.parameters += parameters;
    share.sizeBytes += to - from;
  }

  /** The largest first. */
  list(): DtypeShare[] {
    return [...this.#shares.values()].sort((a, b) => b.sizeBytes - a.sizeBytes);
  }
}
