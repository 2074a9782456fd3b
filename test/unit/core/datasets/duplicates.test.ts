import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ReportBuilder } from '../../../../src/core/datasets/buildReport.ts';
import { findDuplicates, type Duplicates, FileRows } from '../../../../src/core/datasets/duplicates.ts';
import type { Segment } from '../../../../src/core/datasets/segments.ts';
import { problemsOf, useChecker } from '../../../helpers/checker.ts';
import { Random } from '../../../helpers/random.ts';

const SEGMENT_BYTES = 4 * 1024 * 1024;
type Found = [row: number, line: number, of: string];

describe('duplicate rows', () => {
  const { check, folder } = useChecker();

  async function duplicatesIn(content: string): Promise<Found[]> {
    const found = problemsOf(await check(content)).filter(({ code }) => code === 'duplicate-row');
    return found.map(({ row, line, detail = '' }) => [row, line, detail]);
  }
  const pretty = [1, 2, 3].map((n) => JSON.stringify({ text: String(n), more: [] }, null, 2)).join('\n');

  for (const [title, content, expected] of [
    ['are found, each with the first that is the same', 'a\nb\na\na\nb', ['3 3 1', '4 4 1', '5 5 2']],
    ['are the same whatever ends them', 'a\r\na\na', ['2 2 1', '3 3 1']],
    ['differ by a single byte', 'a\na \nA\n a\na\r', []],
    ['are never blank', '\n\n  \n  \n\r\n\r\n', []],
    ['are not parts of rows that were broken into lines', pretty, []],
    ['are found behind such parts', `${pretty}\na\na`, ['14 14 13']],
    // The lone CRs are in the rows 2, 6 and 7.
    [
      'have the right row and line behind blank rows, lone CRs and a byte order mark',
      '\ufeff\n{"text":\r"a"}\n\n \r\nb\r\n\r\r\n{"text":\r"a"}\n\nb',
      ['7 9 2', '9 12 5'],
    ],
  ] as const)
    it(title, async () => {
      const rows = content.replace(/^( ?)([abA])/gm, '$1{"text":"$2"}');
      assert.deepEqual(
        (await duplicatesIn(rows)).map((one) => one.join(' ')),
        expected,
      );
    });

  it('are found across pieces of the file, with lone CRs in rows that go over their borders', async () => {
    const random = new Random(3);
    const rows: string[] = [];
    for (let bytes = 0; bytes < 3 * SEGMENT_BYTES; bytes += rows.at(-1)!.length + 1) {
      const kind = random.below(5);
      if (kind === 0) rows.push(random.of(['', ' ', '\r']));
      else if (kind === 1 && rows.length > 0) rows.push(random.of(rows));
      else rows.push(`{"id":${rows.length},"text":\r"${'x'.repeat(random.below(30_000))}"\r}`);
    }
    const seen = new Map<string, number>();
    const expected: Found[] = [];
    let line = 1;
    for (const [index, row] of rows.entries()) {
      const content = row.replace(/\r$/, '');
      const first = seen.get(content);
      if (content.trim() !== '' && first !== undefined) expected.push([index + 1, line, String(first)]);
      else seen.set(content, index + 1);
      line += content.split('\r').length;
    }
    assert.ok(expected.length > 50);
    assert.deepEqual(await duplicatesIn(rows.join('\n')), expected);
  });

  it('are compared to the last byte, however long', async () => {
    // Around the lengths of what is read at once, with the frame of the row.
    const lengths = [50, 8180, 8192, 262_130, 262_144].flatMap((bytes) =>
      Array.from({ length: bytes > 262_000 ? 15 : 8 }, (_, more) => bytes + more),
    );
    for (const length of [...lengths, 1_000_000]) {
      const row = (end: string) => `{"text":"${'x'.repeat(length)}${end}"}`;
      const content = `${row('a')}\n${row('b')}\r\n${row('a')}\r\n${row('b')}`;
      const expected = [
        [3, 3, '1'],
        [4, 4, '2'],
      ];
      assert.deepEqual(await duplicatesIn(content), expected, String(length));
    }
  });

  describe('where all hashes are the same', () => {
    async function search(
      rows: readonly string[],
      { limit = 100, eol = '\n', ...more }: { limit?: number; maxRows?: number; eol?: string } = {},
    ): Promise<Duplicates> {
      const file = path.join(folder(), 'collisions.jsonl');
      const content = rows.join(eol);
      await writeFile(file, content);
      const starts = Uint32Array.from(
        rows,
        (_, index) => rows.slice(0, index).join(eol).length + (index && eol.length),
      );
      const hashes = new Uint32Array(rows.length).fill(1);
      const begins = { number: 0, firstRow: 0, firstLine: 0, firstOffset: 0, lineBreaks: 0 };
      const fd = openSync(file, 'r');
      try {
        const segments = [{ ...begins, hashes, starts, rows: undefined }];
        return findDuplicates(segments, new FileRows(fd, content.length), limit, () => true, more.maxRows);
      } finally {
        closeSync(fd);
      }
    }

    it('only the bytes decide', async () => {
      const rows = ['{"a":1}', '{"a":2}', '{"a":10}', '{"a":1}', '{"a":1} ', '{"a":10}', '{"a":1', ''];
      for (const eol of ['\n', '\r\n']) {
        const { total, details, places } = await search(rows, { eol });
        assert.deepEqual([total, details, places[0], places[5]], [2, ['1', '3'], 4, 6]);
      }
    });

    it('all are counted, and some located', async () => {
      const rows = Array.from({ length: 50 }, () => '{}');
      const { total, details } = await search(rows, { limit: 7 });
      assert.deepEqual([total, details.length], [49, 7]);
    });

    it('rows beyond a limit are not compared, and the result says so', async () => {
      const rows = ['{}', '[]', '1', '{}', '1', '{}'];
      const { total, details, lastRow } = await search(rows, { maxRows: 4 });
      assert.deepEqual([total, details, lastRow], [1, ['1'], 4]);
      assert.equal((await search(rows, { maxRows: 6 })).lastRow, undefined);
    });
  });

  it('are searched in a bounded number of rows, whichever segment comes first', () => {
    const builder = new ReportBuilder(10, 5);
    const rows = () => Uint32Array.from([1, 5, 9]);
    const segment = (number: number): Segment => ({
      ...{
        number,
        rows: 10,
        blankRows: 7,
        lineBreaks: 0,
        characters: 0,
        places: [],
        firstOffset: number * 100,
      },
      hashed: { hashes: new Uint32Array(3), starts: rows(), rows: rows() },
    });
    for (const number of [3, 1, 0, 2, 4]) builder.addSegment(segment(number));
    assert.deepEqual(
      builder.takeHashed().map(({ starts, firstRow, firstOffset }) => [starts.length, firstRow, firstOffset]),
      [
        [3, 0, 0],
        [3, 10, 100],
        [0, 20, 200],
        [0, 30, 300],
        [0, 40, 400],
      ],
    );
    const file = { path: '', sizeBytes: 0, mtimeMs: 0, ctimeMs: 0 };
    for (const [lastRow, expected] of [
      [16, 16],
      [undefined, 50],
    ] as const) {
      const duplicates = { total: 0, places: new Float64Array(), details: [], lastRow };
      assert.equal(builder.build(file, 'rows', duplicates).duplicatesLookedForRows, expected);
    }
  });
});
