import { Random } from '../random.ts';
import { tensor, writeTensors, type WrittenTensor } from './safetensorsWriter.ts';

export interface SampleOptions {
  dtype?: string;
  rank?: number;
  layers?: number;
  modules?: Readonly<Record<string, readonly [inputs: number, outputs: number]>>;
  seed?: number;
  /** Overrides of the config. */
  config?: Readonly<Record<string, unknown>>;
  tensors?: (tensors: WrittenTensor[]) => WrittenTensor[];
  isZero?: boolean;
}

export const SAMPLE_MODULES = { q_proj: [24, 16], v_proj: [24, 8] } as const;

/** PEFT's prefix of tensor names. */
export const PREFIX = 'base_model.model.';

/** The tensors A and B of a module. */
export function loraPair(
  name: string,
  [inputs, outputs, rank]: readonly [inputs: number, outputs: number, rank: number],
  dtype = 'F32',
  valueOfA?: (index: number) => number,
  valueOfB = valueOfA,
): WrittenTensor[] {
  return [
    tensor(`${PREFIX}${name}.lora_A.weight`, [rank, inputs], dtype, valueOfA),
    tensor(`${PREFIX}${name}.lora_B.weight`, [outputs, rank], dtype, valueOfB),
  ];
}

export function adding(...more: (string | WrittenTensor)[]): Pick<SampleOptions, 'tensors'> {
  const added = more.map((one) => (typeof one === 'string' ? tensor(one) : one));
  return { tensors: (all) => [...all, ...added] };
}

/** The files of a small LoRA adapter, with values that each dtype represents exactly. */
export function sampleAdapter(options: SampleOptions = {}): Record<string, Buffer> {
  const { rank = 4, dtype = 'F32', layers = 2, modules = SAMPLE_MODULES } = options;
  const random = new Random(options.seed ?? 1);
  // Eighths between -2 and 2.
  const value = () => (random.below(33) - 16) / 8;
  const valueOfB = options.isZero ? () => 0 : value;
  const tensors = Array.from({ length: layers }, (_, layer) =>
    Object.entries(modules).flatMap(([module, sides]) =>
      loraPair(`model.layers.${layer}.self_attn.${module}`, [...sides, rank], dtype, value, valueOfB),
    ),
  ).flat();
  const config = {
    base_model_name_or_path: 'acme/base-1b',
    bias: 'none',
    lora_alpha: 2 * rank,
    modules_to_save: null,
    peft_type: 'LORA',
    r: rank,
    target_modules: Object.keys(modules),
    task_type: 'CAUSAL_LM',
    ...options.config,
  };
  return {
    'adapter_config.json': Buffer.from(JSON.stringify(config)),
    'adapter_model.safetensors': writeTensors(options.tensors?.(tensors) ?? tensors),
  };
}
