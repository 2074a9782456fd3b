import { isObject } from '../base/json.ts';
import { printable, type Problems } from './problems.ts';

/** Limits the keys of a pattern and the names in a list. */
const MAX_NAMES = 10_000;
const BOM = '\ufeff';
/** Fields by the first PEFT 0.x that knows them (huggingface/peft, history of src/peft/tuners/lora/config.py). Older ones refuse them. */
const FIELDS_OF_VERSION: Readonly<Record<number, readonly string[]>> = {
  6: ['rank_pattern', 'alpha_pattern'],
  7: ['loftq_config', 'megatron_config', 'megatron_core'],
  8: ['use_rslora'],
  9: ['use_dora'],
  10: ['layer_replication'],
  14: ['exclude_modules', 'eva_config', 'lora_bias'],
  15: ['corda_config', 'trainable_token_indices'],
  16: ['use_qalora', 'qalora_group_size'],
  17: ['target_parameters'],
  18: ['alora_invocation_tokens', 'arrow_config', 'ensure_weight_tying'],
  19: ['use_bdlora', 'lora_ga_config'],
  20: ['velora_config', 'monteclora_config'],
  21: ['kasa_config'],
};
/** Fields that only MLX writes. */
const MLX_FIELDS: readonly string[] = ['lora_parameters', 'fine_tune_type', 'lora_layers'];

/** The values of `adapter_config.json` that have the right types. */
export type AdapterConfig = Readonly<NonNullable<ReturnType<typeof readConfig>>>;

/** Reads `adapter_config.json`; omits and reports values of a wrong type. Undefined if it isn't a JSON object. */
export function readConfig(text: string, problems: Problems) {
  const fields = objectIn(text);
  if (fields === undefined) {
    problems.add('config-not-json', 'error');
    return undefined;
  }
  if (text.startsWith(BOM)) problems.add('config-bom', 'error');
  /** Reads the value of a key; `null` counts as missing. */
  const read = <T>(key: string, convert: (value: unknown) => T | undefined): T | undefined => {
    const value = fields[key] ?? undefined;
    if (value === undefined) return undefined;
    const converted = convert(value);
    if (converted === undefined) problems.add('config-wrong-type', 'warning', key);
    return converted;
  };
  return {
    peftType: read('peft_type', string),
    taskType: read('task_type', string),
    /** MLX calls it `model`. */
    baseModel: read('base_model_name_or_path', string) ?? read('model', string),
    revision: read('revision', string),
    /** Types other than LoRA have 0. */
    rank: read('r', natural) || undefined,
    alpha: read('lora_alpha', number),
    rankPattern: read('rank_pattern', pattern) ?? {},
    alphaPattern: read('alpha_pattern', pattern) ?? {},
    useRslora: read('use_rslora', boolean) ?? false,
    useDora: read('use_dora', boolean) ?? false,
    /** How training began, such as `true`, `gaussian` or `pissa`. */
    init: read('init_lora_weights', (value) => (typeof value === 'boolean' ? String(value) : string(value))),
    isAlora: read('alora_invocation_tokens', isFilled) ?? false,
    /** Whether only some layers are adapted. */
    choosesLayers:
      read('layers_to_transform', (value) => natural(value) !== undefined || isFilled(value)) ?? false,
    repeatsLayers: read('layer_replication', isFilled) ?? false,
    loraBias: read('lora_bias', boolean) ?? false,
    /** A list of names or, as one string, a regular expression (or `all-linear`). */
    targetModules: read('target_modules', (value) => strings(value) ?? string(value)),
    /** Parameters, such as those of experts, that are adapted directly. */
    targetParameters: read('target_parameters', strings) ?? [],
    modulesToSave: read('modules_to_save', strings) ?? [],
    /** Whether adapted or saved embeddings include the tied head, although no list names it. */
    tiesWeights: read('ensure_weight_tying', boolean) ?? false,
    bias: read('bias', string) ?? 'none',
    peftVersion: read('peft_version', string),
    /** The first PEFT that knows all fields, such as `0.14`. */
    needsPeft: Object.entries(FIELDS_OF_VERSION)
      .filter(([, names]) => names.some((name) => Object.hasOwn(fields, name)))
      .map(([minor]) => `0.${minor}`)
      .at(-1),
    isMlx: MLX_FIELDS.some((name) => Object.hasOwn(fields, name)),
  };
}

/** Accepts NaN and Infinity, as Python's reader does, and a byte order mark, so that the rest can be checked. */
function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const plain = text.startsWith(BOM) ? text.slice(1) : text;
  for (const candidate of [plain, plain.replace(/([[:,]\s*)-?(?:NaN|Infinity)(?=\s*[\],}])/g, '$1null')])
    try {
      const value: unknown = JSON.parse(candidate);
      return isObject(value) ? value : undefined;
    } catch {
      continue;
    }
  return undefined;
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' ? printable(value) : undefined;
}

function number(value: unknown): number | undefined {
  return Number.isFinite(value) ? Number(value) : undefined;
}

function natural(value: unknown): number | undefined {
  return Number.isInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
}

function boolean(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

function isFilled(value: unknown): boolean | undefined {
  return Array.isArray(value) ? value.length > 0 : undefined;
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.length <= MAX_NAMES && value.every((name) => typeof name === 'string')
    ? value.map(printable)
    : undefined;
}

function pattern(value: unknown): Record<string, number> | undefined {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value);
  return entries.length <= MAX_NAMES && entries.every(([, one]) => Number.isFinite(one))
    ? (Object.fromEntries(entries) as Record<string, number>)
    : undefined;
}

/** How the base's weights were changed before training. PEFT repeats the change on loading unless it is `lost`. */
export type BaseChange = 'repeated' | 'quantized' | 'lost';

/**
 * Source: huggingface/peft docs package_reference/lora ("Initialization"), examples/pissa_finetuning and
 * olora_finetuning, tuners/lora/layer.py. PEFT refuses CorDA without its data; for LoRA-GA it silently uses the
 * unchanged base. Adapters saved with `path_initial_model_for_weight_conversion` have `true`: no changed base.
 */
export function baseChangeOf({ init = 'true' }: AdapterConfig): BaseChange | undefined {
  const way = init.toLowerCase();
  if (way === 'pissa' || way === 'olora' || way.startsWith('pissa_niter_')) return 'repeated';
  if (way === 'loftq') return 'quantized';
  return way === 'lora_ga' || way.startsWith('corda') ? 'lost' : undefined;
}
