export type { MatrixMeasure, Measurements, PairMeasure, Progress } from './measure/measurements.ts';
export type { BlockPurpose, Recipe, RecipeBlock, RecipePlace, Tool, TrapCode } from './recipe/recipe.ts';

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

/** What a file is, in one word. Everything but `adapter` means that nothing more could be told than this. */
export type VerdictCode =
  /** Weights of an adapter that could be read; there may be problems all the same. */
  | 'adapter'
  /** Neither ZIP, tar, gzip nor safetensors. */
  | 'not-an-archive'
  /** Nothing in it. */
  | 'empty'
  /** Cut or changed; `fault` says what. */
  | 'broken'
  | 'encrypted'
  /** Crafted to harm; `fault` and `entry` say how. Nothing of it was unpacked. */
  | 'unsafe'
  /** A way of packing that is not read (`method`); `entry`. */
  | 'unsupported'
  /** Readable, but no adapter in it. */
  | 'no-adapter'
  /** The weights of a whole model, not of an adapter. */
  | 'full-model'
  /** The weights are only there as pickle files (`.bin`, `.pt`, `.pkl`), which can run code: named, never opened. */
  | 'pickle-only'
  /** Beyond a cap; `fault` says which. */
  | 'too-big'
  /** The file system did not let it be read. */
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

/** What `adapter_config.json` says, as far as its types are right. */
export interface AdapterConfig {
  /** `peft_type` as it stands, such as `LORA`. */
  peftType?: string;
  taskType?: string;
  /** `base_model_name_or_path`. */
  baseModel?: string;
  revision?: string;
  /** `r`. */
  rank?: number;
  /** `lora_alpha`. */
  alpha?: number;
  dropout?: number;
  /** Module name or pattern → rank. */
  rankPattern: Readonly<Record<string, number>>;
  alphaPattern: Readonly<Record<string, number>>;
  useRslora: boolean;
  useDora: boolean;
  fanInFanOut: boolean;
  /** `init_lora_weights`: how training began, such as `true`, `gaussian` or `pissa`. */
  init?: string;
  /** Works only from its `alora_invocation_tokens` on. */
  isAlora: boolean;
  /** `layer_replication`: layers of the base are repeated. */
  repeatsLayers: boolean;
  loraBias: boolean;
  /** A list of names or, as one string, a regular expression (or `all-linear`). */
  targetModules?: readonly string[] | string;
  excludeModules?: readonly string[] | string;
  /** Parameters, such as those of experts, that are adapted directly. */
  targetParameters: readonly string[];
  modulesToSave: readonly string[];
  layersToTransform?: readonly number[];
  /** `none`, `all` or `lora_only`. */
  bias: string;
  /** `peft_version`. */
  peftVersion?: string;
}

/** One adapted module: its A and its B. */
export interface LoraPair {
  /** Full name of the module, such as `model.layers.0.self_attn.q_proj`, without PEFT's prefix. */
  path: string;
  /** Number of the layer, undefined outside of layers (`lm_head`). */
  layer?: number;
  /** Last part of the name: `q_proj`. With experts it is `experts.3.up_proj` and the like. */
  module: string;
  /** Of the module's weight; undefined where A or B is missing. */
  inputs?: number;
  outputs?: number;
  /** As the shapes have it. */
  rank: number;
  /** By config and `alpha_pattern`; undefined where the config does not tell. */
  alpha?: number;
  /** alpha / rank, or alpha / √rank with rsLoRA. */
  scale?: number;
  dtype: string;
  parameters: number;
  hasA: boolean;
  hasB: boolean;
  /** The module is an embedding (`lora_embedding_A`). */
  isEmbedding: boolean;
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
  /** Names of the files, one as a rule. */
  files: readonly string[];
  /** Of their tensors' data. */
  sizeBytes: number;
  tensors: number;
  parameters: number;
  /** The largest first. */
  dtypes: readonly DtypeShare[];
  /** In the order of layers, then modules as they come. */
  pairs: readonly LoraPair[];
  /** Layers that have a pair, ascending. */
  layers: readonly number[];
  /** Names of modules (`LoraPair.module`) in their order. */
  modules: readonly string[];
  /** Smallest and largest rank of the pairs; 0 without pairs. */
  minRank: number;
  maxRank: number;
  /** Modules that are stored whole (`modules_to_save`), as far as seen in the tensors. */
  savedModules: readonly string[];
  touchesEmbeddings: boolean;
  touchesLmHead: boolean;
  /** How many labels the head of a classifier has that is stored whole. */
  labels?: number;
  /** Whether biases are among the tensors. */
  hasBias: boolean;
  /** `__metadata__`, cut to 50 entries of 200 characters. */
  metadata: Readonly<Record<string, string>>;
}

export type ProblemCode =
  | 'config-missing'
  | 'config-too-large'
  | 'config-not-json'
  /** It begins with a byte order mark, at which PEFT's reader raises. */
  | 'config-bom'
  /** `examples` are the keys whose values are of a wrong type. */
  | 'config-wrong-type'
  /** Several configs; the one beside the weights, or the outermost, was read. `examples`: the others. */
  | 'several-configs'
  /** Several weights files; all were read as one where they are numbered parts, else the first. `examples`: the others. */
  | 'several-weights'
  /** Tools look for `adapter_model.safetensors` alone. `examples`: what the weights are called here. */
  | 'weights-name'
  | 'peft-type-missing'
  /** `actual` is the kind, such as `IA3`. */
  | 'not-lora'
  | 'base-model-missing'
  /** The base model is a path of the machine that trained. `actual`. */
  | 'base-model-is-path'
  | 'rank-missing'
  | 'alpha-missing'
  /** alpha is 0: no effect. */
  | 'alpha-zero'
  | 'target-modules-missing'
  /** A without B, or B without A. `examples`: modules. */
  | 'partner-missing'
  /** A's and B's ranks differ. */
  | 'pair-mismatch'
  /** Tensors without `base_model.model.`, which PEFT reports as missing keys: the model stays as it is. */
  | 'prefix-missing'
  /** The inputs of a module are not as wide in each layer. `expected`, `actual` of the first. */
  | 'widths-differ'
  /** The rank of the shapes is not that of the config. `expected`, `actual` of the first. */
  | 'rank-mismatch'
  /** Adapted, though `target_modules` does not name it. */
  | 'module-not-targeted'
  /** Named in `target_modules`, and nowhere in the tensors. */
  | 'module-without-weights'
  /** Some layers lack modules that others have. `examples`: `layer 3: q_proj` as `3 q_proj`. */
  | 'layers-differ'
  /** In `modules_to_save`, and nowhere in the tensors. */
  | 'saved-module-missing'
  /** Stored whole, though `modules_to_save` does not name it. */
  | 'saved-module-unexpected'
  /** Tensors of which nothing is known. */
  | 'tensor-unexpected'
  /** The config says bias `none`, and there are some, or the other way round. */
  | 'bias-mismatch'
  /** DoRA by config without magnitudes, or the other way round. */
  | 'dora-mismatch'
  | 'uses-dora'
  | 'uses-rslora'
  /** Training began by changing the base's own weights. `actual` is the way, such as `pissa`. */
  | 'base-changed'
  /** `actual` is a way to begin of which it is not known whether it changes the base. */
  | 'init-unknown'
  | 'uses-alora'
  | 'repeats-layers'
  /** Whole modules are stored with it. `examples`. */
  | 'modules-to-save'
  | 'embeddings-touched'
  | 'lm-head-touched'
  /** Tensors of a dtype that is not measured and that few tools load. `examples`: the dtypes. */
  | 'dtype-unusual'
  | 'dtypes-mixed'
  /** Pickle files beside the weights, never opened. `examples`. */
  | 'pickle-present'
  /** Archives in the archive, not opened. `examples`. */
  | 'nested-archive';

/** Something to know about an adapter. One a code. */
export interface AdapterProblem {
  code: ProblemCode;
  /** `error`: tools will refuse it or load it wrongly. `warning`: some will. `info`: to know. */
  severity: 'error' | 'warning' | 'info';
  /** How many tensors, modules, keys or files it is about; at least 1. */
  count: number;
  /** At most 10 of their names, printable, at most 200 characters. */
  examples: readonly string[];
  expected?: string | number;
  actual?: string | number;
}

/** What can be told of an adapter from its headers. */
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
  /** The folder in the archive, with `/`, in which the adapter stands; '' at its top. */
  root: string;
  /** Digest of the config and of the beginning of the weights: it tells adapters apart whose files are of the same sizes. */
  sample?: string;
  config?: AdapterConfig;
  weights?: WeightsReport;
  /** Errors first. */
  problems: readonly AdapterProblem[];
}
