import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { RowFile } from '../../../../src/core/datasets/rowFile.ts';
import { MAX_SEARCH_UNITS, searchPattern, searchRows } from '../../../../src/core/datasets/rowList.ts';

describe('search in rows', () => {
  let folder: string;
  let number = 0;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'search-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function withFile<T>(content: string | Buffer, use: (file: RowFile) => Promise<T>): Promise<T> {
    const name = path.join(folder, `${number++}.jsonl`);
    await writeFile(name, content);
    const file = await RowFile.open(name);
    try {
      return await use(file);
    } finally {
      file.dispose();
    }
  }

  function find(content: string | Buffer, text: string, matchCase = false): Promise<number[]> {
    return withFile(content, async (file) => {
      const pattern = searchPattern(text, matchCase);
      assert.ok(pattern);
      const rows: number[] = [];
      for await (const step of searchRows(file, pattern, new AbortController().signal))
        rows.push(...step.rows);
      return rows;
    });
  }

  it('finds each row once, with or without regard to case', async () => {
    const content = '{"a":"Cat cat"}\n{"a":"dog"}\n{"a":"CAT"}';
    assert.deepEqual(await find(content, 'cat'), [1, 3]);
    assert.deepEqual(await find(content, 'cat', true), [1]);
    assert.deepEqual(await find(content, 'bird'), []);
  });

  it('finds text in every spelling that JSON has for it', async () => {
    const content = [
      '{"a":"he said \\"hi\\""}',
      '{"a":"h\\u00e9 \\ud83d\\ude00"}',
      '{"a":"hé 😀"}',
      '{"a":"C:\\\\temp a\\/b a/b"}',
      '{"a":"H\\u00C9"}',
    ].join('\n');
    assert.deepEqual(await find(content, 'said "hi"'), [1]);
    assert.deepEqual(await find(content, 'hé'), [2, 3, 5]);
    assert.deepEqual(await find(content, 'HÉ', true), [5]);
    assert.deepEqual(await find(content, 'é 😀'), [2, 3]);
    assert.deepEqual(await find(content, 'c:\\temp'), [4]);
    assert.deepEqual(await find(content, 'a/b'), [4]);
  });

  it('takes what is typed for text, not for a pattern', async () => {
    const content = 'a.c\nabc\n(x|y)*[z]{2}^$+?\n';
    assert.deepEqual(await find(content, 'a.c'), [1]);
    assert.deepEqual(await find(content, '(x|y)*[z]{2}^$+?'), [3]);
    assert.equal(searchPattern('', true), undefined);
    assert.equal(searchPattern('x'.repeat(1_000), true)?.expression.source.length, MAX_SEARCH_UNITS);
  });

  it('does not find across the end of a row', async () => {
    assert.deepEqual(await find('ab\ncd\n', 'bc'), []);
  });

  it('finds what lies on the border of two pieces, whatever its bytes', async () => {
    const piece = 128 * 1024;
    for (const word of ['needle', 'nädel', '針針', 'na😀del']) {
      for (let back = 0; back <= Buffer.byteLength(word) + 1; back++) {
        const before = `first\n${'x'.repeat(piece - 6 - 1 - back)}\n`;
        assert.deepEqual(await find(`${before}${word}\n${'y'.repeat(300)}\n`, word), [3], `${word} ${back}`);
      }
    }
  });

  it('begins each piece at its start, wherever the last match was', async () => {
    const piece = 128 * 1024;
    const long = `${'x'.repeat(piece - 100)}needle${'x'.repeat(5_000)}`;
    assert.deepEqual(await find(`${long}\nneedle\n${'y'.repeat(piece)}`, 'needle'), [1, 2]);
  });

  it('finds the same as comparing parsed rows, in random texts of all kinds of characters', async () => {
    let seed = 11;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const characters = Array.from('aAbBéÉãÃ\u00c3\u00a9€🚀"\\/.*[- ');
    const textOf = (length: number) =>
      Array.from({ length }, () => characters[random(characters.length)]).join('');
    const asciiOnly = (json: string) =>
      json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    const rows = Array.from({ length: 3_000 }, () => textOf(8));
    const lines = rows.map((text, index) => {
      const json = JSON.stringify([text]);
      return index % 3 === 0 ? asciiOnly(json) : json;
    });
    for (let round = 0; round < 60; round++) {
      const text = textOf(1 + random(3));
      for (const matchCase of [true, false]) {
        const normal = (value: string) => (matchCase ? value : value.toLowerCase());
        const expected = rows.flatMap((row, index) =>
          normal(row).includes(normal(text)) ? [index + 1] : [],
        );
        const found = new Set(await find(lines.join('\n'), text, matchCase));
        const missed = expected.filter((row) => !found.has(row));
        assert.deepEqual(missed, [], `${JSON.stringify(text)} ${matchCase}`);
        // The file's own backslashes and quotes are found as well.
        if (text.includes('\\')) continue;
        const spelled = (row: number) => [JSON.stringify([rows[row - 1]]), lines[row - 1] ?? ''];
        const wrong = [...found].filter(
          (row) => !expected.includes(row) && !spelled(row).some((one) => normal(one).includes(normal(text))),
        );
        assert.deepEqual(wrong, [], `${JSON.stringify(text)} ${matchCase}`);
      }
    }
  });

  it('takes a long row full of matches as one', async function () {
    this.timeout(20_000);
    const content = Buffer.alloc(50_000_000, 'needle');
    content.write('\nneedle', content.length - 20);
    const begun = performance.now();
    assert.deepEqual(await find(content, 'NEEDLE'), [1, 2]);
    assert.ok(performance.now() - begun < 5_000);
  });

  it('goes through invalid UTF-8', async () => {
    const broken = Buffer.concat([
      Buffer.from('a\n'),
      Buffer.alloc(400_000, 0xc3),
      Buffer.from('\nneedle\n'),
    ]);
    assert.deepEqual(await find(broken, 'needle'), [3]);
    assert.deepEqual(await find(Buffer.alloc(400_000, 0x80), 'needle'), []);
  });

  it('stays quick at each step on the worst text, and stops when cancelled', async () => {
    await withFile(Buffer.alloc(2_000_000, 'a'), async (file) => {
      const pattern = searchPattern(`${'a'.repeat(MAX_SEARCH_UNITS - 1)}b`, false);
      assert.ok(pattern);
      const stop = new AbortController();
      const steps = searchRows(file, pattern, stop.signal);
      let longest = 0;
      for (let count = 0; count < 5; count++) {
        const begun = performance.now();
        await steps.next();
        longest = Math.max(longest, performance.now() - begun);
      }
      assert.ok(longest < 250, `${longest} ms`);
      stop.abort();
      await assert.rejects(steps.next(), CancelledError);
    });
  });
});
