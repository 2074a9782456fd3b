import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  adapterFirst,
  artifactFileName,
  fileNameIn,
  runFolderName,
} from '../../../../src/core/downloads/downloadTarget.ts';
import { directoryOf, localAdapter } from '../../../../src/core/downloads/localFiles.ts';
import { useFolder } from '../../../helpers/folder.ts';

const RUN = '3fa85f64-5717-4562-b3fc-2c963f66afa6';

describe('download targets', () => {
  const folder = useFolder();

  it('the download directory may be empty, start with ~, be missing, or be unusable', async () => {
    const at = (...parts: string[]) => path.join(folder(), ...parts);
    await mkdir(at('adapters'));
    await writeFile(at('file'), '');
    const asked = { kind: 'asked' };
    for (const [text, expected] of [
      ['', asked],
      [' \t', asked],
      [` ${folder()}${path.sep} `, { kind: 'there', path: `${folder()}${path.sep}` }],
      [at('not', 'there'), { kind: 'missing', path: at('not', 'there') }],
      ['~', { kind: 'there', path: folder() }],
      ['~/adapters', { kind: 'there', path: at('adapters') }],
      ['~/none', { kind: 'missing', path: at('none') }],
      ...['adapters', './adapters', '~ada/x', '${workspaceFolder}/x', at('file'), '/a\0b'].map(
        (unusable) => [unusable, { kind: 'unusable', text: unusable }] as const,
      ),
    ] as const)
      assert.deepEqual(directoryOf(text, folder()), expected, text);
  });

  it('each run has its own, safely named folder', () => {
    for (const [label, name] of [
      ['maths', 'maths 3fa85f64'],
      ['maths ft-7k3m9qpx', 'maths 3fa85f64'],
      ['ft-7k3m9qpx', 'run 3fa85f64'],
      [undefined, 'run 3fa85f64'],
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
    // A run ID is untrusted text, too.
    assert.equal(runFolderName('a', '../../..'), 'a run');
    assert.ok(Buffer.byteLength(runFolderName('🦜'.repeat(255), RUN)) <= 255);
  });

  it('a file gets its sanitized name from the service or from its type; the adapter comes first', () => {
    for (const [type, filename, expected] of [
      ['model', 'adapter.zip', 'adapter.zip'],
      ['model', '../../.bashrc', 'bashrc.bin'],
      ['model', undefined, 'adapter-3fa85f64.bin'],
      ['training/metrics', undefined, 'metrics-3fa85f64.bin'],
      ['..', undefined, 'artifact-3fa85f64.bin'],
    ] as const)
      assert.equal(artifactFileName({ type, filename }, RUN), expected);
    const types = ['metrics', 'model', 'log'].map((type) => ({ type }));
    assert.deepEqual(
      adapterFirst(types).map(({ type }) => type),
      ['model', 'metrics', 'log'],
    );
  });

  it('a file keeps the extension of an adapter, log or metrics; another file, or one that programs act on, gets a new one', () => {
    const nameOf = (filename: string) => artifactFileName({ type: 'model', filename }, RUN);
    for (const name of [
      'a.zip',
      'a.TAR',
      'a.tar.gz',
      'a.tgz',
      'adapter_model.safetensors',
      'tokenizer.model',
    ])
      assert.equal(nameOf(name), name);
    for (const name of [
      'adapter.library-ms',
      'a.lnk',
      'a.zip.exe',
      'a.url',
      'a.desktop',
      'a.html',
      'Makefile',
    ])
      assert.equal(nameOf(name), `${name}.bin`);
    for (const name of [
      'AGENTS.md',
      'claude.MD',
      'GEMINI.md',
      'copilot-instructions.md',
      'SKILL.md',
      'my.mdc',
      'package.json',
      'CMakeLists.txt',
      'tscon\ufb01g.json',
    ])
      assert.equal(nameOf(name), `${name}.txt`);
    for (const name of ['.cursorrules', '.windsurfrules', '.clinerules', '.goosehints'])
      assert.equal(nameOf(name), `${name.slice(1)}.txt`);
    assert.equal(nameOf('README.md'), 'README.md');
    assert.equal(nameOf('a.exe. .'), 'a.exe.bin');
    const long = nameOf(`${'ü'.repeat(300)}.exe`);
    assert.ok(long.endsWith('.bin') && Buffer.byteLength(long) <= 240);
  });

  it('no file is replaced, not even one that another download is going to create', async () => {
    const artifact = { type: 'model', filename: 'a.zip' };
    const place = (destined: Parameters<typeof fileNameIn>[3] = []) =>
      fileNameIn(folder(), artifact, RUN, destined);
    const target = path.join(folder(), 'a.zip');
    const other = { runId: 'other', artifactType: 'model', filename: 'a.zip', target };
    const second = { name: 'a.zip', other: 'a (2).zip', isFile: false };
    assert.deepEqual(place(), { name: 'a.zip', isFile: false });
    assert.deepEqual(place([other]), second);
    assert.deepEqual(place([{ ...other, target: path.join(folder(), 'A.ZIP') }]), second);
    // The same download is resumed.
    assert.deepEqual(place([{ ...other, runId: RUN }]), { name: 'a.zip', isFile: false });
    await writeFile(target, '');
    await writeFile(path.join(folder(), 'a (2).zip'), '');
    assert.deepEqual(place(), { name: 'a.zip', other: 'a (3).zip', isFile: true });
  });

  it('an adapter counts as downloaded while its file exists with the same length', async () => {
    const record = async (artifactType: string, written = 3) => {
      const file = path.join(folder(), `${artifactType}-${written}`);
      await writeFile(file, 'x'.repeat(written));
      const about = { runId: RUN, artifactType, path: file, sizeBytes: 3, sha256: '0'.repeat(64) };
      return { ...about, verified: 'zip' as const, completedAtMs: 0 };
    };
    const [log, model] = [await record('log'), await record('model')];
    const gone = [{ ...model, path: 'a\0b' }, { ...model, path: path.join(folder(), 'none', 'a') }, log];
    assert.equal(localAdapter([...gone, model], RUN), model);
    assert.equal(localAdapter(gone, RUN), undefined);
    assert.equal(localAdapter([model], 'other'), undefined);
    assert.equal(localAdapter([await record('model', 4)], RUN), undefined);
  });
});
