import type { AdapterConfig } from './peftConfig.ts';
import type { AdapterProblem, Verdict } from './problems.ts';

/** What the bytes are, whatever the name says. */
export type Container = 'zip' | 'tar' | 'tar.gz' | 'safetensors' | 'folder';

/** A file of the archive or folder. */
export interface AdapterEntry {
  /** With `/`, made printable. */
  name: string;
  sizeBytes: number;
  kind: 'config' | 'weights' | 'pickle' | 'archive' | 'other';
}

/** One adapted module: its A and its B. */
export interface LoraPair {
  /** Full name of the module, such as `model.layers.0.self_attn.q_proj`, without PEFT's prefix. */
  path: string;
  /** Undefined outside of layers (`lm_head`). */
  layer?: number;
  /** Last part of the name: `q_proj`. With experts it is `experts.*.up_proj` and the like. */
  module: string;
  /** That of the shapes. */
  rank: number;
  /** By config and `alpha_pattern`; undefined where it is unknown. */
  alpha?: number;
  /** By the config alpha / rank, or alpha / √rank with rsLoRA; undefined where it is unknown. */
  scale?: number;
  parameters: number;
  /** It lacks its A or its B. */
  isHalf: boolean;
  hasMagnitude: boolean;
}

export interface DtypeShare {
  /** As the format names it: `F32`, `BF16`. */
  dtype: string;
  tensors: number;
}

/** What the safetensors headers say. */
export interface WeightsReport {
  parameters: number;
  /** The most frequent first. */
  dtypes: readonly DtypeShare[];
  /** Layer by layer, then modules as they come. */
  pairs: readonly LoraPair[];
  /** Layers that have a pair, ascending. */
  layers: readonly number[];
  /** Names of modules (`LoraPair.module`) in their order. */
  modules: readonly string[];
  /** Smallest and largest rank of the pairs; 0 without pairs. */
  minRank: number;
  maxRank: number;
  /** Fully saved modules (`modules_to_save`) by the tensors. */
  savedModules: readonly string[];
  /** Whether biases are among the tensors. */
  hasBias: boolean;
}

/** What the headers of an adapter say. */
export interface AdapterReport {
  /** The file or folder, as it was given. */
  file: string;
  verdict: Verdict;
  /** Undefined where it is none. */
  container?: Container;
  /** Of the file; of a folder, its files together. */
  sizeBytes: number;
  /** At most 200, config and weights first. */
  entries: readonly AdapterEntry[];
  entryCount: number;
  /** The folder of the adapter in the archive, with `/`; '' at its top. */
  root: string;
  /** Digest of the config and of the beginning of the weights: it differs for adapters whose files have the same sizes. */
  sample?: string;
  config?: AdapterConfig;
  weights?: WeightsReport;
  /** Errors first. */
  problems: readonly AdapterProblem[];
}

/** What the values of one pair are like. */
export interface PairMeasure {
  /** As `LoraPair.path`. */
  path: string;
  /** Frobenius norm of B, which starts training at zero (of an embedding: of A); undefined where it is unknown or not finite. */
  norm?: number;
  /** A or B is all zero, so the pair changes nothing. */
  isZero: boolean;
  /** How many values are NaN or infinite. */
  nonFinite: number;
}

/** What one pass over all values finds. */
export interface Measurements {
  /** In the order of `WeightsReport.pairs`. */
  pairs: readonly PairMeasure[];
  /** Values read, in all tensors of a type that is measured. */
  values: number;
  nans: number;
  infinities: number;
  /** At most 10 names of tensors with such values. */
  nonFinite: readonly string[];
  /** Every pair's A or B is all zero, and nothing else is saved: nothing was learned. */
  hasNoEffect: boolean;
  /** Types that were not measured. */
  notMeasured: readonly DtypeShare[];
}

/** Progress of a pass over the bytes. */
export interface Progress {
  doneBytes: number;
  totalBytes: number;
}
