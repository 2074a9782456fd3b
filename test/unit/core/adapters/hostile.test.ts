import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, utimes } from 'node:fs/promises';
import path from 'node:path';
import { chooseAdapter } from '../../../../src/core/adapters/archive/contents.ts';
import { extractAdapter } from '../../../../src/core/adapters/archive/extract.ts';
import { BrokenArchiveError } from '../../../../src/core/adapters/faults.ts';
import { inspectAdapter } from '../../../../src/core/adapters/inspect.ts';
import { verifyArchive } from '../../../../src/core/adapters/archive/verify.ts';
import { sampleAdapter } from '../../../helpers/adapters/sampleAdapter.ts';
import { withHeader, type WrittenTensor } from '../../../helpers/adapters/safetensorsWriter.ts';
import { pax, writeTar } from '../../../helpers/adapters/tarWriter.ts';
import { writeZip } from '../../../helpers/adapters/zipWriter.ts';
import { codesOf, Place, tarOf, zipOf } from '../../../helpers/adapters/support.ts';

const WEIGHTS = 'adapter_model.safetensors';

function empty(name: string): WrittenTensor {
  return { name: `base_model.model.${name}`, dtype: 'F32', shape: [1, 0], data: Buffer.alloc(0) };
}

describe('a file that is made to cost much', () => {
  const place = new Place();

  it('with names of very many parts takes little memory, and lets others work', async function () {
    this.timeout(30_000);
    const saved = (count: number, path: string) =>
      Array.from({ length: count }, (_, index) => empty(`${path}${index}.weight`));
    const tensors = [
      ...saved(5_000, 'abcdefg.'.repeat(60)),
      // Too many parts, and too long.
      ...saved(1_500, 'a.'.repeat(480)),
      ...saved(1, 'x'.repeat(2_000)),
    ];
    const options = { tensors: (all: WrittenTensor[]) => [...all, ...tensors] };
    const file = await place.file(zipOf(sampleAdapter(options), { isDeflated: true }));
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const before = process.memoryUsage().rss;
    const report = await inspectAdapter(file);
    clearInterval(timer);
    assert.ok(process.memoryUsage().rss - before < 150_000_000);
    assert.ok(turns > 20, `${turns} turns`);
    assert.equal(report.weights?.savedModules.length, 5_000);
    assert.equal(report.problems.find(({ code }) => code === 'tensor-unexpected')?.count, 1_501);
  });

  it('with many great headers is too big', async function () {
    this.timeout(30_000);
    const weights = withHeader(Buffer.concat([Buffer.from('{}'), Buffer.alloc(51_000_000, 0x20)]));
    const bytes = zipOf({ 'a/x.safetensors': weights, 'b/x.safetensors': weights }, { isDeflated: true });
    assert.ok(bytes.length < 200_000);
    const { verdict } = await place.inspect(bytes);
    assert.deepEqual([verdict.code, verdict.fault], ['too-big', 'header-too-large']);
  });

  it('with many great configs is too big', async () => {
    const config = Buffer.concat([Buffer.from('{}'), Buffer.alloc(2 ** 20 - 2, 0x20)]);
    const configs = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}/adapter_config.json`, config]));
    const bytes = zipOf({ ...sampleAdapter(), ...configs(17) }, { isDeflated: true });
    const { verdict } = await place.inspect(bytes);
    assert.deepEqual([verdict.code, verdict.fault], ['too-big', 'header-too-large']);
    assert.equal(
      (await place.inspect(zipOf({ ...sampleAdapter(), ...configs(15) }))).verdict.code,
      'adapter',
    );
  });

  it('with very many folders takes little time', () => {
    const names = Array.from({ length: 10_000 }, (_, at) => `${'folder/'.repeat(20)}${at}/x.safetensors`);
    const weights = new Map(names.map((name) => [name, new BrokenArchiveError('truncated')]));
    const beganMs = performance.now();
    const choice = chooseAdapter({ entries: [], configs: new Map(), weights, samples: new Map() });
    assert.ok(performance.now() - beganMs < 3_000);
    assert.equal(choice?.otherWeights.length, 9_999);
  });

  it('with more dimensions than a tensor has is broken', async () => {
    for (const [dimensions, fault] of [
      [64, undefined],
      [65, 'safetensors-header'],
    ] as const) {
      const tensor = {
        ...empty('x.lora_A.weight'),
        shape: [0, ...Array.from({ length: dimensions - 1 }, () => 1)],
      };
      const { verdict } = await place.inspect(zipOf(sampleAdapter({ tensors: (all) => [...all, tensor] })));
      assert.equal(verdict.fault, fault);
    }
  });

  it('with extended headers without end is too big', async () => {
    const many = Array.from({ length: 20_001 }, () => pax({}));
    await place.assertVerdict(writeTar(many), { code: 'too-big', fault: 'too-many-entries' });
  });
});

describe('what an ended program left', () => {
  const place = new Place();

  it('of unpacking the same is removed after a day, and nothing else', async () => {
    const folder = `${place.name()}.out`;
    const begin = path.join(path.dirname(folder), `.${path.basename(folder)}.`);
    const [old, recent, unnamed] = [randomUUID(), randomUUID(), randomUUID()];
    const parts = [`${old}.part`, `${recent}.part`, 'mine.part', unnamed].map((name) => begin + name);
    const dayAgo = new Date(Date.now() - 25 * 60 * 60 * 1000);
    for (const part of parts) {
      await mkdir(part);
      if (!part.includes(recent)) await utimes(part, dayAgo, dayAgo);
    }
    await extractAdapter(await place.file(zipOf(sampleAdapter())), folder);
    assert.deepEqual(
      parts.map((part) => existsSync(part)),
      [false, true, true, true],
    );
    assert.ok(existsSync(path.join(folder, WEIGHTS)));
  });
});

describe('what is easily taken for something else', () => {
  const place = new Place();

  it('is a tar whose sizes have blanks before them', async () => {
    const files = sampleAdapter();
    const bytes = tarOf(files);
    const size = files['adapter_config.json']!.length.toString(8);
    bytes.write(size.padStart(11, ' '), 124, 'latin1');
    bytes.fill(' ', 148, 156);
    const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    const report = await place.inspect(bytes);
    assert.equal(report.verdict.code, 'adapter');
    assert.equal(report.config?.rank, 4);
  });

  it('is a ZIP entry with bytes behind its packed ones, wherever they begin', async () => {
    // Stored blocks that end where a piece that is read does.
    const block = (isLast: boolean) =>
      Buffer.concat([Buffer.from([isLast ? 1 : 0, 0xfb, 0xff, 4, 0]), Buffer.alloc(65_531, 7)]);
    const packed = Buffer.concat([
      ...Array.from({ length: 8 }, (_, at) => block(at === 7)),
      Buffer.from('more'),
    ]);
    const data = Buffer.alloc(8 * 65_531, 7);
    for (const [length, isWhole] of [
      [packed.length - 4, true],
      [packed.length, false],
    ] as const) {
      const file = await place.file(
        writeZip([{ name: 'x', data, packed: packed.subarray(0, length), isDeflated: true }]),
      );
      if (isWhole) assert.equal(await verifyArchive(file), 'zip');
      else await assert.rejects(verifyArchive(file), { code: 'zip-length' });
    }
  });

  it('are weights that tools do not find by their name', async () => {
    const { [WEIGHTS]: weights, ...rest } = sampleAdapter();
    const report = await place.inspect(zipOf({ ...rest, 'lora.safetensors': weights! }));
    assert.deepEqual(
      report.problems.map(({ code, severity, examples }) => [code, severity, examples]),
      [['weights-name', 'error', ['lora.safetensors']]],
    );
    assert.deepEqual(codesOf(await place.inspect(zipOf(sampleAdapter()))), []);
  });

  it('are two adapters of the same sizes', async () => {
    const [one, other] = [sampleAdapter({ seed: 1 }), sampleAdapter({ seed: 2 })];
    assert.equal(one[WEIGHTS]!.length, other[WEIGHTS]!.length);
    const samples = await Promise.all(
      [zipOf(one), tarOf(one), zipOf(one, { isDeflated: true }), zipOf(other)].map(
        async (bytes) => (await place.inspect(bytes)).sample,
      ),
    );
    assert.ok(samples[0] !== undefined && samples[0] === samples[1] && samples[1] === samples[2]);
    assert.notEqual(samples[0], samples[3]);
    const config = await place.inspect(zipOf(sampleAdapter({ seed: 1, config: { lora_alpha: 9 } })));
    assert.notEqual(config.sample, samples[0]);
  });
});
