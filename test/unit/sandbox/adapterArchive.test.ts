import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { readSafetensorsHeader } from '../../../src/core/adapters/safetensors.ts';
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

  for (const { listed, shape } of MODELS)
    it(`is a PEFT adapter that fits ${listed.name} and changes nothing`, async () => {
      const archive = await buildArchive(RUN_ID, listed.model_id);
      assert.ok(archive.length > 100_000 && archive.length < 1_000_000, `${archive.length} bytes`);
      const files = await unzip(archive);
      assert.deepEqual([...files.keys()], ['README.md', 'adapter_config.json', 'adapter_model.safetensors']);
      assert.match(files.get('README.md')!.toString(), /Nothing was trained/);
      const config = JSON.parse(files.get('adapter_config.json')!.toString()) as Record<string, unknown>;
      assert.deepEqual(
        ['peft_type', 'base_model_name_or_path', 'r'].map((key) => config[key]),
        ['LORA', listed.name, 8],
      );
      // As this extension reads it: the header is strict, and the data has no gap and no rest.
      const file = files.get('adapter_model.safetensors')!;
      const read = await readSafetensorsHeader(Readable.from([file]).iterator(), file.length);
      const shapes = [shape.queryRows, shape.valueRows].flatMap((rows) => [
        [8, shape.hiddenSize],
        [rows, 8],
      ]);
      assert.deepEqual(
        read.tensors.map((tensor) => tensor.shape),
        [...shapes, ...shapes],
      );
      for (const { name, from, parameters } of read.tensors) {
        const data = file.subarray(read.dataAt + from, read.dataAt + from + 2 * parameters);
        assert.equal(
          data.every((byte) => byte === 0),
          name.includes('lora_B'),
        );
      }
    });
});
