import assert from 'node:assert/strict';
import { ReportBuilder } from '../../../../src/core/datasets/buildReport.ts';
import { MAX_COMPARED_ROWS } from '../../../../src/core/datasets/sameRows.ts';
import { SEGMENT_BYTES } from '../../../../src/core/datasets/segments.ts';
import { problemsOf, useChecker } from '../../../helpers/checker.ts';
import { Random } from '../../../helpers/random.ts';
import { reportOf } from '../../../helpers/report.ts';

type Found = [row: number, line: number, of: string];

describe('duplicate rows', () => {
  const { check } = useChecker();

  async function duplicatesIn(content: string): Promise<Found[]> {
    const found = problemsOf(await check(content)).filter(({ code }) => code === 'duplicate-row');
    return found.map(({ row, line, detail = '' }) => [row, line, detail]);
  }
  const pretty = [1, 2, 3].map((n) => JSON.stringify({ text: String(n), more: [] }, null, 2)).join('\n');

  for (const [title, content, expected] of [
    ['are found, each with the first equal row', 'a\nb\na\na\nb', ['3 3 1', '4 4 1', '5 5 2']],
    ['are equal with any line end', 'a\r\na\na', ['2 2 1', '3 3 1']],
    ['differ by a single byte', 'a\na \nA\n a\na\r', []],
    ['are JSON, not objects with a comma, which may be elements', 'a,\na,\n[\n[', []],
    ['are never blank', '\n\n  \n  \n\r\n\r\n', []],
    ['do not include the lines of pretty-printed objects', pretty, []],
    ['are found after pretty-printed objects', `${pretty}\na\na`, ['14 14 13']],
    // Rows 2, 6, and 7 contain lone CRs.
    [
      'have the right row and line after blank rows, lone CRs, and a byte order mark',
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

  it('are found across segments of the file, also if rows with lone CRs cross their borders', async () => {
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
    // Rows around the lengths that are hashed at once, and long rows.
    for (const length of [...Array(40).keys(), 8_192, 1_000_000]) {
      const row = (end: string) => `{"text":"${'x'.repeat(length)}${end}"}`;
      const content = `${row('a')}\n${row('b')}\r\n${row('a')}\r\n${row('b')}`;
      const expected = [
        [3, 3, '1'],
        [4, 4, '2'],
      ];
      assert.deepEqual(await duplicatesIn(content), expected, String(length));
    }
  });

  it('are distinguished from 300,000 similar rows', async () => {
    const rows = Array.from({ length: 300_000 }, (_, n) => `{"a":${n % 1000},"b":"${'x'.repeat(40)}${n}"}`);
    assert.deepEqual(await duplicatesIn([...rows, rows[7]].join('\n')), [[300_001, 300_001, '8']]);
  });

  it('are looked for in the first 8,000,000 rows, and the report says so', () => {
    const builder = new ReportBuilder();
    const rows = MAX_COMPARED_ROWS / 2 + 1;
    for (let number = 0; number < 3; number++) {
      const runs = new Uint32Array(3);
      const [hashes, starts] = [new Uint32Array(2 * rows), new Uint32Array(rows)];
      const hashed = [{ base: 0, hashes, prompts: undefined, starts, runs }];
      const counts = { rows, blankRows: 0, lineBreaks: 0, characters: 0 };
      builder.addSegment({ number, ...counts, places: [], hashed });
    }
    const { comparedRows } = builder.build(reportOf({}), 'rows');
    assert.deepEqual([builder.hashes.length / 2, comparedRows], [MAX_COMPARED_ROWS, MAX_COMPARED_ROWS]);
  });
});
