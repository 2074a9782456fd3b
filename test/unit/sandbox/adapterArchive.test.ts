import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { buildArchive } from '../../../src/sandbox/adapterArchive.ts';
import { MODELS } from '../../../src/sandbox/catalog.ts';
import { unzip } from '../../helpers/unzip.ts';

const RUN_ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

describe('sandbox adapter archive', () => {
  it('has the same bytes at each call and in each time zone, other bytes for another run', async () => {
    const archive = await buildArchive(RUN_ID, 'qwen3-8b');
    assert.ok(archive.equals(await buildArchive(RUN_ID, 'qwen3-8b')));
    assert.ok(!archive.equals(await buildArchive(randomUUID(), 'qwen3-8b')));
    const module = new URL('../../../src/sandbox/adapterArchive.ts', import.meta.url).href;
    const script = `
      const { buildArchive } = await import(${JSON.stringify(module)});
      process.stdout.write(await buildArchive(${JSON.stringify(RUN_ID)}, 'qwen3-8b'));`;
    for (const TZ of ['Pacific/Kiritimati', 'America/Los_Angeles']) {
      const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...process.env, TZ },
        maxBuffer: 4 * 1024 * 1024,
      });
      assert.ok(archive.equals(child.stdout), `${TZ} ${child.stderr.toString()}`);
    }
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

      const tensors = readSafetensors(files.get('adapter_model.safetensors')!);
      const expected = [0, 1].flatMap((layer) =>
        [['q_proj', shape.queryRows] as const, ['v_proj', shape.valueRows] as const].flatMap(
          ([module, rows]) => [
            { name: tensorName(layer, module, 'A'), shape: [8, shape.hiddenSize] },
            { name: tensorName(layer, module, 'B'), shape: [rows, 8] },
          ],
        ),
      );
      assert.deepEqual(
        tensors.map(({ name, shape }) => ({ name, shape })),
        expected,
      );
      for (const { name, values } of tensors) {
        if (name.includes('lora_B')) assert.ok(values.every((value) => value === 0));
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

/** A reader of its own, that holds the format's rules: aligned header, no gaps, no overlap, nothing left over. */
function readSafetensors(file: Buffer) {
  const headerBytes = Number(file.readBigUInt64LE(0));
  assert.equal(headerBytes % 8, 0);
  const header = JSON.parse(file.subarray(8, 8 + headerBytes).toString()) as Record<
    string,
    { dtype: string; shape: [number, number]; data_offsets: [number, number] }
  >;
  assert.deepEqual(header['__metadata__'], { format: 'pt' });
  delete header['__metadata__'];
  const data = file.subarray(8 + headerBytes);
  let end = 0;
  const tensors = Object.entries(header).map(
    ([
      name,
      {
        dtype,
        shape,
        data_offsets: [from, to],
      },
    ]) => {
      assert.equal(dtype, 'BF16');
      assert.equal(from, end);
      assert.equal(to - from, shape[0] * shape[1] * 2);
      end = to;
      const values = new Float32Array(shape[0] * shape[1]);
      const bits = new Uint32Array(values.buffer);
      for (let i = 0; i < bits.length; i++) bits[i] = data.readUInt16LE(from + 2 * i) << 16;
      return { name, shape, values };
    },
  );
  assert.equal(end, data.length);
  return tensors;
}
