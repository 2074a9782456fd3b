import { baseKindOf } from './baseKinds.ts';
import { isPath } from './fit.ts';
import { baseChangeOf, type AdapterConfig } from './peftConfig.ts';
import { wslPath } from './quoting.ts';
import type { AdapterReport, LoraPair } from './report.ts';

/** Tasks (huggingface/peft src/peft/auto.py) and their classes (huggingface/transformers docs model_doc/auto.md). */
const CLASSES: Readonly<Record<string, string>> = {
  CAUSAL_LM: 'AutoModelForCausalLM',
  SEQ_2_SEQ_LM: 'AutoModelForSeq2SeqLM',
  SEQ_CLS: 'AutoModelForSequenceClassification',
  TOKEN_CLS: 'AutoModelForTokenClassification',
  QUESTION_ANS: 'AutoModelForQuestionAnswering',
  FEATURE_EXTRACTION: 'AutoModel',
};

const BASE_MODEL = 'BASE_MODEL';
/** Stands for the original of a quantized base model. */
const BASE_MODEL_16BIT = 'BASE_MODEL_16BIT';
/** Stands for the revision of the base model where its name is hidden. */
const BASE_REVISION = 'BASE_REVISION';
const USERNAME = 'USERNAME';
/** Stands for a system message that is hidden or too long for a command. */
export const SYSTEM_MESSAGE = 'SYSTEM_MESSAGE';
const MAX_SYSTEM_UNITS = 2_000;
/** `MaxLoRARanks` in vllm/config/lora.py, without 1 (not in all versions), and the default of `max_lora_rank`. */
const VLLM_RANKS: readonly number[] = [8, 16, 32, 64, 128, 256, 320, 512];
export const VLLM_DEFAULT_RANK = 16;

/**
 * The system message of most conversations of the dataset, empty if its row is too long to be read. `unknown`: the dataset
 * has changed since it was submitted, or is gone.
 */
export type SystemMessage = { text: string } | 'unknown';

/** Where the unpacked adapter is, and the system that its commands are for. */
export interface AdapterOnDisk {
  /** Absolute path of the folder with `adapter_config.json`. */
  folder: string;
  /** As in `process.platform`: `win32` gets PowerShell commands, all others POSIX shell commands. */
  platform: string;
  /** Absolute path of the held-out rows, if known. */
  holdOut?: string | undefined;
  /** ID of the run that trained it. */
  run?: string | undefined;
  /** Undefined if there is none, or if the dataset isn't known. */
  system?: SystemMessage | undefined;
  /**
   * Whether placeholders hide the base model, its revision and the system message, and no run is named: agents get
   * strangers' texts only as data.
   */
  hidesTexts?: boolean;
}

/** The facts that rules and commands depend on. */
export type RecipeFacts = ReturnType<typeof factsOf>;

export function factsOf(
  { config, weights, problems, renames, verdict }: AdapterReport,
  { folder, platform, holdOut, run, system, hidesTexts = false }: AdapterOnDisk,
) {
  const { baseModel = '', revision = '', taskType = '' } = config ?? {};
  const isBaseKnown = isPlain(baseModel) && !isPath(baseModel);
  const isAssumed = !Object.hasOwn(CLASSES, taskType.toUpperCase());
  const task = isAssumed ? 'CAUSAL_LM' : taskType.toUpperCase();
  const kind = baseKindOf(baseModel, weights);
  const base = isBaseKnown && !hidesTexts ? baseModel : BASE_MODEL;
  const pairs = weights?.pairs ?? [];
  const errors = problems.filter(({ severity }) => severity === 'error').map(({ code }) => code);
  // vLLM checks all ranks in the config, even unused ones.
  const ranks = [weights?.maxRank ?? 0, config?.rank ?? 0, ...Object.values(config?.rankPattern ?? {})];
  const rank = ranks.reduce((most, one) => Math.max(most, one), 0);
  return {
    config,
    weights,
    pairs,
    folder,
    holdOut,
    run: run === undefined || hidesTexts || !isPlain(run) ? undefined : run,
    isWindows: platform === 'win32',
    task,
    /** The class that loads the base model (huggingface/transformers docs model_doc/auto.md). */
    loader:
      kind.isVision && task === 'CAUSAL_LM' ? 'AutoModelForImageTextToText' : (CLASSES[task] ?? 'AutoModel'),
    kind,
    /** Whether no tool loads the adapter as it is. */
    isRejected: errors.length > 0 || verdict.code !== 'adapter',
    /** What mends it, if names are all that is wrong. */
    renames: errors.every((code) => code === 'names-wrapped') ? renames : undefined,
    isMlx: verdict.detail === 'MLX',
    /** The model to merge into. */
    mergeBase:
      kind.quantizedBy === undefined
        ? base
        : ((hidesTexts || !isBaseKnown ? undefined : kind.original) ?? BASE_MODEL_16BIT),
    isInWsl: /^[\\/]/.test(folder) && wslPath(folder) !== folder.replaceAll('\\', '/'),
    /** Whether the config has no known task, so that text generation is assumed. */
    isAssumed,
    isBaseKnown,
    base,
    revision: !isBaseKnown || !isPlain(revision) ? undefined : hidesTexts ? BASE_REVISION : revision,
    isSystemUnknown: system === 'unknown',
    /** The system message to send, or its placeholder; undefined if there is none. */
    system: typeof system !== 'object' ? undefined : hidesTexts ? SYSTEM_MESSAGE : shortOf(system),
    /** PEFT refuses embeddings that have another number of rows than the base. */
    tokens: weights?.embeddingRows,
    change: config && baseChangeOf(config),
    replacesBase: problems.some(({ code }) => code === 'base-replaced'),
    correction: scaleCorrection(config, pairs),
    rank,
    /** The smallest sufficient value; undefined if there is none. */
    vllmRank: VLLM_RANKS.find((allowed) => allowed >= rank),
  };
}

/** Whether a name needs no quoting: not an option, and nothing special to a shell or Python. */
function isPlain(name: string): boolean {
  return /^\w[\w./-]*$/.test(name);
}

function shortOf({ text }: { text: string }): string {
  return text !== '' && text.length <= MAX_SYSTEM_UNITS ? text : SYSTEM_MESSAGE;
}

export function generatesText({ task }: { task: string }): boolean {
  return task === 'CAUSAL_LM';
}

/** Whether switching the adapter off in PEFT leaves the published base (peft tuners/lora/config.py, `bias`). */
export function leavesBase({ change, replacesBase, config, weights }: RecipeFacts): boolean {
  const trainsBias = weights?.hasBias === true && (config?.bias ?? 'none') !== 'none';
  return change === undefined && !replacesBase && config?.repeatsLayers !== true && !trainsBias;
}

export function canCompare(facts: RecipeFacts): boolean {
  return generatesText(facts) && leavesBase(facts);
}

export function isChangedByPeft({ change }: Pick<RecipeFacts, 'change'>): boolean {
  return change === 'repeated' || change === 'quantized';
}

/** Returns a name for the adapter, derived from its folder. */
export function adapterNameOf(folder: string): string {
  const text = folder.split(/[\\/]/).findLast((part) => part !== '') ?? '';
  const plain = text
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|(?<![^A-Za-z0-9])[^A-Za-z0-9]+$/g, '');
  return plain === '' ? 'adapter' : plain.slice(0, 64);
}

/** Returns the name of its repository on the Hub (huggingface/huggingface_hub src/huggingface_hub/utils/_validators.py). */
export function repositoryOf(folder: string): string {
  const name = adapterNameOf(folder)
    .replace(/([.-])[.-]+/g, '$1')
    .replaceAll(/\.git(?=\.|$)/g, '');
  return `${USERNAME}/${name.replace(/[.-]$/, '')}`;
}

/**
 * Returns the factor for a tool that scales every module by one alpha / rank. It isn't 1 with rsLoRA
 * (alpha / √rank) or with another alpha (`alpha_pattern`); 'none' if no single factor fits all modules.
 */
function scaleCorrection(config: AdapterConfig | undefined, pairs: readonly LoraPair[]): number | 'none' {
  if (config?.alpha === undefined) return 1;
  const common = config.alpha;
  // The tool treats 0 as missing, so there is nothing to multiply.
  if (common === 0) return pairs.every(({ alpha }) => alpha === 0) ? 1 : 'none';
  const corrections = new Set(
    pairs.map(({ alpha = NaN, rank }) =>
      Number(((alpha / common) * (config.useRslora ? Math.sqrt(Math.max(rank, 1)) : 1)).toFixed(6)),
    ),
  );
  const [only = 1] = corrections;
  return corrections.size > 1 || Number.isNaN(only) ? 'none' : only;
}
