import assert from 'node:assert/strict';
import type { ProblemCode } from '../../../../src/core/datasets/problems.ts';
import { shownProblems, summaryOf } from '../../../../src/core/datasets/report.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';

const rows = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ row: from + index }));

describe('shownProblems', () => {
  it('shows all where they have room: errors, then secrets, then warnings, each in the order of the file', () => {
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

  for (const [title, problems, codes, hiddenErrors, hiddenWarnings] of [
    [
      'never shows more than the limit, and counts the rest, also what was never located',
      [
        groupOf('bad-number', rows(1, 150), 5_000),
        groupOf('trailing-comma', rows(300, 150)),
        groupOf('blank-line', rows(1, 100), 1_000_000),
      ],
      { 'bad-number': 100, 'trailing-comma': 100 },
      4_950,
      1_000_000,
    ],
    [
      'gives each code its share, and what one leaves to the others',
      [
        groupOf('blank-line', rows(1, 10_000)),
        groupOf('lone-surrogate', rows(1, 10_000)),
        groupOf('duplicate-row', [{ row: 9_999 }]),
      ],
      { 'duplicate-row': 1, 'blank-line': 99, 'lone-surrogate': 100 },
      0,
      19_801,
    ],
    [
      'does not let errors hide a secret where all of them have room',
      [
        groupOf('bad-escape', rows(1, 199)),
        groupOf('blank-line', rows(1, 500)),
        groupOf('private-key', rows(7, 1)),
      ],
      { 'bad-escape': 199, 'private-key': 1 },
      0,
      500,
    ],
    [
      'shows CRLF once for the file',
      [groupOf('crlf', rows(1, 5_000), 7_473), groupOf('blank-line', rows(1, 300))],
      { crlf: 1, 'blank-line': 199 },
      0,
      101,
    ],
  ] as const)
    it(title, () => {
      const { shown, ...hidden } = shownProblems(reportOf({ problems }), 200);
      const groups = Object.entries(Object.groupBy(shown, ({ code }) => code));
      assert.deepEqual(Object.fromEntries(groups.map(([code, group]) => [code, group.length])), codes);
      assert.deepEqual(hidden, { hiddenErrors, hiddenWarnings });
      for (const { code, detail } of shown) if (code === 'crlf') assert.equal(detail, '7473');
    });
});

describe('summaryOf', () => {
  it('counts secrets apart from warnings, and addresses among them', () => {
    const report = reportOf({
      problems: [
        groupOf('bad-number', rows(1, 2), 20),
        groupOf('blank-line', rows(1, 1)),
        groupOf('api-key', rows(1, 1), 3),
        groupOf('private-key', rows(1, 1)),
        groupOf('email-address', rows(1, 2), 12),
        groupOf('card-number', rows(1, 1)),
      ],
    });
    const { sizeBytes, mtimeMs, ctimeMs, rows: count } = report;
    assert.deepEqual(summaryOf(report), {
      ...{ kind: 'rows', sizeBytes, mtimeMs, ctimeMs, rows: count, isBlank: false, format: 'chat' },
      ...{ verdict: 'errors', errors: 20, secrets: 4, warnings: 14, unchecked: 0 },
      ...{ emailAddresses: 12, cardNumbers: 1, characters: 1_000, estimatedTokens: 250 },
    });
  });

  it('stops at secrets, at rows not searched for them and at files without rows, and not at addresses', () => {
    const of = (...codes: ProblemCode[]) =>
      summaryOf(reportOf({ problems: codes.map((code) => groupOf(code, rows(1, 10))) }));
    assert.equal(of().verdict, 'clean');
    assert.equal(of('email-address', 'card-number').verdict, 'warnings');
    for (const code of ['private-key', 'api-key', 'row-too-long'] as const)
      assert.equal(of(code).verdict, 'errors');
    assert.equal(of('row-too-long').unchecked, 10);
    assert.equal(of('crlf').warnings, 1);
    assert.equal(summaryOf(reportOf({ kind: 'utf-16' })).verdict, 'errors');
  });
});
