/** What the bytes are, whatever the name says. */
export type Container = 'zip' | 'tar' | 'tar.gz' | 'safetensors' | 'folder';

/** What is wrong with an archive, or with a safetensors file; in `Verdict.fault` and `BrokenArchiveError.code`. */
export type ArchiveFault =
  // Broken: not what the format demands.
  | 'truncated'
  | 'zip-no-end'
  | 'zip-directory'
  | 'zip-local-header'
  | 'zip-disagreement'
  | 'zip-crc'
  | 'zip-length'
  | 'gzip-data'
  | 'tar-header'
  | 'tar-checksum'
  | 'safetensors-header'
  | 'safetensors-offsets'
  | 'safetensors-length'
  | 'data-after-end'
  // Unsafe: made to harm, or as good as.
  | 'path-outside'
  | 'path-absolute'
  | 'path-odd'
  | 'link'
  | 'device'
  | 'duplicate'
  | 'case-collision'
  | 'overlap'
  | 'ratio'
  // Not read.
  | 'encrypted'
  | 'method'
  | 'too-many-entries'
  | 'too-large'
  | 'header-too-large';

/** What a file is. With any code but `adapter` nothing more of it could be read. */
export type VerdictCode =
  /** Weights of an adapter that could be read, with or without problems. */
  | 'adapter'
  /** Neither ZIP, tar, gzip nor safetensors. */
  | 'not-an-archive'
  | 'empty'
  /** Cut or changed; `fault` says how. */
  | 'broken'
  | 'encrypted'
  /** Crafted to harm; `fault` and `entry` say how. Nothing of it was unpacked. */
  | 'unsafe'
  /** Packed by a method that is not read; `entry`. */
  | 'unsupported'
  /** Readable, but without an adapter. */
  | 'no-adapter'
  /** The weights of a full model, not of an adapter. */
  | 'full-model'
  /** The weights are only there as pickle files (`.bin`, `.pt`, `.pkl`), which can run code: named, never opened. */
  | 'pickle-only'
  /** Beyond a limit; `fault` says which. */
  | 'too-big'
  /** The file system refused to read it. */
  | 'unreadable';

export interface Verdict {
  code: VerdictCode;
  fault?: ArchiveFault;
  /** The name of the entry it is about, as the archive has it, made printable and at most 200 characters. */
  entry?: string;
}

/** A file of the archive or folder. */
export interface AdapterEntry {
  /** With `/`, made printable. */
  name: string;
  sizeBytes: number;
  kind: 'config' | 'weights' | 'pickle' | 'archive' | 'other';
}

/** `adapter_config.json`, as far as its types are right. */
export interface AdapterConfig {
  /** As the config has it, such as `LORA`. */
  peftType: string | undefined;
  taskType: string | undefined;
  /** `base_model_name_or_path`. */
  baseModel: string | undefined;
  /** Of the base model. */
  revision: string | undefined;
  /** `r`. */
  rank: number | undefined;
  /** `lora_alpha`. */
  alpha: number | undefined;
  dropout: number | undefined;
  /** Module name or pattern → rank. */
  rankPattern: Readonly<Record<string, number>>;
  alphaPattern: Readonly<Record<string, number>>;
  useRslora: boolean;
  useDora: boolean;
  fanInFanOut: boolean;
  /** `init_lora_weights`: how training began, such as `true`, `gaussian` or `pissa`. */
  init: string | undefined;
  /** Acts only after its `alora_invocation_tokens`. */
  isAlora: boolean;
  /** `layer_replication`: layers of the base are repeated. */
  repeatsLayers: boolean;
  loraBias: boolean;
  /** A list of names or, as one string, a regular expression (or `all-linear`). */
  targetModules: readonly string[] | string | undefined;
  /** Parameters, such as those of experts, that are adapted directly. */
  targetParameters: readonly string[];
  modulesToSave: readonly string[];
  /** `none`, `all` or `lora_only`. */
  bias: string;
  peftVersion: string | undefined;
}

/** One adapted module: its A and its B. */
export interface LoraPair {
  /** Full name of the module, such as `model.layers.0.self_attn.q_proj`, without PEFT's prefix. */
  path: string;
  /** Undefined outside of layers (`lm_head`). */
  layer?: number;
  /** Last part of the name: `q_proj`. With experts it is `experts.3.up_proj` and the like. */
  module: string;
  /** Of the module's weight; undefined where A is missing. */
  inputs?: number;
  /** That of the shapes. */
  rank: number;
  /** By config and `alpha_pattern`; undefined where it is unknown. */
  alpha?: number;
  /** alpha / rank, or alpha / √rank with rsLoRA. */
  scale?: number;
  parameters: number;
  hasA: boolean;
  hasB: boolean;
  hasMagnitude: boolean;
}

export interface DtypeShare {
  /** As the format names it: `F32`, `BF16`. */
  dtype: string;
  tensors: number;
  parameters: number;
  sizeBytes: number;
}

/** What the safetensors headers say. */
export interface WeightsReport {
  parameters: number;
  /** The largest first. */
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
  /** How many labels the saved head of a classifier has. */
  labels?: number;
  /** Whether biases are among the tensors. */
  hasBias: boolean;
}

/** Each has a sentence in `ui/adapters/reportMessages.ts`. */
export type ProblemCode =
  // The config.
  | 'config-missing'
  | 'config-too-large'
  | 'config-not-json'
  /** It begins with a byte order mark, which PEFT's reader refuses. */
  | 'config-bom'
  /** `examples` are the keys whose values are of a wrong type. */
  | 'config-wrong-type'
  | 'peft-type-missing'
  | 'not-lora'
  | 'base-model-missing'
  | 'base-model-is-path'
  | 'rank-missing'
  | 'alpha-missing'
  | 'alpha-zero'
  | 'target-modules-missing'
  | 'base-changed'
  | 'init-unknown'
  | 'uses-alora'
  | 'uses-dora'
  | 'uses-rslora'
  | 'repeats-layers'
  // The tensors.
  | 'partner-missing'
  | 'pair-mismatch'
  /** Without `base_model.model.`, PEFT reports tensors as missing keys: the model stays as it is. */
  | 'prefix-missing'
  | 'widths-differ'
  /** `examples`: `layer 3: q_proj` as `3 q_proj`. */
  | 'layers-differ'
  | 'tensor-unexpected'
  | 'dtype-unusual'
  | 'dtypes-mixed'
  | 'modules-to-save'
  | 'embeddings-touched'
  | 'lm-head-touched'
  // Both do not fit each other.
  | 'rank-mismatch'
  | 'module-not-targeted'
  | 'module-without-weights'
  | 'saved-module-missing'
  | 'saved-module-unexpected'
  | 'bias-mismatch'
  | 'dora-mismatch'
  // The files.
  /** All weights were read as one where they are numbered parts, else the first; of configs the one beside them. */
  | 'several-weights'
  | 'several-configs'
  | 'weights-name'
  | 'pickle-present'
  | 'nested-archive';

/** Something to know about an adapter; one for each code. */
export interface AdapterProblem {
  code: ProblemCode;
  /** `error`: tools will refuse it or load it wrongly. `warning`: some will. `info`: good to know. */
  severity: 'error' | 'warning' | 'info';
  /** How many tensors, modules, keys or files it is about; at least 1. */
  count: number;
  /** At most 10 of their names, printable, at most 200 characters. */
  examples: readonly string[];
  expected?: string | number;
  actual?: string | number;
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
