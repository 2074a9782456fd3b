import assert from 'node:assert/strict';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inspectionReport } from '../../../../src/core/adapters/inspect.ts';
import type { AdapterReport, Container } from '../../../../src/core/adapters/report.ts';
import {
  adapterFolder,
  fingerprintOf,
  pathToInspect,
  unpackedPlace,
} from '../../../../src/ui/adapters/adapterPlace.ts';
import { sampleAdapter } from '../../../helpers/adapters/sampleAdapter.ts';
import { zipOf } from '../../../helpers/adapters/support.ts';
import { useFolder } from '../../../helpers/folder.ts';

describe('adapterPlace', () => {
  const folder = useFolder();
  let report: AdapterReport;

  beforeEach(async () => {
    await writeFile(at('a.zip'), zipOf(sampleAdapter()));
    report = await inspectionReport(at('a.zip'));
  });

  const at = (...parts: string[]) => path.join(folder(), ...parts);
  const reportOf = (file: string, container: Container, root = ''): AdapterReport => ({
    ...report,
    file,
    container,
    root,
  });
  const unpack = async (into: string, files = sampleAdapter()) => {
    await mkdir(into, { recursive: true });
    for (const [name, data] of Object.entries(files)) await writeFile(path.join(into, name), data);
  };
  const placeOf = (file = at('a.zip'), parent?: string) =>
    unpackedPlace({ ...report, file }, inspectionReport, parent);

  it('unpacks next to an archive, to a folder with its name', async () => {
    for (const [name, wanted] of [
      ['a.zip', 'a'],
      ['a.tar.gz', 'a'],
      ['a.b.TGZ', 'a.b'],
      ['a', 'a-unpacked'],
      ['.zip', '.zip-unpacked'],
      ['.vscode.zip', '.vscode.zip-unpacked'],
    ] as const)
      assert.deepEqual(await placeOf(at(name)), { folder: at(wanted), exists: false });
    assert.equal((await placeOf(at('a.zip'), '/other')).folder, path.join('/other', 'a'));
  });

  it('never unpacks over a file, a dangling link, an empty folder or another adapter', async () => {
    await writeFile(at('a'), zipOf(sampleAdapter()));
    await symlink(at('nowhere'), at('a-2'));
    await unpack(at('a-3'), sampleAdapter({ config: { lora_alpha: 9 } }));
    // With the same sizes.
    await unpack(at('a-4'), sampleAdapter({ seed: 2 }));
    await mkdir(at('a-5'));
    assert.deepEqual(await placeOf(), { folder: at('a-6'), exists: false });
  });

  it('reuses a folder with the same adapter', async () => {
    await mkdir(at('a'));
    await unpack(at('a-2', 'out'));
    report = { ...report, root: 'out/' };
    const place = await placeOf();
    assert.deepEqual(place, { folder: at('a-2'), exists: true });
    assert.equal(adapterFolder(report, place.folder), at('a-2', 'out'));
  });

  it('loads an adapter from its root in a folder, or from the folder of its safetensors file', () => {
    assert.equal(adapterFolder(reportOf(at('a'), 'folder', 'out/'), ''), at('a', 'out'));
    assert.equal(adapterFolder(reportOf(at('x.safetensors'), 'safetensors'), ''), folder());
  });

  it('inspects the folder of weights that are next to their config', async () => {
    await unpack(at('a'));
    await writeFile(at('a', 'model.safetensors'), '');
    assert.equal(await pathToInspect(at('a', 'adapter_model.safetensors')), at('a'));
    assert.equal(await pathToInspect(at('a', 'model.safetensors')), at('a', 'model.safetensors'));
    assert.equal(await pathToInspect(at('adapter_model.safetensors')), at('adapter_model.safetensors'));
  });

  it('has a fingerprint that changes with files but not with subfolders', async () => {
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
