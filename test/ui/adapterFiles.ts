import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** A tensor of F32 values. */
export interface TestTensor {
  name: string;
  shape: readonly [rows: number, columns: number];
  value: (index: number) => number;
}

/** The bytes of a safetensors file of F32 tensors. */
export function safetensors(tensors: readonly TestTensor[]): Buffer {
  const header: Record<string, object> = { __metadata__: { format: 'pt' } };
  const parts: Buffer[] = [];
  let offset = 0;
  for (const { name, shape, value } of tensors) {
    const values = Float32Array.from({ length: shape[0] * shape[1] }, (_, index) => value(index));
    const bytes = Buffer.from(values.buffer);
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, (offset += bytes.length)] };
    parts.push(bytes);
  }
  const text = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([text, Buffer.alloc((8 - (text.length % 8)) % 8, ' ')]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([length, padded, ...parts]);
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
      const name = `base_model.model.model.layers.${layer}.${module}`;
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
  return Buffer.from(
    JSON.stringify({
      base_model_name_or_path: 'meta-llama/Llama-3.1-8B-Instruct',
      bias: 'none',
      lora_alpha: 64,
      lora_dropout: 0.05,
      modules_to_save: null,
      peft_type: 'LORA',
      r: 32,
      target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'up_proj'],
      task_type: 'CAUSAL_LM',
      use_dora: false,
      use_rslora: false,
      ...changes,
    }),
  );
}

/** A ZIP of files by their names. */
export async function zip(files: Readonly<Record<string, Buffer>>): Promise<Buffer> {
  const archive = new ZipFile();
  for (const [name, content] of Object.entries(files)) archive.addBuffer(content, name);
  archive.end();
  return buffer(archive.outputStream);
}
