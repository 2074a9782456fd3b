import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inspectionReport } from '../../../../src/core/adapters/inspect.ts';
import type { VerdictCode } from '../../../../src/core/adapters/problems.ts';
import { buildArchive } from '../../../../src/sandbox/adapterArchive.ts';
import { MODELS } from '../../../../src/sandbox/catalog.ts';
import { encode, withHeader, writeTensors } from '../../../helpers/adapters/safetensorsWriter.ts';
import { sampleAdapter } from '../../../helpers/adapters/sampleAdapter.ts';
import { Place, tarGzOf, tarOf, zipOf } from '../../../helpers/adapters/support.ts';
import { itOnPosix } from '../../../helpers/platform.ts';

const CONFIG = 'adapter_config.json';
const WEIGHTS = 'adapter_model.safetensors';

describe('inspectAdapter', () => {
  const place = new Place();

  it('reads the same from a ZIP, a tar, a tar.gz, and a folder', async () => {
    const files = sampleAdapter();
    const folder = await mkdtemp(path.join(place.folder, 'folder-'));
    for (const [name, data] of Object.entries(files)) await writeFile(path.join(folder, name), data);
    const reports = [
      await place.inspect(zipOf(files)),
      await place.inspect(zipOf(files, { isDeflated: true, descriptor: 'signed' })),
      await place.inspect(tarOf(files)),
      await place.inspect(tarGzOf(files)),
      await inspectionReport(folder),
    ];
    assert.deepEqual(
      reports.map(({ container }) => container),
      ['zip', 'zip', 'tar', 'tar.gz', 'folder'],
    );
    for (const report of reports) {
      const { verdict, config, weights, problems, entryCount, root } = report;
      assert.deepEqual(verdict, { code: 'adapter' });
      assert.deepEqual(problems, []);
      assert.deepEqual([entryCount, root], [2, '']);
      assert.equal(config?.baseModel, 'acme/base-1b');
      assert.deepEqual(weights, reports[0]?.weights);
    }
    const { weights } = reports[0]!;
    assert.deepEqual(
      { ...weights, pairs: weights?.pairs.length },
      {
        parameters: 2 * (4 * 24 + 16 * 4 + 4 * 24 + 8 * 4),
        dtypes: [{ dtype: 'F32', tensors: 8 }],
        pairs: 4,
        layers: [0, 1],
        modules: ['q_proj', 'v_proj'],
        minRank: 4,
        maxRank: 4,
        savedModules: [],
        hasBias: false,
      },
    );
    assert.deepEqual(weights?.pairs[0], {
      path: 'model.layers.0.self_attn.q_proj',
      layer: 0,
      module: 'q_proj',
      rank: 4,
      alpha: 8,
      scale: 2,
      hasMagnitude: false,
    });
  });

  it('finds no problem in the sandbox’s adapters', async () => {
    for (const { listed } of MODELS) {
      const bytes = await buildArchive('0f8fad5b-d9cb-469f-a165-70867728950e', listed.model_id);
      const { verdict, problems, weights, config, isFromSandbox } = await place.inspect(bytes);
      assert.deepEqual([verdict, problems, isFromSandbox], [{ code: 'adapter' }, [], true]);
      assert.equal(config?.baseModel, listed.name);
      assert.deepEqual([weights?.pairs.length, weights?.maxRank], [4, 8]);
    }
  });

  it('reads a bare safetensors file and reports its missing config', async () => {
    const report = await place.inspect(sampleAdapter()[WEIGHTS]!);
    assert.equal(report.container, 'safetensors');
    assert.equal(report.verdict.code, 'adapter');
    assert.deepEqual(report.problems, [
      { code: 'config-missing', severity: 'error', count: 1, examples: [] },
    ]);
    assert.equal(report.weights?.pairs[0]?.scale, undefined);
  });

  itOnPosix('follows links in a folder, as in caches, but does not wait for a pipe', async () => {
    const real = await mkdtemp(path.join(place.folder, 'real-'));
    const folder = await mkdtemp(path.join(place.folder, 'links-'));
    for (const [name, data] of Object.entries(sampleAdapter())) {
      await writeFile(path.join(real, name), data);
      await symlink(path.join(real, name), path.join(folder, name));
    }
    await symlink(path.join(folder, 'nothing'), path.join(folder, 'dangling.safetensors'));
    const hasPipe = spawnSync('mkfifo', [path.join(folder, 'pipe.safetensors')]).status === 0;
    assert.equal((await inspectionReport(folder)).verdict.code, 'adapter');
    if (hasPipe)
      assert.equal(
        (await inspectionReport(path.join(folder, 'pipe.safetensors'))).verdict.code,
        'not-an-archive',
      );
  });

  it('finds the adapter in a folder of the archive, and reports other weights and pickles in it', async () => {
    const files = sampleAdapter();
    const report = await place.inspect(
      zipOf({
        'out/checkpoint-5/adapter_config.json': Buffer.from('{}'),
        'out/checkpoint-5/adapter_model.safetensors': files[WEIGHTS]!,
        'out/adapter_config.json': files[CONFIG]!,
        'out/adapter_model.safetensors': files[WEIGHTS]!,
        'out/training_args.bin': Buffer.from('\x80\x02'),
        'more/data.zip': Buffer.from('PK'),
        '__MACOSX/out/._adapter_model.safetensors': Buffer.from('x'),
        'adapter_config.json': Buffer.from('{}'),
      }),
    );
    assert.equal(report.root, 'out');
    assert.deepEqual(report.checkpoints, ['out/checkpoint-5']);
    assert.equal(report.entries.find(({ name }) => name === 'more/data.zip')?.kind, 'archive');
    assert.deepEqual(
      report.problems.map(({ code, examples }) => [code, examples]),
      [['pickle-present', ['out/training_args.bin']]],
    );
    assert.equal(report.weights?.pairs.length, 4);
  });

  it('prefers the outermost folder, and weights over a config alone', async () => {
    const files = sampleAdapter();
    const below = (folder: string) =>
      Object.fromEntries(Object.entries(files).map(([name, data]) => [`${folder}/${name}`, data]));
    assert.equal((await place.inspect(zipOf({ ...below('a/b/c'), ...below('z') }))).root, 'z');
    const apart = await place.inspect(zipOf({ 'adapter_config.json': files[CONFIG]!, ...below('z') }));
    assert.equal(apart.root, 'z');
  });

  describe('returns a verdict for', () => {
    const files = sampleAdapter();
    const config = { [CONFIG]: files[CONFIG]! };
    const tensor = 'model.layers.0.self_attn.q_proj.weight';
    const model = writeTensors([{ name: tensor, dtype: 'F32', shape: [1], data: encode('F32', [1]) }]);
    const x = Buffer.from('x');
    const cases: [string, VerdictCode, Buffer][] = [
      ['text', 'not-an-archive', Buffer.from('hello world '.repeat(100))],
      ['zeros', 'not-an-archive', Buffer.alloc(4096)],
      ['nothing', 'empty', Buffer.alloc(0)],
      ['one byte', 'not-an-archive', Buffer.from('P')],
      ['a ZIP of nothing', 'empty', zipOf({})],
      ['a ZIP of other things', 'no-adapter', zipOf({ 'README.md': x })],
      ['a config without weights', 'no-adapter', zipOf(config)],
      ['pickled weights', 'pickle-only', zipOf({ ...config, 'adapter_model.bin': x })],
      ['a file of PyTorch', 'pickle-only', zipOf({ 'archive/data.pkl': x, 'archive/version': x })],
      ['a pickle', 'pickle-only', Buffer.from('\x80\x04\x95 and more', 'latin1')],
      ['a full model', 'full-model', zipOf({ 'model.safetensors': model })],
      ['a bare model', 'full-model', model],
      ['no tensors', 'adapter', writeTensors([])],
      ['broken weights', 'broken', zipOf({ ...config, [WEIGHTS]: withHeader('{}', x) })],
      [
        'weights that are pickled',
        'broken',
        zipOf({ ...config, [WEIGHTS]: Buffer.from('\x80\x02}q\0', 'latin1') }),
      ],
    ];
    it('each kind of file', async () => {
      for (const [name, code, bytes] of cases)
        assert.equal((await place.inspect(bytes)).verdict.code, code, name);
    });

    it('a broken file, with its container', async () => {
      const complete = zipOf(files);
      for (const [bytes, container] of [
        [complete.subarray(0, -5), 'zip'],
        [tarOf(files).subarray(0, -512), 'tar'],
        [tarGzOf(files).subarray(0, -5), 'tar.gz'],
        [files[WEIGHTS]!.subarray(0, -1), 'safetensors'],
        [Buffer.from('text'), undefined],
      ] as const) {
        const report = await place.inspect(bytes);
        assert.deepEqual([report.container, report.sizeBytes], [container, bytes.length]);
        assert.equal(report.verdict.code, container === undefined ? 'not-an-archive' : 'broken');
      }
    });

    it('a missing path and an empty folder', async () => {
      assert.equal((await inspectionReport(path.join(place.folder, 'missing'))).verdict.code, 'unreadable');
      const empty = path.join(place.folder, 'empty');
      await mkdir(empty);
      assert.equal((await inspectionReport(empty)).verdict.code, 'no-adapter');
    });
  });

  it('makes all text from the file printable', async () => {
    const config = { base_model_name_or_path: `a\u202e\u0007${'b'.repeat(500)}` };
    const { config: read, entries } = await place.inspect(
      zipOf({ ...sampleAdapter({ config }), 'a\u202etxt.exe': Buffer.from('') }),
    );
    assert.match(read?.baseModel ?? '', /^a\ufffd\ufffdb+…$/);
    assert.equal(read?.baseModel?.length, 200);
    assert.ok(entries.some(({ name }) => name === 'a\ufffdtxt.exe'));
  });
});
