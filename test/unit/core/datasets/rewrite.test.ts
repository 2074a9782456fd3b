import assert from 'node:assert/strict';
import { appendFile, chmod, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inspectDataset } from '../../../../src/core/datasets/fileKind.ts';
import { JsonToLines, NotJsonError, rewriteDataset } from '../../../../src/core/datasets/rewrite.ts';
import { useFolder } from '../../../helpers/folder.ts';

type Tail<T extends unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never;

function lines(latin1: string, chunkBytes = Infinity): string {
  const bytes = Buffer.from(latin1, 'latin1');
  const transform = new JsonToLines();
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += Math.min(chunkBytes, bytes.length))
    out.push(transform.push(bytes.subarray(at, at + chunkBytes)));
  transform.end();
  return Buffer.concat(out).toString('latin1');
}

describe('JsonToLines', () => {
  it('copies elements and objects byte for byte', () => {
    for (const [text, expected] of [
      ['[{}]', '{}\n'],
      [' [ {"a" : 1.0} ,\n{"b":"\\u00e9, ]\\"[\\\\"} ] \n', '{"a" : 1.0}\n{"b":"\\u00e9, ]\\"[\\\\"}\n'],
      ['[{"a":1e400},{"b":[[1],[2]]}]', '{"a":1e400}\n{"b":[[1],[2]]}\n'],
      ['[{"a":[1,\n  2]\r\n,\t"b":{}}]', '{"a":[1, 2] ,\t"b":{}}\n'],
      ['\xef\xbb\xbf[{}]', '{}\n'],
      ['[{"a":tru\ne}]', '{"a":tru e}\n'],
      ['[{"a":1},]', '{"a":1}\n'],
      [`[{"a":${' '.repeat(5_000)}1}]`, '{"a": 1}\n'],
      ['{}', '{}\n'],
      ['\xef\xbb\xbf\n{"a":\n {"b":"}{"}\n}\n\n{}{"c":[\n]}', '{"a": {"b":"}{"} }\n{}\n{"c":[ ]}\n'],
    ] as const)
      for (const chunkBytes of [Infinity, 1, 3])
        assert.equal(lines(text, chunkBytes), expected, `${text} by ${chunkBytes}`);
  });

  it('converts pretty-printed JSON without changing its value', () => {
    const rows = Array.from({ length: 50 }, (_, index) => ({
      messages: [{ role: 'user', content: `"${index}" \\ [é]\n` }, { deep: [[{}], [], 'x,'] }],
    }));
    const pretty = (value: unknown) => JSON.stringify(value, null, 2);
    for (const text of [pretty(rows), rows.map(pretty).join('\n')])
      assert.deepEqual(JSON.parse(`[${lines(text, 7).trimEnd().replaceAll('\n', ',')}]`), rows);
  });

  it('rejects incomplete JSON and line breaks inside strings', () => {
    const refused = [
      '',
      ' ',
      '[]',
      ' [ ] ',
      '{',
      '{}}',
      '{},{}',
      '{}[]',
      '1',
      '{"a\nb":1}',
      '[{}',
      '[{}] {}',
      '[{}]\n[{}]',
      '["a\nb"]',
      '[{"a":"]',
      '[}]',
      '[1]',
      '[[1]]',
    ];
    for (const text of [...refused, '\xef[{}]', '\xef\xbb\xbf\xef\xbb\xbf[{}]'])
      assert.throws(() => lines(text), NotJsonError, text);
  });
});

describe('rewriteDataset', () => {
  const folder = useFolder();
  const file = (name: string) => path.join(folder(), name);
  const rewritten = async (name: string, ...rest: Tail<Parameters<typeof rewriteDataset>>) => {
    const source = await inspectDataset(file(name), Infinity);
    assert.ok(typeof source === 'object', name);
    return rewriteDataset(source, ...rest);
  };

  it('writes a new file beside the dataset, never over another', async () => {
    await writeFile(file('train.jsonl'), '[{"a":1},\n{"a":2}]');
    const first = await rewritten('train.jsonl', 'json-to-lines');
    const second = await rewritten('train.jsonl', 'json-to-lines');
    assert.deepEqual([first, second], [file('train.lines.jsonl'), file('train.lines-2.jsonl')]);
    assert.equal(await readFile(first, 'utf8'), '{"a":1}\n{"a":2}\n');
    assert.equal(await readFile(file('train.jsonl'), 'utf8'), '[{"a":1},\n{"a":2}]');
  });

  it('gives others no more access to the copy than to the dataset', async function () {
    if (process.platform === 'win32') this.skip();
    await writeFile(file('private.jsonl'), '[{}]');
    for (const [mode, expected] of [
      [0o600, 0o600],
      [0o400, 0o600],
      [0o700, 0o600],
    ] as const) {
      await chmod(file('private.jsonl'), mode);
      const written = await rewritten('private.jsonl', 'json-to-lines');
      assert.equal((await stat(written)).mode & 0o777, expected);
    }
  });

  it('removes a byte order mark only from the start', async () => {
    await writeFile(file('bom.jsonl'), '\uFEFF{}\n\uFEFF{}\n');
    const written = await rewritten('bom.jsonl', 'without-bom');
    assert.equal(written, file('bom.no-bom.jsonl'));
    assert.equal(await readFile(written, 'utf8'), '{}\n\uFEFF{}\n');
  });

  it('leaves no file if it fails or is canceled', async () => {
    await writeFile(file('cut.jsonl'), `[${'{"a":1},'.repeat(300_000)}`);
    await assert.rejects(rewritten('cut.jsonl', 'json-to-lines'), { code: 'not-json' });
    const stop = new AbortController();
    const options = { signal: stop.signal, onProgress: () => stop.abort() };
    await assert.rejects(rewritten('cut.jsonl', 'json-to-lines', options), { code: 'cancelled' });
    const gone = { path: file('gone.jsonl'), sizeBytes: 1, mtimeMs: 1, ctimeMs: 1 };
    await assert.rejects(rewriteDataset(gone, 'without-bom'), { code: 'ENOENT' });
    assert.deepEqual(await readdir(folder()), ['cut.jsonl']);
  });

  for (const [what, change] of Object.entries({
    'has changed since it was inspected': undefined,
    'grows while it is read': (name: string) => appendFile(name, '[{"a":1}]'),
    'shrinks while it is read': (name: string) => truncate(name, 1_500_000),
  }))
    it(`leaves no file if the dataset ${what}`, async () => {
      const name = file('changing.jsonl');
      await writeFile(name, `[${'{"a":1},'.repeat(300_000)}{"a":1}]`);
      const source = await inspectDataset(name, Infinity);
      assert.ok(typeof source === 'object');
      if (change === undefined) await appendFile(name, ' ');
      let changed: Promise<void> | undefined;
      const onProgress = () => void (changed ??= change?.(name));
      await assert.rejects(rewriteDataset(source, 'json-to-lines', { onProgress }), { code: 'changing' });
      await changed;
      assert.deepEqual(await readdir(folder()), ['changing.jsonl']);
    });
});
