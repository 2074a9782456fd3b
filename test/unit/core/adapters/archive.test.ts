import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { mock } from 'node:test';
import { extractAdapter } from '../../../../src/core/adapters/archive.ts';
import { inspectionReport } from '../../../../src/core/adapters/inspect.ts';
import { sampleAdapter } from '../../../helpers/adapters/sampleAdapter.ts';
import { Place, tarGzOf, tarOf, zipOf } from '../../../helpers/adapters/support.ts';
import { writeTar } from '../../../helpers/adapters/tarWriter.ts';
import { writeZip, type ZipPart } from '../../../helpers/adapters/zipWriter.ts';
import { onPlatform } from '../../../helpers/platform.ts';

const FILES = sampleAdapter();

describe('extractAdapter', () => {
  const place = new Place();
  let folder = '';
  let count = 0;

  beforeEach(async () => {
    folder = path.join(place.folder, `room-${++count}`);
    await mkdir(folder);
  });

  const extract = async (bytes: Buffer, options = {}) =>
    await extractAdapter(await place.file(bytes), path.join(folder, 'out'), options);

  for (const [name, bytes] of Object.entries({
    ZIP: zipOf(FILES),
    'deflated ZIP': zipOf(FILES, { isDeflated: true }),
    tar: tarOf(FILES),
    'packed tar': tarGzOf(FILES),
  }))
    it(`extracts a ${name} to a new folder`, async () => {
      const shares: number[] = [];
      const leftOut = await extract(bytes, {
        onProgress: ({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number }) =>
          shares.push(doneBytes / totalBytes),
      });
      const adapterFolder = path.join(folder, 'out');
      assert.deepEqual([leftOut, shares.at(-1)], [[], 1]);
      assert.deepEqual(await readdir(folder), ['out']);
      for (const [file, data] of Object.entries(FILES)) {
        assert.ok((await readFile(path.join(adapterFolder, file))).equals(data));
        if (process.platform !== 'win32')
          assert.equal((await stat(path.join(adapterFolder, file))).mode & 0o111, 0);
      }
      const { problems, verdict } = await inspectionReport(adapterFolder);
      assert.deepEqual([verdict.code, problems], ['adapter', []]);
    });

  it('waits on Windows until a scanner has let go of the new folder', async () => {
    const { rename } = fs;
    let refusals = 2;
    mock.method(fs, 'rename', (from: string, to: string) =>
      refusals-- > 0
        ? Promise.reject(Object.assign(new Error('EPERM'), { code: 'EPERM', syscall: 'rename' }))
        : rename(from, to),
    );
    syncBuiltinESMExports();
    try {
      await onPlatform('win32', () => extract(zipOf(FILES)));
    } finally {
      mock.restoreAll();
      syncBuiltinESMExports();
    }
    assert.deepEqual([await readdir(folder), refusals], [['out'], -1]);
  });

  it('marks each file for Windows as coming from the internet', async () => {
    await onPlatform('win32', () => extract(zipOf(FILES)));
    // Elsewhere a file's stream is a file of its own.
    const names = Object.keys(FILES).flatMap((name) => [name, `${name}:Zone.Identifier`]);
    assert.deepEqual((await readdir(path.join(folder, 'out'))).sort(), names.sort());
  });

  it('creates only folders of files that are needed', async () => {
    const inner = Object.fromEntries(Object.entries(FILES).map(([name, data]) => [`a/b/${name}`, data]));
    const done = await extract(
      zipOf({
        ...inner,
        'a/optimizer.pt': Buffer.from('x'),
        'c/d.txt': Buffer.from('y'),
        'e/f': Buffer.of(1),
      }),
    );
    assert.deepEqual(done, ['a/optimizer.pt', 'e/f']);
    assert.deepEqual((await readdir(path.join(folder, 'out'), { recursive: true })).sort(), [
      'a',
      'a/b',
      'a/b/adapter_config.json',
      'a/b/adapter_model.safetensors',
      'c',
      'c/d.txt',
    ]);
  });

  const needed = [
    ...['README.md', 'docs/readme.MD', 'config.json', 'model.safetensors.index.json', 'shard.SAFETENSORS'],
    ...['tokenizer.json', 'tokenizer.model', 'tokenizer.model.v3', 'spiece.model', 'vocab.txt', 'merges.txt'],
    ...[
      'qwen.tiktoken',
      'source.spm',
      'vocab.bpe',
      'a.vocab',
      'chat_template.jinja',
      'a.gguf',
      'adapters.npz',
    ],
    ...['requirements.txt', 'a..json', 'größe/ü.json'],
  ];
  const unneeded = [
    ...[
      '.git/config',
      'sub/.git/hooks/pre-commit',
      '.GIT/x.json',
      'HEAD',
      'config',
      'objects/x',
      'hooks/x.sh',
    ],
    ...[
      '.vscode/tasks.json',
      '.VSCODE/Tasks.JSON',
      'a/.vscode/settings.json',
      '.devcontainer/devcontainer.json',
    ],
    ...[
      '.mcp.json',
      '.cursor/mcp.json',
      '.prettierrc.json',
      '.env.txt',
      '..a/b.json',
      '\u200c.vscode/a.json',
    ],
    ...['\ufeff.mcp.json', 'package\u200d.json', 'AGENTS.md', 'CLAUDE.md', 'docs/GEMINI.MD', 'rules.mdc'],
    ...['package.json', 'sub/PACKAGE.JSON', 'pac\u212aage.json', 'tscon\ufb01g.json', 'tsconfig.base.json'],
    ...['jsconfig.json', 'composer.json', 'deno.json', 'opencode.json', 'mcp.json', 'CMakeLists.txt'],
    ...[
      'cmakepresets.json',
      'x.code-workspace',
      'x.json5',
      'x.json.exe',
      'x.exe',
      'run.sh',
      'run.bat',
      'a.lnk',
    ],
    ...['setup.py', 'conftest.py', 'model.PY', 'Makefile', 'vocab.sh', 'tokenizer.py', 'merges.exe', 'model'],
    ...['json', 'a.ipynb', 'a.html', 'a.svg', 'desktop.ini', 'a.pkl', 'pytorch_model.bin', 'a.pt', 'a.pth'],
  ];
  it('writes only what is needed, never what a program would run or obey, and names the rest', async () => {
    for (const archive of [zipOf, tarOf]) {
      const names = [...needed, ...unneeded];
      const others = Object.fromEntries(names.map((name, at) => [`${at}/${name}`, Buffer.of(1)]));
      const leftOut = await extract(archive({ ...FILES, ...others }));
      const places = (list: string[]) => list.map((name) => `${names.indexOf(name)}/${name}`).sort();
      assert.deepEqual(
        leftOut.sort(),
        places(unneeded).map((name) => name.replace(/\u200c|\u200d|\ufeff/u, '\ufffd')),
      );
      const out = path.join(folder, 'out');
      const written = (await readdir(out, { recursive: true, withFileTypes: true }))
        .filter((entry) => !entry.isDirectory())
        .map(({ parentPath, name }) => path.relative(out, path.join(parentPath, name)));
      assert.deepEqual(written.sort(), [...Object.keys(FILES), ...places(needed)].sort());
      await rm(out, { recursive: true });
    }
  });

  it('unpacks nothing if the weights themselves are hidden', async () => {
    const hidden = Object.fromEntries(Object.entries(FILES).map(([name, data]) => [`.a/${name}`, data]));
    await assert.rejects(extract(zipOf(hidden)), { code: 'name' });
    assert.deepEqual(await readdir(folder), []);
  });

  it('never replaces a folder, not even an empty one', async () => {
    const out = path.join(folder, 'out');
    await mkdir(out);
    await assert.rejects(extract(zipOf(FILES)), { code: 'folder-exists' });
    assert.deepEqual(await readdir(out), []);
    await writeFile(path.join(out, 'mine'), '');
    await assert.rejects(extract(zipOf(FILES)), { code: 'folder-exists' });
    assert.deepEqual(await readdir(folder, { recursive: true }), ['out', 'out/mine']);
  });

  const parts = Object.entries(FILES).map(([name, data]) => ({ name, data }));
  const x = Buffer.from('x');
  const zipWith = (part: ZipPart) => writeZip([...parts, part]);
  const through = [
    { name: 'a', type: '2', linkName: '..' },
    { name: 'a/x', data: x },
  ];
  const short = { name: 'z.json', data: Buffer.alloc(99), isDeflated: true, declaredBytes: 100 };
  for (const [name, bytes, code] of [
    ['a path that leads outside', zipWith({ name: '../escaped', data: x }), 'path'],
    ['an absolute path', zipWith({ name: '/tmp/escaped', data: x }), 'path'],
    ['a link', zipWith({ name: 'a', data: Buffer.from('/etc'), mode: 0o120777 }), 'link'],
    ['a link and a file through it', writeTar([...parts, ...through]), 'link'],
    ['a CRC that is wrong', zipWith({ name: 'z.json', data: x, crc: 1 }), 'checksum'],
    ['less data than declared', zipWith(short), 'length'],
    ['a missing end', tarOf(FILES).subarray(0, -1024), 'truncated'],
    ['a missing end of the packed data', tarGzOf(FILES).subarray(0, -4), 'gzip'],
    ['no adapter', zipOf({ readme: x }), 'not-an-adapter'],
    ['no archive format', x, 'not-an-adapter'],
  ] as const)
    it(`rejects a file with ${name} and leaves nothing behind`, async () => {
      await assert.rejects(extract(bytes), { code });
      assert.deepEqual(await readdir(folder), []);
      assert.ok(!(await readdir(place.folder)).includes('escaped'));
    });

  it('removes only leftovers for the same folder that are at least a day old', async () => {
    const [old, recent, unnamed] = [randomUUID(), randomUUID(), randomUUID()];
    const names = [`${old}.part`, `${recent}.part`, 'mine.part', unnamed].map((name) => `.out.${name}`);
    const dayAgo = new Date(Date.now() - 25 * 60 * 60 * 1000);
    for (const name of names) {
      await mkdir(path.join(folder, name));
      if (!name.includes(recent)) await utimes(path.join(folder, name), dayAgo, dayAgo);
    }
    await extract(zipOf(FILES));
    assert.deepEqual((await readdir(folder)).sort(), [...names.slice(1), 'out'].sort());
  });

  it('leaves nothing behind when it is canceled', async () => {
    await assert.rejects(extract(zipOf(FILES), { signal: AbortSignal.abort() }), { code: 'cancelled' });
    const stop = new AbortController();
    const going = extract(zipOf(FILES), { signal: stop.signal, onProgress: () => stop.abort() });
    await assert.rejects(going, { code: 'cancelled' });
    assert.deepEqual(await readdir(folder), []);
  });

  it('throws if the disk cannot be written or the file is missing', async () => {
    await writeFile(path.join(folder, 'file'), '');
    const file = await place.file(zipOf(FILES));
    await assert.rejects(extractAdapter(file, path.join(folder, 'file', 'out')), {
      code: 'disk',
    });
    await assert.rejects(extractAdapter(path.join(folder, 'missing'), path.join(folder, 'out')), {
      code: 'folder-missing',
    });
  });
});
