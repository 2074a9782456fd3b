import { PREFIX, sampleAdapter } from '../helpers/adapters/sampleAdapter.ts';
import { tensor, writeTensors } from '../helpers/adapters/safetensorsWriter.ts';
import { writeZip } from '../helpers/adapters/zipWriter.ts';

/** A tensor of F32 values. */
export interface TestTensor {
  name: string;
  shape: readonly [rows: number, columns: number];
  value: (index: number) => number;
}

/** The bytes of a safetensors file of F32 tensors. */
export function safetensors(tensors: readonly TestTensor[]): Buffer {
  return writeTensors(tensors.map(({ name, shape, value }) => tensor(name, shape, 'F32', value)));
}

/** A trained adapter of 32 layers: each module is changed to another degree, `mlp` in the later half alone. */
export function trainedTensors(layers = 32): TestTensor[] {
  const modules = [
    'self_attn.q_proj',
    'self_attn.k_proj',
    'self_attn.v_proj',
    'self_attn.o_proj',
    'mlp.up_proj',
  ];
  return Array.from({ length: layers }).flatMap((_, layer) =>
    modules.flatMap((module, index): TestTensor[] => {
      if (module.startsWith('mlp') && layer < layers / 2) return [];
      const name = `${PREFIX}model.layers.${layer}.${module}`;
      const degree = (0.02 * (index + 1) * (layer + 1)) / layers;
      return [
        { name: `${name}.lora_A.weight`, shape: [32, 64], value: (at) => Math.sin(at + layer) / 8 },
        { name: `${name}.lora_B.weight`, shape: [64, 32], value: (at) => degree * Math.cos(at * 7 + index) },
      ];
    }),
  );
}

/** What PEFT writes, as far as it matters, with changes. */
export function adapterConfig(changes: Record<string, unknown> = {}): Buffer {
  const config = {
    base_model_name_or_path: 'meta-llama/Llama-3.1-8B-Instruct',
    target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'up_proj'],
    ...changes,
  };
  return sampleAdapter({ rank: 32, config })['adapter_config.json']!;
}

/** A ZIP of files by their names. */
export function zip(files: Readonly<Record<string, Buffer>>): Buffer {
  return writeZip(Object.entries(files).map(([name, data]) => ({ name, data })));
}
