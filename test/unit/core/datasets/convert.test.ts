import assert from 'node:assert/strict';
import { appendFile, chmod, open, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import {
  convertDataset,
  type ConvertedFile,
  type ConvertOptions,
} from '../../../../src/core/datasets/convert.ts';
import { inspectDataset, type DatasetFile } from '../../../../src/core/datasets/fileKind.ts';
import { NewFiles } from '../../../../src/core/datasets/newFiles.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { itOnLinux, itOnPosix } from '../../../helpers/platform.ts';

const WORKER = path.join(import.meta.dirname, '../../../../src/core/datasets/convertWorker.ts');
const MAX_BYTES = 600_000_000;

describe('convertDataset', function () {
  const folder = useFolder();
  const file = (name: string) => path.join(folder(), name);
  const inspected = async (name: string): Promise<DatasetFile> => {
    const source = await inspectDataset(file(name), Infinity);
    assert.ok(typeof source === 'object', name);
    return source;
  };
  const converted = async (name: string, options: ConvertOptions = {}): Promise<ConvertedFile> =>
    convertDataset(await inspected(name), WORKER, MAX_BYTES, { columns: 'all', ...options });

  it('writes a new file beside the other, named after it, never over another', async () => {
    for (const [name, content, first, second] of [
      ['data.csv', 'prompt\na\n', 'data.jsonl', 'data-2.jsonl'],
      ['rows.JSON', '[{"a":1},\n{"a":2}]', 'rows.jsonl', 'rows-2.jsonl'],
      ['train.jsonl', '[{"a":1}]', 'train.lines.jsonl', 'train.lines-2.jsonl'],
      ['wide.jsonl', Buffer.from('{"a":1}', 'utf16le'), 'wide.utf-8.jsonl', 'wide.utf-8-2.jsonl'],
      ['tabs.tsv', Buffer.from('text\na\n', 'utf16le'), 'tabs.jsonl', 'tabs-2.jsonl'],
    ] as const) {
      await writeFile(file(name), content);
      assert.equal((await converted(name)).path, file(first));
      const text = await readFile(file(first), 'utf8');
      assert.equal((await converted(name)).path, file(second));
      assert.deepEqual(
        [await readFile(file(first), 'utf8'), await readFile(file(second), 'utf8')],
        [text, text],
      );
      assert.deepEqual(await readFile(file(name)), Buffer.from(content));
    }
    assert.equal((await readdir(folder())).length, 15);
  });

  it('counts the rows and reports its progress', async () => {
    await writeFile(file('data.csv'), `prompt,completion\n${'a,b\n'.repeat(300_000)}${'c\n'.repeat(1_000)}`);
    const fractions: number[] = [];
    const { rows, leftOut } = await converted('data.csv', { onProgress: (one) => fractions.push(one) });
    assert.deepEqual([rows, leftOut], [300_000, { ragged: 1_000 }]);
    assert.ok(fractions.length > 0 && fractions.every((one) => one > 0 && one <= 1));
    assert.deepEqual(
      fractions,
      fractions.toSorted((one, other) => one - other),
    );
  });

  itOnPosix('gives others no more access to the new file than to the source', async () => {
    await writeFile(file('private.csv'), 'text\na\n');
    for (const [mode, expected] of [
      [0o600, 0o600],
      [0o400, 0o600],
    ] as const) {
      await chmod(file('private.csv'), mode);
      assert.equal((await stat((await converted('private.csv')).path)).mode & 0o777, expected);
    }
  });

  it('leaves no file if it fails', async () => {
    await writeFile(file('cut.json'), `[${'{"a":1},'.repeat(100_000)}`);
    await assert.rejects(converted('cut.json'), { code: 'not-json' });
    await writeFile(file('quote.csv'), `a,b\n${'c,d\n'.repeat(100_000)}"e" f,g\n`);
    await assert.rejects(converted('quote.csv'), { code: 'quote', row: 100_002 });
    await assert.rejects(convertDataset(await inspected('quote.csv'), WORKER, 1_000, { columns: 'all' }), {
      code: 'too-large',
    });
    await assert.rejects(
      convertDataset({ ...(await inspected('quote.csv')), path: file('gone') }, WORKER, 1),
      {
        code: 'folder-missing',
      },
    );
    assert.deepEqual(await readdir(folder()), ['cut.json', 'quote.csv']);
  });

  itOnLinux('leaves no file if the disk is full, and says so', async () => {
    await writeFile(file('data.csv'), 'text\na\n');
    const add = mock.method(NewFiles.prototype, 'add', () => open('/dev/full', 'w'));
    try {
      await assert.rejects(converted('data.csv'), { code: 'disk-full' });
    } finally {
      add.mock.restore();
    }
  });

  it('stops early when it is canceled, and leaves no file', async () => {
    await writeFile(file('data.csv'), `a,b\n${'"x",y\n'.repeat(3_000_000)}`);
    await assert.rejects(converted('data.csv', { signal: AbortSignal.abort() }), { code: 'cancelled' });
    const stop = new AbortController();
    let reached = 0;
    const onProgress = (fraction: number) => {
      reached = fraction;
      stop.abort();
    };
    await assert.rejects(converted('data.csv', { signal: stop.signal, onProgress }), { code: 'cancelled' });
    assert.ok(reached < 0.9, `${reached}`);
    assert.deepEqual(await readdir(folder()), ['data.csv']);
    // The next files get the same descriptors, which the thread must no longer use.
    const input = await open(file('data.csv'));
    const output = await open(file('other'), 'w');
    await delay(200);
    assert.equal((await output.stat()).size, 0);
    await input.close();
    await output.close();
  });

  it('leaves no file if it is canceled at the last moment', async () => {
    await writeFile(file('data.csv'), 'text\na\n');
    const stop = new AbortController();
    const terminate = Reflect.get(Worker.prototype, 'terminate');
    const ending = mock.method(Worker.prototype, 'terminate', function (this: Worker) {
      stop.abort();
      return Reflect.apply(terminate, this, []);
    });
    try {
      await assert.rejects(converted('data.csv', { signal: stop.signal }), { code: 'cancelled' });
    } finally {
      ending.mock.restore();
    }
    assert.deepEqual(await readdir(folder()), ['data.csv']);
  });

  for (const [what, change] of Object.entries({
    'has changed since it was inspected': undefined,
    'grows while it is read': (name: string) => appendFile(name, '[{"a":1}]'),
    'shrinks while it is read': (name: string) => truncate(name, 1_500_000),
  }))
    it(`leaves no file if the source ${what}`, async () => {
      await writeFile(file('changing.json'), `[${'{"a":1},'.repeat(400_000)}{"a":1}]`);
      const source = await inspected('changing.json');
      if (change === undefined) await appendFile(file('changing.json'), ' ');
      let changed: Promise<void> | undefined;
      const onProgress = () => void (changed ??= change?.(file('changing.json')));
      await assert.rejects(convertDataset(source, WORKER, MAX_BYTES, { onProgress }), { code: 'changing' });
      await changed;
      assert.deepEqual(await readdir(folder()), ['changing.json']);
    });
});
