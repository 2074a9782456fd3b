import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { findModel, type MODELS } from './catalog.ts';

/** Says that nothing was trained, for the adapter's page. */
const METADATA = { format: 'pt', trained_by: 'fine-tuning-sandbox' } as const;
const RANK = 8;
/** Two layers make an adapter that is complete but small. */
const LAYERS: readonly number[] = [0, 1];

export function archiveName(runId: string): string {
  return `adapter-${runId.slice(0, 8)}.zip`;
}

/**
 * Builds the ZIP of a run's adapter: valid for PEFT, but with B matrices of zeros, so loading it changes nothing.
 * Every call returns the same bytes for the same run, as ETag and byte ranges require.
 */
export async function buildArchive(runId: string, modelId: string): Promise<Buffer> {
  const model = findModel(modelId);
  if (!model) throw new Error('a run of a model that the sandbox does not have');
  const zip = new ZipFile();
  // Local time and no compression: so the bytes depend neither on the time zone nor on the zlib of this Node.
  const options = { mtime: new Date(2000, 0, 1), forceDosTimestamp: true, compress: false };
  const add = (name: string, content: Buffer) => zip.addBuffer(content, name, options);
  add('README.md', Buffer.from(readme(runId, model.listed.name)));
  add(
    'adapter_config.json',
    Buffer.from(`${JSON.stringify(adapterConfig(model.listed.name), undefined, 2)}\n`),
  );
  add('adapter_model.safetensors', writeSafetensors(tensors(runId, model.shape)));
  zip.end();
  return await buffer(zip.outputStream);
}

/** PEFT uses its defaults for all other keys. */
function adapterConfig(baseModel: string) {
  return {
    base_model_name_or_path: baseModel,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    layers_pattern: 'layers',
    layers_to_transform: LAYERS,
    lora_alpha: 16,
    lora_dropout: 0,
    modules_to_save: null,
    peft_type: 'LORA',
    r: RANK,
    target_modules: ['q_proj', 'v_proj'],
    task_type: 'CAUSAL_LM',
    use_dora: false,
    use_rslora: false,
  };
}

function readme(runId: string, baseModel: string): string {
  return `# An adapter from the sandbox

Nothing was trained. The Fine-Tuning sandbox made this archive for run ${runId}, so that the way of an
adapter can be tried without an account or money.

It has the form of a LoRA adapter (PEFT) for ${baseModel}, for its first ${LAYERS.length} layers. All B matrices are
zero: loading it changes nothing about the model's answers.
`;
}

function tensors(runId: string, shape: (typeof MODELS)[number]['shape']): Tensor[] {
  return LAYERS.flatMap((layer) =>
    Object.entries({ q_proj: shape.queryRows, v_proj: shape.valueRows }).flatMap(
      ([module, rows]): Tensor[] => {
        const name = `base_model.model.model.layers.${layer}.self_attn.${module}`;
        return [
          {
            name: `${name}.lora_A.weight`,
            shape: [RANK, shape.hiddenSize],
            data: smallValues(`${runId} ${name}`, RANK * shape.hiddenSize),
          },
          { name: `${name}.lora_B.weight`, shape: [rows, RANK], data: Buffer.alloc(rows * RANK * 2) },
        ];
      },
    ),
  );
}

/** Deterministic bfloat16 numbers between 2^-9 and 2^-7 in magnitude, of either sign: SHA-256 in counter mode. */
function smallValues(seed: string, count: number): Buffer {
  const blocks = Array.from({ length: Math.ceil((count * 2) / 32) }, (_, block) =>
    createHash('sha256').update(`${seed} ${block}`).digest(),
  );
  const values = Buffer.concat(blocks, count * 2);
  for (let at = 1; at < values.length; at += 2) {
    // The sign stays random, as does the exponent's lowest bit in the byte before; the rest makes it 2^-9 or 2^-8.
    values[at] = ((values[at] ?? 0) & 0x80) | 0x3b;
  }
  return values;
}

/** One tensor of 16-bit brain floats: row by row, little-endian. */
interface Tensor {
  name: string;
  shape: readonly [number, number];
  data: Buffer;
}

/**
 * Writes the safetensors format: the header's length (8 bytes, little-endian), the header, the tensors. The
 * header is JSON, padded with spaces so that the data starts at a multiple of 8. Tensors have no gaps.
 */
function writeSafetensors(tensors: readonly Tensor[]): Buffer {
  const header: Record<string, unknown> = { __metadata__: METADATA };
  let offset = 0;
  for (const { name, shape, data } of tensors) {
    header[name] = { dtype: 'BF16', shape, data_offsets: [offset, offset + data.length] };
    offset += data.length;
  }
  const json = JSON.stringify(header);
  const padded = Buffer.from(json.padEnd(Math.ceil(json.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([length, padded, ...tensors.map((tensor) => tensor.data)]);
}
