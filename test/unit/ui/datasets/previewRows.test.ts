import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import type { ModuleHooks } from 'node:module';
import path from 'node:path';
import { PROBLEMS, ProblemGroup, type ProblemCode } from '../../../../src/core/datasets/problems.ts';
import type { Report } from '../../../../src/core/datasets/report.ts';
import { RowFile } from '../../../../src/core/datasets/rowFile.ts';
import type { PreviewRow } from '../../../../src/ui/datasets/protocol.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { reportOf } from '../../../helpers/report.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

const CAP = 256 * 1024;

/** Each place consists of row, line, column, offset and length. */
function reportWith(code: ProblemCode, ...places: number[][]): Report {
  const number = PROBLEMS.findIndex(([name]) => name === code);
  return reportOf({
    problems: [new ProblemGroup(number, places.length, new Float64Array(places.flat()), [])],
  });
}

describe('previewRows', () => {
  const folder = useFolder();
  let file: RowFile | undefined;
  let hooks: ModuleHooks;
  let previewRows: typeof import('../../../../src/ui/datasets/previewRows.ts').previewRows;

  before(async () => {
    hooks = standInForVscode();
    ({ previewRows } = await import('../../../../src/ui/datasets/previewRows.ts'));
  });
  after(() => hooks.deregister());

  afterEach(() => {
    file?.dispose();
  });

  async function rowsOf(content: string | Buffer, report?: Report, wanted = [1]): Promise<PreviewRow[]> {
    const name = path.join(folder(), 'rows.jsonl');
    await writeFile(name, content);
    file?.dispose();
    file = await RowFile.open(name);
    await file.count(new AbortController().signal, () => undefined);
    return previewRows(file, report, wanted);
  }

  it('locates problems in UTF-16 units and quotes the text around errors', async () => {
    const text = '{"a": "😀 é",}';
    const offset = Buffer.byteLength('x\n{"a": "😀 é"');
    const [, row] = await rowsOf(`x\n${text}\n`, reportWith('trailing-comma', [2, 2, 13, offset, 1]), [1, 2]);
    const [problem] = row!.problems;
    assert.equal(problem?.at, text.indexOf(',}'));
    assert.deepEqual(problem.excerpt, { before: '{"a": "😀 é"', marked: ',', after: '}' });
    assert.equal(problem.place, 'line 2, column 13');
  });

  it('points after the end of an incomplete row', async () => {
    const [row] = await rowsOf('{"a":\n', reportWith('unexpected-end', [1, 1, 6, 5, 1]));
    const [problem] = row!.problems;
    assert.deepEqual([problem?.at, problem?.excerpt], [5, { before: '{"a":', marked: '', after: '' }]);
  });

  it('quotes nothing for a warning', async () => {
    const [row] = await rowsOf('{"a":"jane"}\n', reportWith('email-address', [1, 1, 7, 6, 4]));
    assert.deepEqual([row?.problems[0]?.excerpt, row?.problems[0]?.at], [undefined, 6]);
  });

  it('names what is to be marked, and links a duplicate to the row that it repeats', async () => {
    const groups = [
      ...reportWith('email-address', [1, 1, 7, 6, 4]).problems,
      new ProblemGroup(
        PROBLEMS.findIndex(([name]) => name === 'duplicate-row'),
        1,
        new Float64Array([1, 1, 1, 0, 1]),
        ['1234'],
      ),
    ];
    const [row] = await rowsOf('{"a":"jane"}\n', reportOf({ problems: groups }));
    assert.deepEqual(
      row?.problems.map(({ mark, repeats }) => [mark, repeats]),
      [
        [undefined, { row: 1_234, text: 'Go to Row 1,234' }],
        ['Possible email address', undefined],
      ],
    );
  });

  it('shows invalid bytes as replacement characters and counts them in offsets', async () => {
    const bytes = Buffer.from([0x61, 0xff, 0xc3, 0x28, 0x62]);
    const [row] = await rowsOf(bytes, reportWith('invalid-utf8', [1, 1, 2, 1, 1]));
    assert.deepEqual([row?.text, row?.problems[0]?.at], ['a\ufffd\ufffd(b', 1]);
  });

  it('cuts a long row between characters, and quotes errors beyond the cut', async () => {
    const offset = 3 * 200_000 + 1;
    const report = reportWith('bad-escape', [1, 1, 200_002, offset, 1]);
    const [row, next] = await rowsOf(`x${'€'.repeat(400_000)}\nnext`, report, [1, 2]);
    assert.equal(row?.text, `x${'€'.repeat(Math.floor((CAP - 1) / 3))}`);
    assert.equal(row.rest, '937.9 kB more not shown');
    const [problem] = row.problems;
    assert.equal(problem?.at, undefined);
    assert.deepEqual(problem?.excerpt, {
      before: `…${'€'.repeat(40)}`,
      marked: '€',
      after: `${'€'.repeat(39)}…`,
    });
    assert.deepEqual([next?.text, next?.rest], ['next', undefined]);
  });

  it('reports that there are more problems than listed', async () => {
    const places = Array.from({ length: 30 }, (_, index) => [1, 1, index + 1, index, 1]);
    const [row] = await rowsOf(`${'x'.repeat(100)}\n`, reportWith('bad-escape', ...places));
    assert.equal(row?.problems.length, 20);
    assert.equal(row.moreProblems, 'More problems not shown');
  });

  it('returns rows in the requested order, as many as fit into a message', async () => {
    const all = Array.from({ length: 50 }, (_, index) => index + 1);
    const content = all.map((row) => `${row} ${'x'.repeat(100_000)}`).join('\n');
    const wanted = [3, 4, 5, 20, 40, 41];
    const found = await rowsOf(content, undefined, wanted);
    assert.deepEqual(
      found.map(({ row }) => row),
      wanted,
    );
    const some = await rowsOf(content, undefined, all);
    assert.ok(some.length >= 9 && some.length <= 11, String(some.length));
  });
});
