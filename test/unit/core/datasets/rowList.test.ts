import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ProblemCode } from '../../../../src/core/datasets/problems.ts';
import { type Report, problemsOfRow, rowsWithProblems } from '../../../../src/core/datasets/report.ts';
import { RowFile } from '../../../../src/core/datasets/rowFile.ts';
import { RowList, SEARCH_PAGE_ROWS, type ListPhase } from '../../../../src/core/datasets/rowList.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';

/** A report with problems of some codes in some rows; `total` is what the file holds of each. */
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

  it('leads from a choice to rows, each once, and says how many are known', () => {
    assert.deepEqual(rowsWithProblems(report, 'all'), { rows: [1, 2, 5, 9], located: 7, total: 30 });
    assert.deepEqual(rowsWithProblems(report, 'grammar').rows, [2, 5, 9]);
    assert.deepEqual(rowsWithProblems(report, 'privacy'), { rows: [1, 9], located: 2, total: 10 });
    assert.deepEqual(rowsWithProblems(report, 'bad-escape').rows, [2, 9]);
    assert.deepEqual(rowsWithProblems(report, 'crlf').rows, []);
  });

  it('leads from a row to its problems, in the order of their places', () => {
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

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'list-'));
    const rows = Array.from({ length: 5_000 }, (_, index) => `{"n":"row ${index + 1}"}`);
    await writeFile(path.join(folder, 'rows.jsonl'), rows.join('\n'));
    file = await RowFile.open(path.join(folder, 'rows.jsonl'));
    report = undefined;
    list = new RowList(file, () => report);
  });
  afterEach(async () => {
    list.dispose();
    file.dispose();
    await rm(folder, { recursive: true });
  });

  const count = () => file.count(new AbortController().signal, () => undefined);
  const filter = (text: string, problems?: 'all' | 'grammar') => ({ text, matchCase: true, problems });

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

  it('lists all rows that are known', async () => {
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

  it('waits until rows are counted, then finds those with the text', async () => {
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
    list = new RowList(file, () => report);
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

  it('gives up a search for the next one', async () => {
    await count();
    list.set(filter('row'));
    list.set(filter('row 123'));
    list.set(filter('no such text'));
    await until('done');
    assert.equal(list.length, 0);
    list.set(filter(''));
    assert.equal(list.phase, 'all');
    assert.equal(list.length, 5_000);
  });

  it('fails when the file can no longer be read', async () => {
    await count();
    list.set(filter('row'));
    file.dispose();
    await until('failed');
  });
});
