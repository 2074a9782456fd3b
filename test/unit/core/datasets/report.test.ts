import assert from 'node:assert/strict';
import type { ProblemCode } from '../../../../src/core/datasets/problems.ts';
import { countProblems, shownProblems, verdictOf } from '../../../../src/core/datasets/report.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';

const rows = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ row: from + index }));

describe('shownProblems', () => {
  it('shows all within the limit: errors, then secrets, then warnings, each in file order', () => {
    const report = reportOf({
      problems: [
        groupOf('trailing-comma', [{ row: 9 }, { row: 12 }]),
        groupOf('not-an-object', [{ row: 3 }]),
        groupOf('blank-line', [{ row: 1 }, { row: 2 }]),
        groupOf('duplicate-key', [{ row: 1, column: 5 }]),
        groupOf('api-key', [{ row: 8 }]),
      ],
    });
    const { shown, ...hidden } = shownProblems(report, 200);
    assert.equal(
      shown.map(({ row, code }) => `${row} ${code}`).join(', '),
      '3 not-an-object, 9 trailing-comma, 12 trailing-comma, 8 api-key, 1 blank-line, 1 duplicate-key, 2 blank-line',
    );
    assert.deepEqual(hidden, { hiddenErrors: 0, hiddenWarnings: 0 });
  });

  for (const [title, changes, expected, hidden = []] of [
    [
      'shows a problem once with its count if it occurs more than 20 times, or in most rows and 3 times',
      { problems: [groupOf('bad-number', rows(3, 21)), groupOf('no-assistant', rows(1, 20), 20)], rows: 40 },
      ['3 bad-number ×21', ...rows(1, 20).map(({ row }) => `${row} no-assistant`)],
    ],
    [
      'counts rows, not problems, to find what most rows have',
      {
        problems: [
          groupOf('crlf', rows(2, 3)),
          groupOf('blank-line', rows(1, 2)),
          groupOf('email-address', [{ row: 4 }, { row: 4, column: 5 }, { row: 4, column: 9 }]),
        ],
        rows: 5,
      },
      ['1 blank-line', '2 crlf ×3', '2 blank-line', '4 email-address', '4 email-address', '4 email-address'],
    ],
    [
      'shows each secret up to the limit, and counts those without a location as hidden',
      { problems: [groupOf('bad-escape', rows(1, 1)), groupOf('private-key', rows(2, 10), 500)] },
      ['1 bad-escape', ...rows(2, 9).map(({ row }) => `${row} private-key`)],
      [0, 491],
    ],
    [
      'shows only secrets in a file that is not JSONL',
      { kind: 'json-array', problems: [groupOf('bad-escape', rows(1, 1)), groupOf('api-key', rows(2, 1))] },
      ['2 api-key'],
    ],
    [
      'shows only secrets and the cut in a file that is cut off',
      {
        problems: [
          groupOf('cut-off', rows(9, 1)),
          groupOf('blank-line', rows(1, 1)),
          groupOf('api-key', rows(2, 1)),
        ],
      },
      ['9 cut-off', '2 api-key'],
    ],
  ] as const)
    it(title, () => {
      const limit = expected.length;
      const { shown, ...counts } = shownProblems(reportOf(changes), limit);
      const texts = shown.map(
        ({ row, code, count }) => `${row} ${code}${count === undefined ? '' : ` ×${count}`}`,
      );
      assert.deepEqual(texts, expected);
      const [hiddenErrors = 0, hiddenWarnings = 0] = hidden;
      assert.deepEqual(counts, { hiddenErrors, hiddenWarnings });
    });
});

describe('countProblems', () => {
  it('counts secrets separately, addresses as warnings, and all CRLF line ends as one', () => {
    const report = reportOf({
      problems: [
        groupOf('bad-number', rows(1, 2), 20),
        groupOf('crlf', rows(1, 10)),
        groupOf('api-key', rows(1, 1), 3),
        groupOf('private-key', rows(1, 1)),
        groupOf('email-address', rows(1, 2), 12),
        groupOf('card-number', rows(1, 1)),
      ],
    });
    assert.deepEqual(countProblems(report), { errors: 20, secrets: 4, warnings: 14, unchecked: 0 });
  });

  it('counts rows too long to check also as warnings', () => {
    const report = reportOf({ problems: [groupOf('row-too-long', rows(1, 10))] });
    assert.deepEqual(countProblems(report), { errors: 0, secrets: 0, warnings: 10, unchecked: 10 });
  });
});

describe('verdictOf', () => {
  it('returns "errors" for secrets, unsearched rows, and other file kinds, not for addresses', () => {
    const of = (...codes: ProblemCode[]) =>
      verdictOf(reportOf({ problems: codes.map((code) => groupOf(code, rows(1, 10))) }));
    assert.equal(of(), 'clean');
    assert.equal(of('email-address', 'card-number'), 'warnings');
    for (const code of ['private-key', 'api-key', 'row-too-long'] as const) assert.equal(of(code), 'errors');
    assert.equal(verdictOf(reportOf({ kind: 'utf-16' })), 'errors');
  });
});
