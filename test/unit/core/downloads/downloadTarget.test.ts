import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  adapterFirst,
  artifactFileName,
  placeIn,
  runFolderName,
} from '../../../../src/core/downloads/downloadTarget.ts';
import { directoryOf, localAdapter } from '../../../../src/core/downloads/localFiles.ts';

const RUN = '3fa85f64-5717-4562-b3fc-2c963f66afa6';

describe('where downloads go', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'download-folder-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  describe('the download directory', () => {
    it('is asked for each time where none is set', () => {
      assert.deepEqual(directoryOf('', folder), { kind: 'asked' });
      assert.deepEqual(directoryOf(' \t', folder), { kind: 'asked' });
    });

    it('stands, or is missing', () => {
      const missing = path.join(folder, 'not', 'there');
      assert.deepEqual(directoryOf(` ${folder}${path.sep} `, '/'), {
        kind: 'there',
        path: `${folder}${path.sep}`,
      });
      assert.deepEqual(directoryOf(missing, '/'), { kind: 'missing', path: missing });
    });

    it('may begin with the home folder', async () => {
      await mkdir(path.join(folder, 'adapters'));
      assert.deepEqual(directoryOf('~', folder), { kind: 'there', path: folder });
      assert.deepEqual(directoryOf('~/adapters', folder), {
        kind: 'there',
        path: path.join(folder, 'adapters'),
      });
      assert.deepEqual(directoryOf('~/none', folder), { kind: 'missing', path: path.join(folder, 'none') });
    });

    it('is not usable where it is relative, another’s home, or no folder', async () => {
      const file = path.join(folder, 'file');
      await writeFile(file, '');
      for (const text of ['adapters', './adapters', '~ada/x', '${workspaceFolder}/x', file, '/a\0b'])
        assert.deepEqual(directoryOf(text, folder), { kind: 'unusable', text }, text);
    });
  });

  it('each run has a folder of its own, named safely', () => {
    for (const [label, name] of [
      ['maths', 'maths 3fa85f64'],
      ['maths ft-7k3m9qpx', 'maths 3fa85f64'],
      ['ft-7k3m9qpx', 'run 3fa85f64'],
      [undefined, 'run 3fa85f64'],
      ['', 'run 3fa85f64'],
      ['..', 'run 3fa85f64'],
      ['../../etc', '-.-etc 3fa85f64'],
      ['a/b\\c', 'a-b-c 3fa85f64'],
      ['con', 'run-con 3fa85f64'],
      ['Größe: "1"?', 'Größe 1 3fa85f64'],
      ['\u202eevil\u0000', 'evil 3fa85f64'],
      ['x'.repeat(255), `${'x'.repeat(60)} 3fa85f64`],
      ['🦜'.repeat(255), `${'🦜'.repeat(60)} 3fa85f64`],
    ] as const)
      assert.equal(runFolderName(label, RUN), name);
    // A run id is the service's text as well.
    assert.equal(runFolderName('a', '../../..'), 'a run');
    assert.notEqual(runFolderName('a', '11111111-2'), runFolderName('a', '22222222-2'));
    for (const label of ['x'.repeat(255), '🦜'.repeat(255)])
      assert.ok(Buffer.byteLength(runFolderName(label, RUN)) <= 255);
  });

  it('a file is called as the service calls it, made safe, or after its kind', () => {
    const name = (type: string, filename?: string) =>
      artifactFileName({ type, ...(filename !== undefined && { filename }) }, RUN);
    assert.equal(name('model', 'adapter.zip'), 'adapter.zip');
    assert.equal(name('model', '../../.bashrc'), 'bashrc');
    assert.equal(name('model'), 'adapter-3fa85f64');
    assert.equal(name('training/metrics'), 'metrics-3fa85f64');
    assert.equal(name('..'), 'artifact-3fa85f64');
  });

  it('the adapter comes first, the others as the service has them', () => {
    const types = ['metrics', 'model', 'log'].map((type) => ({ type }));
    assert.deepEqual(
      adapterFirst(types).map(({ type }) => type),
      ['model', 'metrics', 'log'],
    );
    assert.deepEqual(adapterFirst([]), []);
  });

  it('no file is replaced, nor one that another download will make', async () => {
    const artifact = { type: 'model', filename: 'a.zip' };
    const place = (destined: Parameters<typeof placeIn>[3] = []) => placeIn(folder, artifact, RUN, destined);
    assert.deepEqual(place(), { name: 'a.zip', isFile: false });
    const target = path.join(folder, 'a.zip');
    const other = { runId: 'other', artifactType: 'model', filename: 'a.zip', target };
    assert.deepEqual(place([other]), { name: 'a.zip', other: 'a (2).zip', isFile: false });
    const inCapitals = { ...other, target: path.join(folder, 'A.ZIP') };
    assert.deepEqual(place([inCapitals]), { name: 'a.zip', other: 'a (2).zip', isFile: false });
    // What is left of this very one goes on.
    assert.deepEqual(place([{ ...other, runId: RUN }]), { name: 'a.zip', isFile: false });
    await writeFile(target, '');
    await writeFile(path.join(folder, 'a (2).zip'), '');
    assert.deepEqual(place(), { name: 'a.zip', other: 'a (3).zip', isFile: true });
  });

  it('an adapter that was downloaded counts while the file stands as it came, other artifacts do not', async () => {
    const record = async (artifactType: string, runId = RUN, written = 3) => {
      const file = path.join(folder, `${artifactType}-${runId.slice(0, 4)}-${written}`);
      await writeFile(file, 'x'.repeat(written));
      return {
        runId,
        artifactType,
        path: file,
        sizeBytes: 3,
        sha256: '0'.repeat(64),
        verified: 'zip' as const,
        completedAtMs: 0,
      };
    };
    const records = [await record('log'), await record('model')];
    assert.equal(localAdapter(records, RUN)?.artifactType, 'model');
    assert.equal(localAdapter(records.slice(0, 1), RUN), undefined);
    assert.equal(localAdapter(records, 'other'), undefined);
    assert.equal(localAdapter([await record('model', RUN, 4)], RUN), undefined);
    await rm(records[1]?.path ?? '');
    assert.equal(localAdapter(records, RUN), undefined);
    const model = await record('model');
    // What cannot be looked at is not there.
    assert.equal(localAdapter([{ ...model, path: 'a\0b' }], RUN), undefined);
    assert.equal(localAdapter([{ ...model, path: path.join(folder, 'none', 'a') }, model], RUN), model);
  });
});
