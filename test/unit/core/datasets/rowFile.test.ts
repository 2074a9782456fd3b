import assert from 'node:assert/strict';
import { appendFile, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { lineOfRow, rowOfLine, RowFile, BLOCK_BYTES } from '../../../../src/core/datasets/rowFile.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { Random } from '../../../helpers/random.ts';

const NO_LIMITS = { rowBytes: 1e9, totalBytes: 1e9 };
const signal = () => new AbortController().signal;

describe('RowFile', () => {
  const folder = useFolder();
  let file: string;
  let opened: RowFile[];

  beforeEach(() => {
    file = path.join(folder(), 'rows.jsonl');
    opened = [];
  });
  afterEach(() => {
    for (const one of opened) one.dispose();
  });

  async function openFile(): Promise<RowFile> {
    const rows = await RowFile.open(file);
    opened.push(rows);
    return rows;
  }

  async function counted(content: string | Buffer): Promise<RowFile> {
    await writeFile(file, content);
    const rows = await openFile();
    await rows.count(signal(), () => undefined);
    return rows;
  }

  async function texts(rows: RowFile, from: number, count: number): Promise<string[]> {
    return (await rows.readRows(from, count, NO_LIMITS)).map(({ bytes }) => bytes.toString());
  }

  it('splits at LF only, whether with a final LF, CRLF, a lone CR, or blank rows', async () => {
    for (const [content, expected] of [
      ['a\r\nb\rc\n\nd\u2028e', ['a\r', 'b\rc', '', 'd\u2028e']],
      ['a\nb\n', ['a', 'b']],
      ['\n', ['']],
      ['', []],
    ] as const) {
      const rows = await counted(content);
      assert.equal(rows.rows, expected.length);
      assert.deepEqual(await texts(rows, 1, 10), expected);
      for (const from of [0, -5, expected.length + 1, 1e9]) assert.deepEqual(await texts(rows, from, 3), []);
    }
  });

  it('finds the same rows in random files as splitting at LF', async () => {
    const generator = new Random(7);
    const random = (below: number) => generator.below(below);
    for (let round = 0; round < 6; round++) {
      const longest = [3, 40, 700, 90_000, 300_000][round % 5] ?? 3;
      const parts: string[] = [];
      for (let bytes = 0; bytes < 600_000;) {
        // A quarter of the rows have about the length of a block.
        const length = random(4) === 0 ? BLOCK_BYTES - 2 + random(5) : random(longest);
        parts.push('x'.repeat(length));
        bytes += length + 1;
      }
      const text = parts.join('\n') + (round % 2 === 0 ? '\n' : '');
      const expected = text.split('\n');
      if (expected.at(-1) === '') expected.pop();
      const rows = await counted(text);
      assert.equal(rows.rows, expected.length);
      for (let times = 0; times < 40; times++) {
        const from = 1 + random(expected.length);
        const count = 1 + random(20);
        const limits = { rowBytes: 1 + random(200_000), totalBytes: 1e9 };
        const found = await rows.readRows(from, count, limits);
        const wanted = expected.slice(from - 1, from - 1 + count);
        assert.deepEqual(
          found.map(({ bytes, sizeBytes }) => [bytes.length, sizeBytes]),
          wanted.map((row) => [Math.min(row.length, limits.rowBytes), row.length]),
        );
        const before = expected.slice(0, from - 1).reduce((sum, row) => sum + row.length + 1, 0);
        assert.equal(await rows.offsetOf(from), before);
      }
    }
  });

  it('reads the length and first bytes of a 200 MB row, and the row after it', async function () {
    await writeFile(file, 'first\n');
    await truncate(file, 200_000_006); // sparse
    await appendFile(file, '\nlast');
    const rows = await openFile();
    await rows.count(signal(), () => undefined);
    assert.equal(rows.rows, 3);
    const found = await rows.readRows(1, 3, { rowBytes: 1_000, totalBytes: 1e6 });
    assert.deepEqual(
      found.map(({ bytes, sizeBytes }) => [bytes.length, sizeBytes]),
      [
        [5, 5],
        [1_000, 200_000_000],
        [4, 4],
      ],
    );
  });

  it('reads the first rows before counting is done, but no row that is not counted yet', async () => {
    await writeFile(file, `first\n${'x'.repeat(3_000_000)}\nlast`);
    const rows = await openFile();
    assert.equal(rows.rows, 0);
    const seen: number[] = [];
    let early: string[] = [];
    let reading: Promise<void> | undefined;
    await rows.count(signal(), () => {
      seen.push(rows.rows);
      reading ??= texts(rows, 1, 5).then((found) => {
        early = found;
      });
    });
    await reading;
    assert.deepEqual(seen, [1, 1, 3]);
    assert.equal(early[0], 'first');
    assert.ok(rows.isCounted);
  });

  it('yields to the event loop while counting, and stops when canceled', async () => {
    await writeFile(file, Buffer.alloc(20_000_000, 'a\n'));
    const rows = await openFile();
    let turns = 0;
    const counting = rows.count(signal(), () => undefined);
    while (!rows.isCounted) {
      await turn();
      turns++;
    }
    await counting;
    assert.ok(turns >= 20, String(turns));
    const stop = new AbortController();
    const other = await openFile();
    const stopped = other.count(stop.signal, () => stop.abort());
    await assert.rejects(stopped, CancelledError);
    assert.ok(!other.isCounted && other.rows < 1_500_000);
  });

  it('throws for a file that is missing or cannot be read', async () => {
    for (const name of [file, path.join(folder(), 'no', 'such')])
      await assert.rejects(RowFile.open(name), { code: 'missing' });
    const rows = await RowFile.open(folder());
    opened.push(rows);
    const counting = rows.count(signal(), () => undefined);
    await assert.rejects(counting, { code: 'unreadable' });
  });

  it('notices when the file is changed, replaced, or deleted', async () => {
    const rows = await counted('a\n');
    assert.equal(await rows.compareWithDisk(), 'same');
    await appendFile(file, 'b\n');
    assert.equal(await rows.compareWithDisk(), 'changed');
    const rewritten = await openFile();
    await writeFile(file, 'A\nB\n');
    await utimes(file, 1, 1);
    assert.equal(await rewritten.compareWithDisk(), 'changed');
    const again = await openFile();
    await writeFile(`${file}.new`, 'a\nb\n');
    await rename(`${file}.new`, file);
    assert.equal(await again.compareWithDisk(), 'changed');
    await rm(file);
    assert.equal(await again.compareWithDisk(), 'missing');
  });

  it('maps rows to the editor’s lines, which also end at a lone CR', async () => {
    const rows = await counted('a\rb\nc\r\rd\r\ne');
    const [numbers, lines] = [
      [1, 2, 3],
      [1, 2, 3, 4, 5, 6],
    ];
    assert.deepEqual(await Promise.all(numbers.map((row) => lineOfRow(rows, row))), [1, 3, 6]);
    assert.deepEqual(await Promise.all(lines.map((line) => rowOfLine(rows, line))), [1, 1, 2, 2, 2, 3]);
  });
});
