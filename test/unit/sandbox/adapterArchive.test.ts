import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { readSafetensorsHeader, type Tensor } from '../../../src/core/adapters/safetensors.ts';
import { buildArchive } from '../../../src/sandbox/adapterArchive.ts';
import { MODELS } from '../../../src/sandbox/catalog.ts';
import { unzip } from '../../helpers/unzip.ts';

const RUN_ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

describe('sandbox adapter archive', () => {
  it('has the same bytes at each call and in another time zone, other bytes for another run', async () => {
    const archive = await buildArchive(RUN_ID, 'qwen3-8b');
    assert.ok(archive.equals(await buildArchive(RUN_ID, 'qwen3-8b')));
    assert.ok(!archive.equals(await buildArchive(randomUUID(), 'qwen3-8b')));
    const module = new URL('../../../src/sandbox/adapterArchive.ts', import.meta.url).href;
    const script = `
      const { buildArchive } = await import(${JSON.stringify(module)});
      process.stdout.write(await buildArchive(${JSON.stringify(RUN_ID)}, 'qwen3-8b'));`;
    const TZ = 'Pacific/Kiritimati';
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, TZ },
      maxBuffer: 4 * 1024 * 1024,
    });
    assert.ok(archive.equals(child.stdout), child.stderr.toString());
  });

  for (const { listed, shape } of MODELS) {
    it(`is a PEFT adapter that fits ${listed.name} and changes nothing`, async () => {
      const archive = await buildArchive(RUN_ID, listed.model_id);
      assert.ok(archive.length > 100_000 && archive.length < 1_000_000, `${archive.length} bytes`);
      const files = await unzip(archive);
      assert.deepEqual([...files.keys()], ['README.md', 'adapter_config.json', 'adapter_model.safetensors']);
      assert.match(files.get('README.md')!.toString(), /Nothing was trained/);

      const config = JSON.parse(files.get('adapter_config.json')!.toString()) as Record<string, unknown>;
      assert.equal(config['peft_type'], 'LORA');
      assert.equal(config['task_type'], 'CAUSAL_LM');
      assert.equal(config['base_model_name_or_path'], listed.name);
      assert.equal(config['r'], 8);
      assert.deepEqual(config['layers_to_transform'], [0, 1]);

      const file = files.get('adapter_model.safetensors')!;
      const { tensors, dataAt } = await headerOf(file);
      const expected = [0, 1].flatMap((layer) =>
        [['q_proj', shape.queryRows] as const, ['v_proj', shape.valueRows] as const].flatMap(
          ([module, rows]) => [
            [tensorName(layer, module, 'A'), 'BF16', [8, shape.hiddenSize]],
            [tensorName(layer, module, 'B'), 'BF16', [rows, 8]],
          ],
        ),
      );
      assert.deepEqual(
        tensors.map(({ name, dtype, shape }) => [name, dtype, shape]),
        expected,
      );
      assert.equal(dataAt % 8, 0);
      for (const tensor of tensors) {
        const values = valuesOf(tensor, file.subarray(dataAt));
        if (tensor.name.includes('lora_B')) assert.ok(values.every((value) => value === 0));
        else {
          assert.ok(values.every((value) => Math.abs(value) >= 2 ** -9 && Math.abs(value) < 2 ** -7));
          const positive = values.filter((value) => value > 0).length / values.length;
          assert.ok(positive > 0.4 && positive < 0.6);
        }
      }
    });
  }
});

function tensorName(layer: number, module: string, matrix: string): string {
  return `base_model.model.model.layers.${layer}.self_attn.${module}.lora_${matrix}.weight`;
}

/** As this extension reads it: the header is strict, and the data has no gap and no rest. */
const headerOf = (file: Buffer) => readSafetensorsHeader(Readable.from([file]).iterator(), file.length);

function valuesOf({ parameters, from }: Tensor, data: Buffer): Float32Array {
  const values = new Float32Array(parameters);
  const bits = new Uint32Array(values.buffer);
  for (let i = 0; i < bits.length; i++) bits[i] = data.readUInt16LE(from + 2 * i) << 16;
  return values;
}
