import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { runInWorker } from '../../../../src/core/adapters/report.ts';
import { withHeader, type WrittenTensor } from '../../../helpers/adapters/safetensorsWriter.ts';
import { sampleAdapter } from '../../../helpers/adapters/sampleAdapter.ts';
import { Place, WORKER, zipOf } from '../../../helpers/adapters/support.ts';

const WEIGHTS = 'adapter_model.safetensors';

function small(name: string): WrittenTensor {
  return { name: `base_model.model.${name}`, dtype: 'F32', shape: [1], data: Buffer.alloc(4) };
}

describe('inspecting a hostile file', () => {
  const place = new Place();

  it('with thousands of long names uses little memory and does not block the event loop', async function () {
    const saved = (count: number, path: string) =>
      Array.from({ length: count }, (_, index) => small(`${path}${index}.weight`));
    const tensors = [
      ...saved(5_000, 'abcdefg.'.repeat(60)),
      // Names with too many parts, and one that is too long.
      ...saved(1_500, 'a.'.repeat(480)),
      ...saved(1, 'x'.repeat(2_000)),
    ];
    const options = { tensors: (all: WrittenTensor[]) => [...all, ...tensors] };
    const file = await place.file(zipOf(sampleAdapter(options), { isDeflated: true }));
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const before = process.memoryUsage().rss;
    const report = await runInWorker('inspect', file, { worker: WORKER });
    clearInterval(timer);
    assert.ok(process.memoryUsage().rss - before < 200_000_000);
    assert.ok(turns > 20, `${turns} turns`);
    assert.equal(report.weights?.savedModules.length, 5_000);
    assert.equal(report.problems.find(({ code }) => code === 'tensor-unexpected')?.count, 1_501);
  });

  it('with a name of many wrappers is inspected at once, and no inspection runs for ever', async () => {
    const saved = (path: string) => small(`${path}.weight`);
    const nested = '.modules_to_save'.repeat(54);
    // An expression that can read these in two ways tries all 2^54 before it finds that the name ends otherwise.
    const tensors = [
      saved(`lm_head${nested}.a.b`),
      saved(`model.norm.original_module.modules_to_save.default`),
    ];
    const options = { tensors: (all: WrittenTensor[]) => [...all, ...tensors] };
    const file = await place.file(zipOf(sampleAdapter(options)));
    const { weights } = await runInWorker('inspect', file, { worker: WORKER, limitMs: 20_000 });
    assert.deepEqual(weights?.savedModules, ['lm_head.a.b', 'model.norm']);
    const worker = `${place.name()}.mjs`;
    await writeFile(worker, 'for (;;);');
    await assert.rejects(runInWorker('inspect', file, { worker, limitMs: 1 }), /took too long/);
    await assert.rejects(runInWorker('inspect', file, { worker, limitMs: 1, signal: AbortSignal.abort() }), {
      code: 'cancelled',
    });
  });

  it('with many large headers or configs has the verdict "too-big"', async function () {
    const padded = (sizeBytes: number) =>
      Buffer.concat([Buffer.from('{}'), Buffer.alloc(sizeBytes - 2, 0x20)]);
    const config = padded(2 ** 20);
    const configs = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}/adapter_config.json`, config]));
    const weights = withHeader(padded(51_000_000));
    for (const files of [
      { 'a/x.safetensors': weights, 'b/x.safetensors': weights },
      { ...sampleAdapter(), ...configs(17) },
    ]) {
      const bytes = zipOf(files, { isDeflated: true });
      assert.ok(bytes.length < 200_000);
      const { verdict } = await place.inspect(bytes);
      assert.deepEqual([verdict.code, verdict.fault], ['too-big', 'header-too-large']);
    }
    const { verdict } = await place.inspect(zipOf({ ...sampleAdapter(), ...configs(15) }));
    assert.equal(verdict.code, 'adapter');
  });

  it('with weights under a name that tools do not look for reports a problem', async () => {
    const { [WEIGHTS]: weights, ...rest } = sampleAdapter();
    const report = await place.inspect(zipOf({ ...rest, 'lora.safetensors': weights! }));
    assert.deepEqual(
      report.problems.map(({ code, severity, examples }) => [code, severity, examples]),
      [['weights-name', 'error', ['lora.safetensors']]],
    );
  });
});
