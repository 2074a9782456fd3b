import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AdapterReport, Container } from '../../../../src/core/adapters/report.ts';
import {
  adapterFolder,
  fingerprintOf,
  subjectOf,
  unpackedPlace,
} from '../../../../src/ui/adapters/adapterPlace.ts';

describe('where an adapter is', () => {
  let folder: string;

  beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'adapter-place-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const at = (...parts: string[]) => path.join(folder, ...parts);
  const reportOf = (file: string, container: Container = 'zip', root = ''): AdapterReport => ({
    file,
    verdict: { code: 'adapter' },
    container,
    sizeBytes: 1,
    entries: [
      { name: `${root}adapter_config.json`, sizeBytes: 2, kind: 'config' },
      { name: `${root}adapter_model.safetensors`, sizeBytes: 3, kind: 'weights' },
      { name: 'optimizer.pt', sizeBytes: 9, kind: 'pickle' },
    ],
    entryCount: 3,
    root,
    sample: 'abc',
    problems: [],
  });
  const inspect = async (file: string) => ({
    ...reportOf(file, 'folder'),
    sample: await readFile(path.join(file, 'adapter_model.safetensors'), 'utf8'),
  });
  const unpack = async (into: string, config = '{}', weights = 'abc') => {
    await mkdir(into, { recursive: true });
    await writeFile(path.join(into, 'adapter_config.json'), config);
    await writeFile(path.join(into, 'adapter_model.safetensors'), weights);
  };

  it('is a folder of the archive’s name beside it', async () => {
    for (const [name, wanted] of [
      ['a.zip', 'a'],
      ['a.tar.gz', 'a'],
      ['a.b.TGZ', 'a.b'],
      ['a', 'a-unpacked'],
      ['.zip', '.zip-unpacked'],
    ] as const)
      assert.deepEqual(await unpackedPlace(reportOf(at(name)), inspect), {
        folder: at(wanted),
        exists: false,
      });
    assert.equal(
      (await unpackedPlace(reportOf(at('a.zip')), inspect, '/other')).folder,
      path.join('/other', 'a'),
    );
  });

  it('is never one that holds something else: a file, a dangling link or another adapter', async () => {
    await writeFile(at('a'), '');
    await symlink(at('nowhere'), at('a-2'));
    await unpack(at('a-3'), '{"other": 1}');
    assert.deepEqual(await unpackedPlace(reportOf(at('a.zip')), inspect), {
      folder: at('a-4'),
      exists: false,
    });
  });

  it('is an earlier one that holds the same files, with or without pickle', async () => {
    await mkdir(at('a'));
    await unpack(at('a-2', 'out'));
    const report = reportOf(at('a.zip'), 'zip', 'out/');
    const place = await unpackedPlace(report, inspect);
    assert.deepEqual(place, { folder: at('a-2'), exists: true });
    assert.equal(adapterFolder(report, place.folder), at('a-2', 'out'));
  });

  it('is not the folder of another adapter of the same sizes', async () => {
    await unpack(at('a'), '{}', 'xyz');
    await unpack(at('a-2'));
    assert.deepEqual(await unpackedPlace(reportOf(at('a.zip')), inspect), {
      folder: at('a-2'),
      exists: true,
    });
  });

  it('is the folder of an unpacked one', () => {
    assert.equal(adapterFolder(reportOf(at('a'), 'folder', 'out/'), ''), at('a', 'out'));
    assert.equal(adapterFolder(reportOf(at('x.safetensors'), 'safetensors'), ''), folder);
  });

  it('is the folder of weights beside their config', async () => {
    await unpack(at('a'));
    await writeFile(at('a', 'model.safetensors'), '');
    assert.equal(await subjectOf(at('a', 'adapter_model.safetensors')), at('a'));
    assert.equal(await subjectOf(at('a', 'model.safetensors')), at('a', 'model.safetensors'));
    assert.equal(await subjectOf(at('adapter_model.safetensors')), at('adapter_model.safetensors'));
  });

  it('has a fingerprint that changes with the bytes of files, and not with subfolders', async () => {
    await unpack(at('a'));
    const [file, all] = [at('a', 'adapter_config.json'), at('a')];
    const before = [await fingerprintOf(file), await fingerprintOf(all)];
    await mkdir(at('a', 'below'));
    assert.deepEqual([await fingerprintOf(file), await fingerprintOf(all)], before);
    await writeFile(file, '{ }');
    const [otherFile, otherAll] = [await fingerprintOf(file), await fingerprintOf(all)];
    assert.ok(otherFile !== before[0] && otherAll !== before[1]);
    await rm(file);
    assert.equal(await fingerprintOf(file), undefined);
    assert.notEqual(await fingerprintOf(all), otherAll);
  });
});
