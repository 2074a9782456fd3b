import assert from 'node:assert/strict';
import { shownProblems, summaryOf } from '../../../../src/core/datasets/report.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';

const rows = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ row: from + index }));

describe('shownProblems', () => {
  const codes = (shown: readonly { code: string }[]) => [...new Set(shown.map(({ code }) => code))];

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
    const { shown, hiddenErrors, hiddenWarnings } = shownProblems(report, 200);
    assert.deepEqual(
      shown.map(({ row, code }) => `${row} ${code}`),
      [
        '3 not-an-object',
        '9 trailing-comma',
        '12 trailing-comma',
        '8 api-key',
        '1 blank-line',
        '1 duplicate-key',
        '2 blank-line',
      ],
    );
    assert.deepEqual([hiddenErrors, hiddenWarnings], [0, 0]);
  });

  it('never shows more than the limit, and counts the rest, also what was never located', () => {
    const report = reportOf({
      problems: [
        groupOf('bad-number', rows(1, 150), 5_000),
        groupOf('trailing-comma', rows(300, 150)),
        groupOf('blank-line', rows(1, 100), 1_000_000),
      ],
    });
    const { shown, hiddenErrors, hiddenWarnings } = shownProblems(report, 200);
    assert.equal(shown.length, 200);
    assert.ok(shown.every(({ severity }) => severity === 'error'));
    assert.deepEqual([hiddenErrors, hiddenWarnings], [4_950, 1_000_000]);
  });

  it('gives each code its share, and what one leaves to the others', () => {
    const report = reportOf({
      problems: [
        groupOf('blank-line', rows(1, 10_000)),
        groupOf('lone-surrogate', rows(1, 10_000)),
        groupOf('duplicate-row', [{ row: 9_999, detail: '1' }]),
      ],
    });
    const { shown } = shownProblems(report, 200);
    const count = (code: string) => shown.filter((problem) => problem.code === code).length;
    assert.deepEqual([count('duplicate-row'), count('blank-line'), count('lone-surrogate')], [1, 99, 100]);
  });

  it('does not let a thousand errors hide a secret where there is room for all errors', () => {
    const report = reportOf({
      problems: [
        groupOf('bad-escape', rows(1, 199)),
        groupOf('blank-line', rows(1, 500)),
        groupOf('private-key', rows(7, 1)),
      ],
    });
    assert.deepEqual(codes(shownProblems(report, 200).shown), ['bad-escape', 'private-key']);
  });

  it('shows CRLF once for the file', () => {
    const report = reportOf({
      problems: [groupOf('crlf', rows(1, 5_000), 7_473), groupOf('blank-line', rows(1, 300))],
    });
    const { shown, hiddenWarnings } = shownProblems(report, 200);
    const [first, second] = shown.filter(({ code }) => code === 'crlf');
    assert.deepEqual([first?.row, first?.detail, second], [1, '7473', undefined]);
    assert.equal(shown.length, 200);
    assert.equal(hiddenWarnings, 101);
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
    assert.deepEqual(summaryOf(report), {
      kind: 'rows',
      sizeBytes: 1_000,
      mtimeMs: 1_700_000_000_000,
      verdict: 'errors',
      rows: 10,
      isBlank: false,
      format: 'chat',
      errors: 20,
      secrets: 4,
      sha256: '0'.repeat(64),
      warnings: 14,
      unchecked: 0,
      emailAddresses: 12,
      cardNumbers: 1,
      estimatedTokens: 250,
    });
  });

  it('stops at secrets and at files without rows, and not at addresses', () => {
    const verdict = (...problems: ReturnType<typeof groupOf>[]) => summaryOf(reportOf({ problems })).verdict;
    assert.equal(verdict(), 'clean');
    assert.equal(
      verdict(groupOf('email-address', rows(1, 1)), groupOf('card-number', rows(1, 1))),
      'warnings',
    );
    assert.equal(verdict(groupOf('private-key', rows(1, 1))), 'errors');
    // It was not searched for secrets.
    assert.equal(verdict(groupOf('row-too-long', rows(1, 1))), 'errors');
    assert.equal(summaryOf(reportOf({ problems: [groupOf('row-too-long', rows(1, 2), 3)] })).unchecked, 3);
    assert.equal(summaryOf(reportOf({ problems: [groupOf('crlf', rows(1, 10), 10)] })).warnings, 1);
    assert.equal(summaryOf(reportOf({ kind: 'utf-16' })).verdict, 'errors');
  });
});
