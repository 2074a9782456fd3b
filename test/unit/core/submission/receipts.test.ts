import assert from 'node:assert/strict';
import type { RunDetail } from '../../../../src/core/api/types.ts';
import type { ChargedReceipt, Receipt } from '../../../../src/core/submission/intent.ts';
import {
  artifactsOf,
  balanceEffectOf,
  datasetStateOf,
  receiptOf,
  spanMs,
  timesOf,
  usualTime,
} from '../../../../src/core/submission/receipts.ts';
import { intentOf } from '../../../helpers/submissions.ts';
import { row } from '../../../helpers/runs/support.ts';

const NOON_MS = Date.UTC(2026, 4, 3, 12);
const at = (seconds: number) => new Date(NOON_MS + seconds * 1_000).toISOString();

/** A run that waited and trained for so many seconds. */
function run(id: string, queue: number, training: number, model = 'm'): RunDetail {
  return {
    run_id: id,
    status: 'completed',
    model_id: model,
    created_at: at(0),
    started_at: at(queue),
    completed_at: at(queue + training),
  };
}

function charged(changes: Partial<ChargedReceipt['settled']['run']> = {}, more: Partial<Receipt> = {}) {
  const settled = {
    kind: 'charged' as const,
    at: { localMs: NOON_MS },
    run: { run_id: 'r', ...changes },
    how: 'answered' as const,
  };
  return { ...intentOf(), ...more, settled } as ChargedReceipt;
}

describe('facts of a run', () => {
  describe('durations', () => {
    it('are the time between two moments', () => {
      const times = timesOf(run('r', 60, 300));
      assert.deepEqual([spanMs(times, 'queue'), spanMs(times, 'training')], [60_000, 300_000]);
    });

    it('are unknown where a moment is missing, no time, or before its beginning', () => {
      const unstarted = { ...run('r', 60, 300), started_at: undefined } as unknown as RunDetail;
      for (const odd of [
        unstarted,
        { ...run('r', 60, 300), started_at: 'yesterday' },
        { ...run('r', 60, 300), started_at: at(-1), completed_at: at(-2) },
      ])
        assert.deepEqual(
          [spanMs(timesOf(odd), 'queue'), spanMs(timesOf(odd), 'training')],
          [undefined, undefined],
        );
    });
  });

  describe('usualTime', () => {
    const own = { run_id: 'own', model_id: 'm' };
    const trained = (minutes: number[], model = 'm') =>
      minutes.map((each, n) => run(`${model}${n}`, 1, each * 60, model));
    const minutes = (details: RunDetail[]) => {
      const usual = usualTime('training', own, details);
      return usual && [usual.fromMs / 60_000, usual.toMs / 60_000];
    };

    it('is the middle half of the other runs', () =>
      assert.deepEqual(minutes([...trained([100, 9, 12, 14, 18, 20, 11]), run('own', 1, 1)]), [12, 20]));

    it('is that of the same model where there are three such runs', () => {
      assert.deepEqual(minutes([...trained([1, 2]), ...trained([50, 60, 70], 'x')]), [2, 60]);
      assert.deepEqual(minutes([...trained([1, 2, 3]), ...trained([50, 60, 70], 'x')]), [2, 3]);
    });

    it('is unknown with fewer than three', () => assert.equal(minutes(trained([1, 2])), undefined));
  });

  it('the receipt is that of the run and the account', () => {
    const receipts = [
      charged({ run_id: 'r' }, { accountId: 'other' }),
      { ...intentOf(), settled: { kind: 'discarded' as const, at: { localMs: 1 } } },
      charged({ run_id: 'x' }),
      charged({ run_id: 'r' }),
    ];
    assert.equal(receiptOf(receipts, 'account-1', 'r'), receipts[3]);
    assert.equal(receiptOf(receipts, 'account-1', 'y'), undefined);
  });

  describe('effect on the balance', () => {
    const before = { balanceBefore: { balance_cents: 1_000, currency: 'USD' } };

    it('includes what the price does not explain', () => {
      const receipt = charged({ balance_after_cents: 700, currency: 'USD' }, before);
      assert.deepEqual(balanceEffectOf(receipt, 250), {
        beforeCents: 1_000,
        afterCents: 700,
        currency: 'USD',
        otherCents: -50,
      });
      assert.equal(balanceEffectOf(receipt, 300)?.otherCents, 0);
      assert.equal(balanceEffectOf(receipt, undefined)?.otherCents, undefined);
    });

    it('is unknown where an end of it is, or the currencies differ', () => {
      assert.equal(balanceEffectOf(charged({ balance_after_cents: 700 }), 300), undefined);
      assert.equal(balanceEffectOf(charged({}, before), 300), undefined);
      assert.equal(
        balanceEffectOf(charged({ balance_after_cents: 7, currency: 'EUR' }, before), 3),
        undefined,
      );
    });
  });

  it('artifacts are what list, details and clock say together', () => {
    const kind = (changes: object, detail?: RunDetail) =>
      artifactsOf({ ...row('r', 0, 'complete'), ...changes }, detail, NOON_MS).kind;
    assert.equal(kind({ artifacts_available: true, artifacts_expires_at: at(1) }), 'available');
    assert.equal(kind({ artifacts_available: true }), 'available');
    assert.equal(kind({ artifacts_available: true, artifacts_expires_at: 'soon' }), 'available');
    assert.equal(kind({ artifacts_available: true, artifacts_expires_at: at(0) }), 'expired');
    assert.equal(kind({ artifacts_expires_at: at(-1) }), 'expired');
    assert.equal(kind({}), 'unknown');
    assert.equal(kind({ status: 'queued' }), 'not-yet');
    assert.equal(kind({ status: 'running' }), 'not-known');
    assert.equal(kind({ status: 'failed' }), 'not-known');
    assert.equal(kind({ status: 'running' }, run('r', 1, 1)), 'unknown');
  });

  it('a dataset is judged by what its size and its time of change say', () => {
    const { dataset, created } = intentOf();
    const state = (sizeBytes: number, changedAtMs: number) =>
      datasetStateOf({ dataset, created }, { sizeBytes, changedAtMs });
    assert.equal(state(dataset.sizeBytes, created.localMs), 'same');
    assert.equal(state(dataset.sizeBytes, created.localMs + 1), 'written');
    assert.equal(state(dataset.sizeBytes - 1, 0), 'changed');
    assert.equal(datasetStateOf({ dataset, created }, undefined), 'gone');
  });
});
