import { CancelledError } from '../base/errors.ts';
import { runThread } from '../base/thread.ts';
import type { AdapterConfig } from './peftConfig.ts';
import { NotAnAdapterError, type AdapterProblem, type InspectionVerdict } from './problems.ts';
import type { NameRow } from './tensorNames.ts';

export type { AdapterConfig } from './peftConfig.ts';
export type { AdapterProblem } from './problems.ts';

/** Detected from the bytes, regardless of the name. */
export type Container = 'zip' | 'tar' | 'tar.gz' | 'safetensors' | 'folder';

/** A file of the archive or folder. */
export interface AdapterEntry {
  /** With `/`, made printable. */
  name: string;
  sizeBytes: number;
  kind: 'config' | 'weights' | 'pickle' | 'archive' | 'other';
}

/** The A and B matrices of an adapted module. */
export interface LoraPair {
  /** Full name of the module, such as `model.layers.0.self_attn.q_proj`, without PEFT's prefix. */
  path: string;
  /** Undefined outside of layers (`lm_head`). */
  layer?: number;
  /** Last part of the name: `q_proj`. With experts it is `experts.*.up_proj` and the like. */
  module: string;
  /** Read from the tensor shapes. */
  rank: number;
  /** From the config and `alpha_pattern`; undefined if unknown. */
  alpha?: number;
  /** By the config: alpha / rank, or alpha / √rank with rsLoRA. Undefined if unknown. */
  scale?: number;
  hasMagnitude: boolean;
}

export interface DtypeShare {
  /** As the format names it: `F32`, `BF16`. */
  dtype: string;
  tensors: number;
}

/** Summary of the safetensors headers. */
export interface WeightsReport {
  parameters: number;
  /** The most frequent first. */
  dtypes: readonly DtypeShare[];
  /** By layer, then in file order. */
  pairs: readonly LoraPair[];
  /** Layers that have a pair, ascending. */
  layers: readonly number[];
  /** Names of modules (`LoraPair.module`) in their order. */
  modules: readonly string[];
  /** Smallest and largest rank of the pairs; 0 without pairs. */
  minRank: number;
  maxRank: number;
  /** Fully saved modules (`modules_to_save`), as found in the tensors. */
  savedModules: readonly string[];
  /** Rows of the fully saved embeddings, if any. The base model must have as many tokens. */
  embeddingRows?: number;
  hasBias: boolean;
}

/** Result of inspecting an adapter's config and headers. */
export interface AdapterReport {
  /** The path of the file or folder, as passed in. */
  file: string;
  verdict: InspectionVerdict;
  /** Undefined if it is none of these. */
  container?: Container;
  /** Size of the file, or of all files in the folder. */
  sizeBytes: number;
  /** At most 200, config and weights first. */
  entries: readonly AdapterEntry[];
  entryCount: number;
  /** The folder of the adapter in the archive, with `/`; '' at its top. */
  root: string;
  /** Digest of the config and the start of the weights; distinguishes adapters with equal file sizes. */
  sample?: string;
  /** Made by the sandbox, which trains nothing. */
  isFromSandbox?: boolean;
  config?: AdapterConfig;
  weights?: WeightsReport;
  /** Rows that mend the names of the tensors; undefined if none can, or if they are right. */
  renames?: readonly NameRow[];
  /** Folders of other checkpoints, the newest first. */
  checkpoints?: readonly string[];
  /** Whether this adapter is one, too. */
  isCheckpoint?: boolean;
  /** Errors first. */
  problems: readonly AdapterProblem[];
}

/** Result of one pass over all values. */
export interface Measurements {
  /** Number of pairs where A or B is all zero, so that they change nothing. */
  zeroPairs: number;
  /** Number of values read in all tensors of measured types. */
  values: number;
  nans: number;
  infinities: number;
  /** At most 10 names of tensors with NaN or infinite values. */
  nonFinite: readonly string[];
  /** Every pair's A or B is all zero, and so is every other tensor: nothing was learned. */
  hasNoEffect: boolean;
  notMeasured: readonly DtypeShare[];
}

export interface Progress {
  doneBytes: number;
  totalBytes: number;
}

/** Enough to unpack the largest archives. No file may keep a processor busy forever. */
const INSPECTION_MS = 10 * 60_000;
/** Enough for the longest headers. */
const LIMITS = { maxOldGenerationSizeMb: 1024 } as const;

/** Tasks of the worker thread: reading an adapter's headers, or every value once. */
export interface Tasks {
  inspect: AdapterReport;
  measure: Measurements;
}

export interface WorkerOptions {
  /** The script of the worker thread: `worker.ts`. */
  worker: string;
  signal?: AbortSignal | undefined;
  /** Called for each piece that was measured. */
  onProgress?: (progress: Progress) => void;
  /** Milliseconds that an inspection may take. Measuring has no limit: the user sees it and can cancel it. */
  limitMs?: number;
}

/**
 * Runs a task in a worker thread, since a header may have a hundred megabytes. For pages and agents.
 * @throws NotAnAdapterError from `measure`; CancelledError on an abort; an error if inspecting takes too long
 */
export async function runInWorker<T extends keyof Tasks>(
  task: T,
  file: string,
  { worker, signal, onProgress, limitMs = INSPECTION_MS }: WorkerOptions,
): Promise<Tasks[T]> {
  const errorOf = (verdict: InspectionVerdict) => new NotAnAdapterError(verdict);
  const limit = task === 'inspect' ? AbortSignal.timeout(limitMs) : undefined;
  const ends = AbortSignal.any([signal, limit].filter((one) => one !== undefined));
  try {
    return await runThread(worker, { task, file }, { limits: LIMITS, errorOf, signal: ends, onProgress });
  } catch (error) {
    const isLate = error instanceof CancelledError && signal?.aborted !== true;
    throw isLate ? new Error('the inspection took too long') : error;
  }
}
