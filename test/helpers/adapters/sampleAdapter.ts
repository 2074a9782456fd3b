import { Random } from '../random.ts';
import { encode, writeTensors, type WrittenTensor } from './safetensorsWriter.ts';

export interface SampleOptions {
  dtype?: string;
  rank?: number;
  layers?: number;
  modules?: Readonly<Record<string, readonly [inputs: number, outputs: number]>>;
  seed?: number;
  /** Changed before it is written. */
  config?: Readonly<Record<string, unknown>>;
  tensors?: (tensors: WrittenTensor[]) => WrittenTensor[];
  isZero?: boolean;
}

export const SAMPLE_MODULES = { q_proj: [24, 16], v_proj: [24, 8] } as const;

/** The files of a small LoRA adapter, with values that every dtype has exactly. */
export function sampleAdapter(options: SampleOptions = {}): Record<string, Buffer> {
  const { rank = 4, dtype = 'F32', layers = 2, modules = SAMPLE_MODULES } = options;
  const random = new Random(options.seed ?? 1);
  // Eighths of small numbers.
  const values = (count: number) => Array.from({ length: count }, () => (random.below(33) - 16) / 8);
  const tensors = Array.from({ length: layers }, (_, layer) =>
    Object.entries(modules).flatMap(([module, [inputs, outputs]]): WrittenTensor[] => {
      const name = `base_model.model.model.layers.${layer}.self_attn.${module}`;
      return [
        {
          name: `${name}.lora_A.weight`,
          dtype,
          shape: [rank, inputs],
          data: encode(dtype, values(rank * inputs)),
        },
        {
          name: `${name}.lora_B.weight`,
          dtype,
          shape: [outputs, rank],
          data: options.isZero
            ? encode(
                dtype,
                values(outputs * rank).map(() => 0),
              )
            : encode(dtype, values(outputs * rank)),
        },
      ];
    }),
  ).flat();
  return {
    'adapter_config.json': Buffer.from(
      JSON.stringify({
        base_model_name_or_path: 'acme/base-1b',
        bias: 'none',
        lora_alpha: 2 * rank,
        modules_to_save: null,
        peft_type: 'LORA',
        r: rank,
        target_modules: Object.keys(modules),
        task_type: 'CAUSAL_LM',
        ...options.config,
      }),
    ),
    'adapter_model.safetensors': writeTensors(options.tensors?.(tensors) ?? tensors),
  };
}
