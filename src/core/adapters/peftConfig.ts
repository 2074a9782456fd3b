import type { Problems } from './problems.ts';
import { printable } from './printable.ts';
import type { AdapterConfig } from './report.ts';

/** More keys of a pattern, or names of a list, say nothing more. */
const MAX_NAMES = 10_000;
const BOM = '\ufeff';

/** What `adapter_config.json` says. What has a wrong type is left out and told; undefined where it is no JSON object. */
export function readConfig(text: string, problems: Problems): AdapterConfig | undefined {
  const fields = objectIn(text);
  if (fields === undefined) {
    problems.add('config-not-json', 'error');
    return undefined;
  }
  if (text.startsWith(BOM)) problems.add('config-bom', 'error');
  const read = new Fields(fields);
  const config: AdapterConfig = {
    ...maybe('peftType', read.text('peft_type')),
    ...maybe('taskType', read.text('task_type')),
    ...maybe('baseModel', read.text('base_model_name_or_path')),
    ...maybe('revision', read.text('revision')),
    ...maybe(
      'rank',
      read.number('r', (value) => Number.isInteger(value) && value > 0),
    ),
    ...maybe('alpha', read.number('lora_alpha', Number.isFinite)),
    ...maybe('dropout', read.number('lora_dropout', Number.isFinite)),
    rankPattern: read.pattern('rank_pattern'),
    alphaPattern: read.pattern('alpha_pattern'),
    useRslora: read.flag('use_rslora'),
    useDora: read.flag('use_dora'),
    fanInFanOut: read.flag('fan_in_fan_out'),
    ...maybe('init', read.word('init_lora_weights')),
    isAlora: read.isFilled('alora_invocation_tokens'),
    repeatsLayers: read.isFilled('layer_replication'),
    loraBias: read.flag('lora_bias'),
    ...maybe('targetModules', read.names('target_modules') ?? read.text('target_modules')),
    ...maybe('excludeModules', read.names('exclude_modules') ?? read.text('exclude_modules')),
    targetParameters: read.names('target_parameters') ?? [],
    modulesToSave: read.names('modules_to_save') ?? [],
    ...maybe('layersToTransform', read.layers('layers_to_transform')),
    bias: read.text('bias') ?? 'none',
    ...maybe('peftVersion', read.text('peft_version')),
  };
  const wrong = read.wrong();
  for (const key of wrong) problems.add('config-wrong-type', 'warning', key);
  return config;
}

/** Lenient as Python's reader is, which takes NaN and Infinity; and with a byte order mark, so that more can be said. */
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

/** Keys of another type than they should be are remembered; `null` is as good as none. */
class Fields {
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #right = new Set<string>();
  readonly #asked = new Set<string>();

  constructor(fields: Readonly<Record<string, unknown>>) {
    this.#fields = fields;
  }

  text(key: string): string | undefined {
    return this.#take(key, (value) => (typeof value === 'string' ? printable(value) : undefined));
  }

  number(key: string, isRight: (value: number) => boolean): number | undefined {
    return this.#take(key, (value) => (typeof value === 'number' && isRight(value) ? value : undefined));
  }

  flag(key: string): boolean {
    return this.#take(key, (value) => (typeof value === 'boolean' ? value : undefined)) ?? false;
  }

  /** A text, or `true` or `false`. */
  word(key: string): string | undefined {
    return this.#take(key, (value) =>
      typeof value === 'string' || typeof value === 'boolean' ? printable(String(value)) : undefined,
    );
  }

  /** Whether a list has anything in it. */
  isFilled(key: string): boolean {
    return this.#take(key, (value) => (Array.isArray(value) ? value.length > 0 : undefined)) ?? false;
  }

  names(key: string): string[] | undefined {
    return this.#take(key, (value) =>
      Array.isArray(value) && value.length <= MAX_NAMES && value.every((name) => typeof name === 'string')
        ? value.map(printable)
        : undefined,
    );
  }

  layers(key: string): number[] | undefined {
    return this.#take(key, (value) => {
      const layers: unknown[] = Array.isArray(value) ? value : [value];
      return layers.length <= MAX_NAMES && layers.every((layer) => Number.isInteger(layer))
        ? (layers as number[])
        : undefined;
    });
  }

  pattern(key: string): Record<string, number> {
    const pattern = this.#take(key, (value) => {
      if (!isObject(value)) return undefined;
      const entries = Object.entries(value);
      return entries.length <= MAX_NAMES && entries.every(([, one]) => Number.isFinite(one))
        ? (entries as [string, number][])
        : undefined;
    });
    return Object.fromEntries(pattern ?? []);
  }

  /** Keys that were asked for and fit no type. */
  wrong(): string[] {
    return [...this.#asked].filter((key) => !this.#right.has(key));
  }

  #take<T>(key: string, read: (value: unknown) => T | undefined): T | undefined {
    const value = Object.hasOwn(this.#fields, key) ? (this.#fields[key] ?? undefined) : undefined;
    if (value === undefined) return undefined;
    this.#asked.add(key);
    const taken = read(value);
    if (taken !== undefined) this.#right.add(key);
    return taken;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A key that is only there where its value is. */
function maybe<Key extends keyof AdapterConfig>(
  key: Key,
  value: AdapterConfig[Key] | undefined,
): Pick<AdapterConfig, Key> | object {
  return value === undefined ? {} : { [key]: value };
}
