import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import type { ProblemCode } from '../../../../src/core/datasets/problems.ts';
import {
  type ProblemChoice,
  type ProblemRows,
  type Report,
  problemsOfRow,
  rowsWithProblems,
} from '../../../../src/core/datasets/report.ts';
import { RowFile } from '../../../../src/core/datasets/rowFile.ts';
import {
  MAX_SEARCH_UNITS,
  RowList,
  SEARCH_PAGE_ROWS,
  searchPattern,
  searchRows,
  type ListPhase,
} from '../../../../src/core/datasets/rowList.ts';
import { Random } from '../../../helpers/random.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';

/** Returns a report that locates problems in the given rows. `total` is how many problems of each code the file has. */
function reportWith(found: Partial<Record<ProblemCode, number[]>>, total?: number): Report {
  const groups = Object.entries(found).map(([code, rows]) => {
    const places = rows.map((row, index) => ({ row, column: index + 1 }));
    return groupOf(code as ProblemCode, places, total);
  });
  return reportOf({ problems: groups });
}

describe('problems of rows', () => {
  const report = reportWith(
    { 'bad-escape': [2, 2, 9], 'trailing-comma': [2, 5], 'email-address': [1, 9] },
    10,
  );

  it('rowsWithProblems returns each chosen row once, and how many problems have a location', () => {
    assert.deepEqual(rowsWithProblems(report, 'all'), { rows: [1, 2, 5, 9], located: 7, total: 30 });
    assert.deepEqual(rowsWithProblems(report, 'grammar').rows, [2, 5, 9]);
    assert.deepEqual(rowsWithProblems(report, 'privacy'), { rows: [1, 9], located: 2, total: 10 });
    assert.deepEqual(rowsWithProblems(report, 'bad-escape').rows, [2, 9]);
    assert.deepEqual(rowsWithProblems(report, 'crlf').rows, []);
  });

  it('problemsOfRow returns a row’s problems in file order', () => {
    const of = (row: number, most = 10) => problemsOfRow(report, row, most).map(({ code }) => code);
    assert.deepEqual(of(2), ['bad-escape', 'trailing-comma', 'bad-escape']);
    assert.deepEqual(of(2, 2), ['bad-escape', 'trailing-comma']);
    assert.deepEqual(of(9), ['email-address', 'bad-escape']);
    assert.deepEqual(of(3), []);
    assert.deepEqual(of(10), []);
  });
});

describe('RowList', () => {
  let folder: string;
  let file: RowFile;
  let list: RowList;
  let report: Report | undefined;

  const rowsOf = (choice: ProblemChoice) => report && rowsWithProblems(report, choice);

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'list-'));
    const rows = Array.from({ length: 5_000 }, (_, index) => `{"n":"row ${index + 1}"}`);
    await writeFile(path.join(folder, 'rows.jsonl'), rows.join('\n'));
    file = await RowFile.open(path.join(folder, 'rows.jsonl'));
    report = undefined;
    list = new RowList(file, rowsOf);
  });
  afterEach(async () => {
    list.dispose();
    file.dispose();
    await rm(folder, { recursive: true });
  });

  const count = () => file.count(new AbortController().signal, () => undefined);
  const filter = (text: string, problems?: 'all' | 'grammar' | 'since-last-run') => ({
    text,
    matchCase: true,
    problems,
  });

  function until(...phases: ListPhase[]): Promise<void> {
    if (phases.includes(list.phase)) return Promise.resolve();
    return new Promise((resolve) => {
      const subscription = list.onDidChange(() => {
        if (!phases.includes(list.phase)) return;
        subscription.dispose();
        resolve();
      });
    });
  }

  it('lists all counted rows', async () => {
    assert.deepEqual([list.length, list.rowAt(0)], [0, undefined]);
    await count();
    assert.equal(list.length, 5_000);
    assert.deepEqual(
      [4_999, 5_000].map((at) => list.rowAt(at)),
      [5_000, undefined],
    );
    assert.deepEqual(
      [5_000, 5_001, 0].map((row) => list.positionOf(row)),
      [4_999, undefined, undefined],
    );
  });

  it('waits until rows are counted, then finds those that contain the text', async () => {
    list.set(filter('row 77'));
    assert.equal(list.phase, 'waiting');
    await count();
    list.refresh();
    await until('done');
    assert.deepEqual(list.rowAt(0), 77);
    assert.equal(list.length, 11);
    assert.equal(list.positionOf(770), 1);
    assert.equal(list.positionOf(5), undefined);
    assert.equal(list.searched, 1);
  });

  it('pauses after a page of rows and continues on request', async () => {
    file.dispose();
    await writeFile(file.path, 'some row\n'.repeat(100_000));
    file = await RowFile.open(file.path);
    list = new RowList(file, rowsOf);
    await count();
    list.set(filter('row'));
    const lengths: number[] = [];
    for (;;) {
      await until('resting', 'done');
      lengths.push(list.length);
      if (list.phase === 'done') break;
      list.more();
    }
    assert.equal(list.length, 100_000);
    assert.ok(lengths.length > 3 && lengths[0]! >= SEARCH_PAGE_ROWS && lengths[0]! < 20_000, lengths.join());
  });

  it('lists the rows since the last run once they are known, with and without text, whatever the report says', async () => {
    let since: ProblemRows | undefined;
    list = new RowList(file, (choice) =>
      choice === 'since-last-run' ? since : report && rowsWithProblems(report, choice),
    );
    await count();
    report = reportWith({ 'bad-escape': [7] });
    list.set(filter('', 'since-last-run'));
    assert.equal(list.phase, 'waiting');
    since = { located: 3, total: 5_000, rows: [7, 70, 4_000] };
    list.refresh();
    assert.deepEqual([list.phase, list.rowAt(2), list.length], ['done', 4_000, 3]);
    assert.deepEqual(list.problems, { rows: [7, 70, 4_000], located: 3, total: 5_000 });
    list.set(filter('row 7', 'since-last-run'));
    await until('done');
    assert.deepEqual([list.rowAt(0), list.rowAt(1), list.length], [7, 70, 2]);
    since = { located: 0, total: 0, rows: [] };
    list.set(filter('', 'since-last-run'));
    assert.deepEqual([list.phase, list.length], ['done', 0]);
    list.set(filter('', 'all'));
    assert.deepEqual([list.rowAt(0), list.length], [7, 1]);
  });

  it('filters by problems, with and without text, once there is a report', async () => {
    await count();
    list.set(filter('', 'grammar'));
    assert.equal(list.phase, 'waiting');
    report = reportWith({ 'bad-escape': [7, 70, 71], 'email-address': [5] });
    list.refresh();
    assert.equal(list.phase, 'done');
    assert.deepEqual([list.rowAt(0), list.length, list.problems?.total], [7, 3, 3]);
    list.set(filter('row 7', 'grammar'));
    await until('done');
    assert.equal(list.length, 3);
    list.set(filter('row 5', 'grammar'));
    await until('done');
    assert.equal(list.length, 0);
    report = reportWith({ 'bad-escape': [50] });
    list.refresh();
    await until('done');
    assert.deepEqual([list.rowAt(0), list.length], [50, 1]);
  });
});

describe('searchRows', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'search-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function withFile<T>(content: string | Buffer, use: (file: RowFile) => Promise<T>): Promise<T> {
    await writeFile(path.join(folder, 'rows.jsonl'), content);
    const file = await RowFile.open(path.join(folder, 'rows.jsonl'));
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

  it('finds each row once, matching case or not', async () => {
    const content = '{"a":"Cat cat"}\n{"a":"dog"}\n{"a":"CAT"}';
    assert.deepEqual(await find(content, 'cat'), [1, 3]);
    assert.deepEqual(await find(content, 'cat', true), [1]);
    assert.deepEqual(await find(content, 'bird'), []);
  });

  it('finds text in every JSON spelling', async () => {
    const content = [
      '{"a":"he said \\"hi\\""}',
      '{"a":"h\\u00e9 \\ud83d\\ude00"}',
      '{"a":"hé 😀"}',
      '{"a":"C:\\\\temp a\\/b a/b"}',
      '{"a":"H\\u00C9"}',
    ].join('\n');
    for (const [text, rows] of [
      ['said "hi"', [1]],
      ['hé', [2, 3, 5]],
      ['é 😀', [2, 3]],
      ['c:\\temp', [4]],
      ['a/b', [4]],
    ] as const)
      assert.deepEqual(await find(content, text), rows, text);
    assert.deepEqual(await find(content, 'HÉ', true), [5]);
  });

  it('treats the input as text, not as a pattern', async () => {
    const content = 'a.c\nabc\n(x|y)*[z]{2}^$+?\n';
    assert.deepEqual(await find(content, 'a.c'), [1]);
    assert.deepEqual(await find('ab\ncd\n', 'bc'), []);
    assert.deepEqual(await find(content, '(x|y)*[z]{2}^$+?'), [3]);
    assert.equal(searchPattern('', true), undefined);
    assert.equal(searchPattern('x'.repeat(1_000), true)?.expression.source.length, MAX_SEARCH_UNITS);
  });

  it('finds text of any byte length across the border of two pieces', async () => {
    const piece = 128 * 1024;
    for (const word of ['needle', 'nädel', '針針', 'na😀del']) {
      for (let back = 0; back <= Buffer.byteLength(word) + 1; back++) {
        const before = `first\n${'x'.repeat(piece - 6 - 1 - back)}\n`;
        assert.deepEqual(await find(`${before}${word}\n${'y'.repeat(300)}\n`, word), [3], `${word} ${back}`);
      }
    }
  });

  it('finds the same as comparing parsed rows, with random text of varied characters', async () => {
    const random = new Random(11);
    const characters = Array.from('aAbBéÉãÃ\u00c3\u00a9€🚀"\\/.*[- ');
    const textOf = (length: number) => Array.from({ length }, () => random.of(characters)).join('');
    const asciiOnly = (json: string) =>
      json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    const rows = Array.from({ length: 3_000 }, (_, index) => {
      const text = textOf(8);
      const json = JSON.stringify([text]);
      return { text, line: index % 3 === 0 ? asciiOnly(json) : json };
    });
    const content = rows.map(({ line }) => line).join('\n');
    for (let round = 0; round < 40; round++) {
      const text = textOf(1 + random.below(3));
      const matchCase = round % 2 === 0;
      const has = (value: string) =>
        matchCase ? value.includes(text) : value.toLowerCase().includes(text.toLowerCase());
      const found = new Set(await find(content, text, matchCase));
      const wrong = rows.filter(({ text: value, line }, index) => {
        const isFound = found.has(index + 1);
        if (has(value)) return !isFound;
        // The search also matches backslashes and quotes of the JSON itself.
        return isFound && !text.includes('\\') && !has(`["${value}"]`) && !has(line);
      });
      assert.deepEqual(wrong, [], `${JSON.stringify(text)} ${matchCase}`);
    }
  });

  it('takes little time a step for the worst text, and stops when canceled', async () => {
    await withFile(Buffer.alloc(2_000_000, 'a'), async (file) => {
      const pattern = searchPattern(`${'a'.repeat(MAX_SEARCH_UNITS - 1)}b`, false);
      assert.ok(pattern);
      const stop = new AbortController();
      const steps = searchRows(file, pattern, stop.signal);
      let longest = 0;
      for (let count = 0; count < 5; count++) {
        // Processor time: other processes take a share of the elapsed time.
        const begun = process.cpuUsage();
        await steps.next();
        longest = Math.max(longest, process.cpuUsage(begun).user / 1_000);
      }
      assert.ok(longest < 250, `${longest} ms`);
      stop.abort();
      await assert.rejects(steps.next(), CancelledError);
    });
  });
});
