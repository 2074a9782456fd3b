import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { readSafetensorsHeader } from '../../../src/core/adapters/safetensors.ts';
import { buildArchive } from '../../../src/sandbox/adapterArchive.ts';
import { MODELS } from '../../../src/sandbox/catalog.ts';
import { unzip } from '../../helpers/unzip.ts';

const RUN_ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

describe('sandbox adapter archive', () => {
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
