import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { crc32, createGzip } from 'node:zlib';
import { writeHeader } from '../helpers/adapters/safetensorsWriter.ts';
import { Random } from '../helpers/random.ts';
import { writeTar } from '../helpers/adapters/tarWriter.ts';
import { writeZip } from '../helpers/adapters/zipWriter.ts';

/** Of a model of eight billion parameters. */
const MODULES = {
  'self_attn.q_proj': [4096, 4096],
  'self_attn.k_proj': [4096, 1024],
  'self_attn.v_proj': [4096, 1024],
  'self_attn.o_proj': [4096, 4096],
  'mlp.gate_proj': [4096, 14336],
  'mlp.up_proj': [4096, 14336],
  'mlp.down_proj': [14336, 4096],
} as const;
const BLOCK_BYTES = 4 * 1024 * 1024;

/** An adapter in brain floats that is about so large: its tensors' values repeat every few megabytes. */
export class BenchAdapter {
  readonly config: Buffer;
  readonly header: Buffer;
  readonly dataBytes: number;
  readonly #block: Buffer;

  constructor(sizeBytes: number, rank: number) {
    const perLayer = Object.values(MODULES).reduce(
      (sum, [inputs, outputs]) => sum + 2 * rank * (inputs + outputs),
      0,
    );
    const layers = Math.max(1, Math.round(sizeBytes / perLayer));
    this.dataBytes = layers * perLayer;
    this.config = Buffer.from(
      JSON.stringify({
        base_model_name_or_path: 'acme/base-8b',
        lora_alpha: 2 * rank,
        peft_type: 'LORA',
        r: rank,
        target_modules: Object.keys(MODULES),
      }),
    );
    this.header = headerOf(layers, rank);
    const random = new Random(1);
    this.#block = Buffer.alloc(BLOCK_BYTES);
    for (let at = 0; at < BLOCK_BYTES; at += 2) {
      // Of either sign, between 2^-9 and 2^-7.
      this.#block[at] = random.below(256);
      this.#block[at + 1] = (random.chance(0.5) ? 0x80 : 0) | 0x3b;
    }
  }

  get sizeBytes(): number {
    return this.header.length + this.dataBytes;
  }

  *pieces(): Generator<Buffer> {
    yield this.header;
    for (let left = this.dataBytes; left > 0; left -= BLOCK_BYTES)
      yield this.#block.subarray(0, Math.min(left, BLOCK_BYTES));
  }

  /** Stored, as adapters are: their values cannot be packed well. */
  async writeZip(file: string): Promise<void> {
    let crc = 0;
    for (const piece of this.pieces()) crc = crc32(piece, crc);
    const name = 'adapter_model.safetensors';
    const declared = { declaredBytes: this.sizeBytes, crc };
    const first = { name: 'adapter_config.json', data: this.config };
    // The headers of an archive whose data is put between them afterwards.
    const frame = writeZip([first, { name, ...declared }]);
    const dataAt = writeZip([first]).indexOf('PK\x01\x02') + 30 + name.length;
    const directory = frame.subarray(dataAt, frame.length - 22);
    const end = Buffer.from(frame.subarray(frame.length - 22));
    end.writeUInt32LE(dataAt + this.sizeBytes, 16);
    await writeAll(file, [frame.subarray(0, dataAt), ...this.pieces(), directory, end]);
  }

  async writeTarGz(file: string): Promise<void> {
    const gzip = createGzip({ level: 1 });
    const out = createWriteStream(file);
    gzip.pipe(out);
    const none = Buffer.alloc(0);
    const config = writeTar([{ name: 'adapter_config.json', data: this.config }], none);
    const head = writeTar([{ name: 'adapter_model.safetensors', declaredBytes: this.sizeBytes }], none);
    const padding = Buffer.alloc(((512 - (this.sizeBytes % 512)) % 512) + 1024);
    for (const piece of [config, head, ...this.pieces(), padding])
      if (!gzip.write(piece)) await once(gzip, 'drain');
    gzip.end();
    await finished(out);
  }
}

async function writeAll(file: string, pieces: readonly Buffer[]): Promise<void> {
  const out = createWriteStream(file);
  for (const piece of pieces) if (!out.write(piece)) await once(out, 'drain');
  out.end();
  await finished(out);
}

function headerOf(layers: number, rank: number): Buffer {
  const dtype = 'BF16';
  const tensors = Array.from({ length: layers }, (_, layer) =>
    Object.entries(MODULES).flatMap(([module, [inputs, outputs]]) => {
      const name = `base_model.model.model.layers.${layer}.${module}`;
      return [
        { name: `${name}.lora_A.weight`, dtype, shape: [rank, inputs], sizeBytes: 2 * rank * inputs },
        { name: `${name}.lora_B.weight`, dtype, shape: [outputs, rank], sizeBytes: 2 * rank * outputs },
      ];
    }),
  );
  return writeHeader(tensors.flat());
}
