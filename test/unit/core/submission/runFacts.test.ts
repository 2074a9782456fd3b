import assert from 'node:assert/strict';
import type { RunDetail } from '../../../../src/core/api/types.ts';
import type { Receipt } from '../../../../src/core/submission/intent.ts';
import {
  artifactsOf,
  balanceEffectOf,
  barsOf,
  compare,
  datasetStateOf,
  receiptOf,
  spanMs,
  timesOf,
  type ChargedReceipt,
} from '../../../../src/core/submission/runFacts.ts';
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
    it('are the time between two moments that are told', () => {
      const times = timesOf(run('r', 60, 300));
      assert.deepEqual([spanMs(times, 'queue'), spanMs(times, 'training')], [60_000, 300_000]);
    });

    it('are not told where a moment is missing, no time, or before its beginning', () => {
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

  describe('comparison', () => {
    const own = { run_id: 'own', model_id: 'm' };

    it('leaves the run itself out, and counts who was longer and shorter', () => {
      const details = [run('own', 50, 1), ...[10, 20, 50, 90, 100].map((queue, n) => run(`${n}`, queue, 1))];
      assert.deepEqual(compare('queue', own, 50_000, details), {
        othersMs: [10_000, 20_000, 50_000, 90_000, 100_000],
        medianMs: 50_000,
        longer: 2,
        shorter: 2,
        isSameModel: true,
      });
    });

    it('is with runs of the same model where there are three, else with all', () => {
      const others = [run('1', 1, 1, 'x'), run('2', 2, 1), run('3', 4, 1)];
      const few = compare('queue', own, 3_000, others);
      assert.deepEqual(
        [few?.isSameModel, few?.othersMs, few?.medianMs],
        [false, [1_000, 2_000, 4_000], 2_000],
      );
      const enough = compare('queue', own, 3_000, [...others, run('4', 8, 1)]);
      assert.deepEqual([enough?.isSameModel, enough?.othersMs], [true, [2_000, 4_000, 8_000]]);
    });

    it('takes the middle of two for the median of an even number', () =>
      assert.equal(compare('training', own, 1, [run('1', 1, 2), run('2', 1, 4)])?.medianMs, 3_000));

    it('sorts by number', () =>
      assert.deepEqual(
        compare('queue', own, undefined, [run('1', 100, 1), run('2', 9, 1), run('3', 20, 1)])?.othersMs,
        [9_000, 20_000, 100_000],
      ));

    it('counts nobody where the own length is not told, and is nothing without others', () => {
      const one = compare('queue', own, undefined, [run('1', 1, 1)]);
      assert.deepEqual([one?.longer, one?.shorter], [0, 0]);
      assert.equal(
        compare('queue', own, 1, [run('own', 1, 1), { ...run('2', 1, 1), started_at: 'x' }]),
        undefined,
      );
    });
  });

  describe('bars', () => {
    const comparison = (othersMs: number[]) => ({
      othersMs,
      medianMs: 0,
      longer: 0,
      shorter: 0,
      isSameModel: true,
    });

    it('stand by length, as parts of the longest, with this run at its place', () =>
      assert.deepEqual(barsOf(40, comparison([20, 80])), [
        { share: 0.25, isThis: false },
        { share: 0.5, isThis: true },
        { share: 1, isThis: false },
      ]));

    it('are at most thirty, among them the shortest, the longest and this one', () => {
      const many = Array.from({ length: 1_000 }, (_, n) => n + 1);
      const bars = barsOf(500, comparison(many));
      assert.equal(bars.length, 30);
      assert.deepEqual([bars[0]?.share, bars.at(-1)?.share], [1 / 1_000, 1]);
      assert.deepEqual(
        bars.filter(({ isThis }) => isThis),
        [{ share: 0.5, isThis: true }],
      );
      const shares = bars.map(({ share }) => share);
      assert.deepEqual(
        shares,
        [...shares].sort((one, other) => one - other),
      );
      assert.equal(barsOf(undefined, comparison(many)).length, 30);
    });

    it('are never more than whole, also where everything took no time', () => {
      for (const { share } of barsOf(0, comparison([0, 0]))) assert.equal(share, 0);
    });
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

    it('is told with what the price does not explain', () => {
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

    it('is not told where an end of it is not, or the currencies differ', () => {
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
    assert.equal(kind({}), 'not-told');
    assert.equal(kind({ status: 'queued' }), 'not-yet');
    assert.equal(kind({ status: 'running' }), 'not-known');
    assert.equal(kind({ status: 'failed' }), 'not-known');
    assert.equal(kind({ status: 'running' }, run('r', 1, 1)), 'not-told');
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
