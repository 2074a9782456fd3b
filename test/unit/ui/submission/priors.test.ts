import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import type { Prior } from '../../../../src/ui/submission/priorMessages.ts';
import type { Receipt } from '../../../../src/core/submission/intent.ts';
import { priorsOf } from '../../../../src/core/submission/priors.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf } from '../../../helpers/submissions.ts';

describe('earlier submissions of the same dataset', () => {
  let hooks: ModuleHooks;
  let priorRows: typeof import('../../../../src/ui/submission/priorMessages.ts').priorRows;
  const now = new Date(2026, 4, 4, 12).getTime();
  const hours = 60 * 60_000;

  before(async () => {
    hooks = standInForVscode();
    ({ priorRows } = await import('../../../../src/ui/submission/priorMessages.ts'));
  });
  after(() => hooks.deregister());

  const prior = (ageMs: number, changes: Partial<Prior> = {}): Prior => ({
    runId: 'run-1',
    modelId: 'm',
    modelName: 'Model M',
    priority: false,
    submittedAtMs: now - ageMs,
    ...changes,
  });
  const told = (priors: Prior[], chosen = { modelId: 'm', priority: false }) =>
    priorRows(priors, chosen, now).map(({ icon, value }) => `${icon}: ${value}`);

  it('are warned of within a day with the same model and options', () => {
    assert.deepEqual(told([prior(3 * hours)]), [
      'warning: You submitted this very dataset with this model 3 h ago: run run-1',
    ]);
    assert.match(told([prior(24 * hours - 1)])[0] ?? '', /^warning: /);
    assert.deepEqual(told([prior(3 * hours, { runId: undefined })]), [
      'warning: You submitted this very dataset with this model 3 h ago and discarded that: it may have been charged',
    ]);
  });

  it('are told with their day and model otherwise', () => {
    const may3 = 'history: You trained this dataset on May 3, 2026: run run-1 (Model M)';
    assert.deepEqual(told([prior(24 * hours)]), [may3]);
    const may4 = may3.replace('May 3', 'May 4');
    assert.deepEqual(told([prior(hours)], { modelId: 'other', priority: false }), [may4]);
    assert.deepEqual(told([prior(hours)], { modelId: 'm', priority: true }), [may4]);
  });

  it('stand newest first, the same again before all others, and many are counted', () => {
    const list = [
      prior(40 * hours, { runId: 'old' }),
      prior(hours, { runId: 'other', modelId: 'x' }),
      prior(5 * hours, { runId: 'same' }),
      ...[50, 60].map((age) => prior(age * hours, { runId: 'older' })),
    ];
    const rows = told(list);
    assert.deepEqual(
      rows.slice(0, 3).map((row) => /run (\w+)/.exec(row)?.[1]),
      ['same', 'other', 'old'],
    );
    assert.equal(rows[3], 'history: and 2 more times');
    assert.equal(told(list.slice(0, 4))[3], 'history: and once more');
    assert.deepEqual(told([]), []);
  });

  it('are the receipts of the same service and bytes, of whichever account, that were or may have been charged', () => {
    const at = { localMs: now };
    const charged = { kind: 'charged', at, run: { run_id: 'r' }, how: 'answered' } as const;
    const receipt = (settled: Receipt['settled'], changes: Partial<Receipt> = {}): Receipt => ({
      ...intentOf(changes),
      settled,
    });
    const other = intentOf().dataset;
    const receipts = [
      receipt(charged),
      receipt({ kind: 'discarded', at }, { priority_processing: true }),
      receipt({ kind: 'not-charged', at }),
      receipt(charged, { accountId: 'account-2', model_id: 'other' }),
      receipt(charged, { origin: 'https://other.test' }),
      receipt(charged, { dataset: { ...other, sha256: '1'.repeat(64) } }),
    ];
    const submittedAtMs = intentOf().created.localMs;
    assert.deepEqual(priorsOf(receipts, 'https://service.test', '0'.repeat(64)), [
      { runId: 'r', modelId: 'qwen3-8b', priority: false, submittedAtMs },
      { runId: undefined, modelId: 'qwen3-8b', priority: true, submittedAtMs },
      { runId: 'r', modelId: 'other', priority: false, submittedAtMs },
    ]);
  });
});
