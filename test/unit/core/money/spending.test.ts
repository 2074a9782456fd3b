import assert from 'node:assert/strict';
import type { RunSummary } from '../../../../src/core/api/types.ts';
import { amountsOf, chargedRunsOf, groupsOf, type KnownRuns } from '../../../../src/core/money/spending.ts';
import type { KnownDetail } from '../../../../src/core/runs/run.ts';
import { balanceReadAt, chargedAt } from '../../../../src/core/submission/receipts.ts';
import type { ChargedReceipt } from '../../../../src/core/submission/submission.ts';
import { chargedReceipt, type ReceiptOptions } from '../../../helpers/receipts.ts';

const at = (iso: string) => Date.parse(iso);
const ofRun = (run_id: string, options: ReceiptOptions = {}) =>
  chargedReceipt({ ...options, run: { run_id, ...options.run } });
const row = (run_id: string, created_at?: string): RunSummary => ({
  run_id,
  status: 'completed',
  model_id: 'm',
  artifacts_available: false,
  ...(created_at !== undefined && { created_at }),
});
const detail = (run_id: string, more: Partial<KnownDetail> = {}): KnownDetail => ({
  run_id,
  status: 'completed',
  model_id: 'm',
  ...more,
});
const known = (rows: RunSummary[], details: KnownDetail[] = []): KnownRuns => ({
  rows,
  detail: (id) => details.find(({ run_id }) => run_id === id),
  label: (id) => details.find(({ run_id }) => run_id === id)?.label,
  isCompleteSince: () => true,
});

describe('spending', () => {
  describe('of charged runs', () => {
    it('joins receipts and runs, each run once, newest first, by the service’s time', () => {
      const receipts = [
        ofRun('a', { atMs: at('2026-05-01T00:00:10Z') }),
        ofRun('gone', { atMs: at('2026-05-02T00:00:00Z') }),
      ];
      const runs = known([row('new'), row('b', '2026-05-03T00:00:00Z'), row('a', '2026-04-30T23:59:59Z')]);
      assert.deepEqual(
        chargedRunsOf(receipts, runs).map(({ runId, createdAtMs }) => [runId, createdAtMs]),
        [
          ['new', undefined],
          ['b', at('2026-05-03T00:00:00Z')],
          ['gone', at('2026-05-02T00:00:00Z')],
          ['a', at('2026-04-30T23:59:59Z')],
        ],
      );
    });

    it('counts a further run of a submission once, listed or not', () => {
      const receipt = ofRun('a', { run: { price_cents: 100, currency: 'USD' } });
      const furtherRuns = [{ run_id: 'b', price_cents: 30, currency: 'USD' }];
      const twice = { ...receipt, charge: { ...receipt.charge, furtherRuns } };
      for (const runs of [undefined, known([row('a'), row('b')])]) {
        const charged = chargedRunsOf([twice], runs);
        assert.deepEqual(amountsOf(charged), {
          sums: [{ currency: 'USD', cents: 130 }],
          unknown: 0,
          runs: 2,
        });
        // The dataset and the balances of the submission are those of its first run only.
        const ofSubmission = charged.filter(({ receipt }) => receipt !== undefined);
        assert.deepEqual(
          ofSubmission.map(({ runId }) => runId),
          ['a'],
        );
      }
    });

    it('counts several charges with the same run ID as unknown prices, except one', () => {
      const receipts = ['1', '2', '3'].map((id) =>
        ofRun('a', { id, run: { price_cents: 100, currency: 'USD' } }),
      );
      const { sums, unknown } = amountsOf(chargedRunsOf(receipts, undefined));
      assert.deepEqual([sums, unknown], [[{ currency: 'USD', cents: 100 }], 2]);
    });

    it('prefers the receipt’s price over the details’, whose currency is that of the balance then', () => {
      const runs = known(
        [row('a'), row('b'), row('c'), row('d')],
        [
          detail('a', { price_cents: 1 }),
          detail('b', { price_cents: 70, plan: 'Pro', label: 'x ft-7k3m9qpx', assumedCurrency: 'USD' }),
          detail('d', { price_cents: 9 }),
        ],
      );
      const receipts = [ofRun('a', { run: { price_cents: 500, currency: 'EUR' } })];
      const facts = chargedRunsOf(receipts, runs).map((run) => [
        run.runId,
        run.priceCents,
        run.currency,
        run.isCurrencyAssumed,
        run.isUnread,
      ]);
      assert.deepEqual(facts.sort(), [
        ['a', 500, 'EUR', false, false],
        ['b', 70, 'USD', true, false],
        ['c', undefined, undefined, false, true],
        ['d', 9, undefined, false, false],
      ]);
      const [b] = chargedRunsOf([], known([row('b')], [detail('b', { label: 'x ft-7k3m9qpx' })]));
      assert.equal(b?.label, 'x');
    });

    it('treats an empty plan and a time without a four-digit year as unknown', () => {
      const years = ['+275760-01-01T00:00:00Z', '-000001-01-01T00:00:00Z', '9999-12-31T23:59:59Z'];
      const rows = years.map((created_at, n) => row(`r${n}`, created_at));
      const broken = ofRun('r0', { atMs: 1e300, run: { plan_name: '' } });
      const runs = chargedRunsOf([broken], known(rows));
      assert.deepEqual(runs.map(({ createdAtMs }) => createdAtMs).toSorted(), [
        at('9999-12-31T23:59:59Z'),
        undefined,
        undefined,
      ]);
      assert.deepEqual(
        groupsOf(runs, 'plan').map(({ key }) => key),
        [undefined],
      );
    });

    it('uses only receipts if no runs may be shown', () =>
      assert.equal(chargedRunsOf([ofRun('a')], undefined).length, 1));
  });

  it('never adds up two currencies, and counts unknown prices', () => {
    const receipts = [
      ofRun('a', { run: { price_cents: 100 } }),
      ofRun('b', { run: { price_cents: 30, currency: 'EUR' } }),
      ofRun('c', { run: { price_cents: 5 } }),
      ofRun('d', { run: { price_cents: undefined } }),
    ];
    assert.deepEqual(amountsOf(chargedRunsOf(receipts, undefined)), {
      sums: [
        { currency: 'USD', cents: 105 },
        { currency: 'EUR', cents: 30 },
      ],
      unknown: 1,
      runs: 4,
    });
  });

  it('groups by month in UTC, and by other known properties', () => {
    const receipts = [
      ofRun('a', { atMs: at('2026-11-30T23:59:59Z'), label: 'new ft-7k3m9qpx' }),
      ofRun('b', { atMs: at('2026-12-01T00:00:00Z'), label: 'old' }),
      ofRun('c', { atMs: at('2026-11-01T00:00:00Z'), label: 'new ft-aaaaaaaa' }),
    ];
    const runs = chargedRunsOf(receipts, undefined);
    const cents = (by: 'month' | 'label' | 'plan') =>
      groupsOf(runs, by).map(({ key, amounts }) => [key, amounts.sums[0]?.cents]);
    assert.deepEqual(cents('month'), [
      ['2026-12', 500],
      ['2026-11', 1_000],
    ]);
    assert.deepEqual(cents('label'), [
      ['new', 1_000],
      ['old', 500],
    ]);
    assert.deepEqual(cents('plan'), [['Basic', 1_500]]);
  });

  it('knows when the balance was read and charged, however late or often a submission was sent', () => {
    const points = (attempts: ChargedReceipt['attempts']) => {
      const receipt = ofRun('a', { attempts });
      return [balanceReadAt(receipt), chargedAt(receipt)].map(({ localMs }) => localMs);
    };
    const sent = (at: number, httpStatus?: number) => ({
      started: { localMs: at },
      closed: { localMs: at + 10 },
      ...(httpStatus !== undefined && { httpStatus }),
    });
    // The first attempt was not sent completely, so the second reads the balance again.
    assert.deepEqual(points([{ started: { localMs: 100 } }, sent(500)]), [500, 510]);
    // The response to the first attempt was lost; the second gets the same response.
    assert.deepEqual(points([sent(100), sent(500)]), [100, 110]);
    assert.deepEqual(points([sent(100, 503), sent(500)]), [100, 510]);
  });
});
