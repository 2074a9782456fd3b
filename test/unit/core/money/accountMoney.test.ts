import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { AccountBudget } from '../../../../src/core/accounts/account.ts';
import type { Balance } from '../../../../src/core/api/types.ts';
import { accountMoneyOf, type MoneyFacts } from '../../../../src/core/money/accountMoney.ts';
import type { RunParameters } from '../../../../src/core/money/estimate.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import type { ChargedReceipt, Submission } from '../../../../src/core/submission/submission.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { submissionOf, pendingOf, refusedWith, uploadedAttempt } from '../../../helpers/submissions.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12);
const MB = 1_000_000;
const wanted: RunParameters = { size: { bytes: 4 * MB }, priority: false };

let made = 0;
/** Returns a charge in this month. */
function paid(cents: number | undefined, megabytes = 4): ChargedReceipt {
  return chargedReceipt({
    atMs: NOW_MS - 1_000 + made++,
    accountId: 'work',
    dataset: { sizeBytes: megabytes * MB, rows: undefined, sha256: made.toString(16).padStart(64, '0') },
    run: { price_cents: cents },
  });
}
const usd = (balance_cents: number): Balance => ({ balance_cents, currency: 'USD' });
const money = (more: Partial<MoneyFacts> & { budget?: AccountBudget } = {}) =>
  accountMoneyOf({
    account: { id: 'work', budget: more.budget },
    receipts: [],
    runs: undefined,
    pending: [],
    balance: usd(10_000),
    nowMs: NOW_MS,
    ...more,
  });
/** Their estimate is 3.20 to 5.00 USD for 4 MB. */
const history = [paid(400), paid(400)];
const pending = (state: PendingSubmission['state'], more: Partial<Submission> = {}, bytes = 4 * MB) => {
  const dataset = { ...submissionOf().dataset, sizeBytes: bytes, rows: undefined };
  return pendingOf(state, submissionOf({ accountId: 'work', dataset, ...more }));
};
/** A submission that may have been charged. */
const sent = { attempts: [uploadedAttempt(0)] };

describe('money of an account', () => {
  it('ignores other accounts', () => {
    const others = history.map((receipt) => ({ ...receipt, accountId: 'other' }));
    const work = money({
      receipts: others,
      pending: [pending('idle', { ...sent, accountId: 'other' })],
    });
    assert.deepEqual([work.spending?.spentCents, work.spending?.pendingCents], [0, 0]);
    assert.equal(work.estimate(wanted).kind, 'none');
  });

  describe('in a month', () => {
    it('adds up charges by UTC in one currency; unknown prices make the sum a lower bound', () => {
      const before = chargedReceipt({ accountId: 'work', atMs: Date.UTC(2026, 10, 1) - 1 });
      const euros = chargedReceipt({ accountId: 'work', atMs: NOW_MS, run: { currency: 'EUR' } });
      const { spending } = money({ receipts: [...history, before, euros, paid(undefined)] });
      assert.deepEqual(spending, {
        month: '2026-11',
        currency: 'USD',
        spentCents: 800,
        unknownPrices: 1,
        unknownCurrencies: 0,
        amounts: {
          sums: [
            { currency: 'EUR', cents: 500 },
            { currency: 'USD', cents: 800 },
          ],
          unknown: 1,
          runs: 4,
        },
        isComplete: false,
        pendingCents: 0,
        pendingUnknown: 0,
      });
    });

    it('doesn’t add up prices in an unknown currency, but counts them', () => {
      const unknown = { rows: ['a', 'b'], cents: [300, 0] };
      const runs = {
        rows: unknown.rows.map((run_id) => ({
          run_id,
          status: 'x',
          model_id: 'm',
          artifacts_available: false,
        })),
        detail: (run_id: string) => {
          const price_cents = unknown.cents[unknown.rows.indexOf(run_id)];
          return { run_id, status: 'x', model_id: 'm', price_cents };
        },
        label: () => undefined,
        isCompleteSince: () => true,
      };
      const { spending } = money({ receipts: history, runs });
      assert.deepEqual(
        [spending?.spentCents, spending?.unknownPrices, spending?.unknownCurrencies],
        [800, 0, 1],
      );
    });

    it('estimates work in progress by the upper end, else by the highest of the last five prices', () => {
      const underWay = (pending: PendingSubmission[], receipts = history) => {
        const { spending } = money({ receipts, pending });
        return [spending?.pendingCents, spending?.pendingUnknown];
      };
      const inProgress = [pending('uploading'), pending('validating'), pending('idle', sent)];
      assert.deepEqual(underWay(inProgress), [1_500, 0]);
      const notCharged = [{}, { ...sent, stage: 'cleared' as const }, refusedWith('insufficient_balance')];
      assert.deepEqual(underWay(notCharged.map((one) => pending('idle', one))), [0, 0]);
      assert.deepEqual(underWay([pending('queued', {}, 400 * MB)], [paid(900, 1), ...history]), [900, 0]);
      assert.deepEqual(underWay([pending('elsewhere')], []), [0, 1]);
    });
  });

  it('no longer estimates a submission once its run is listed', () => {
    const known = (label: string | undefined) => ({
      rows: [{ run_id: 'r', status: 'x', model_id: 'm', artifacts_available: false }],
      detail: () => ({ run_id: 'r', status: 'x', model_id: 'm', price_cents: 400, assumedCurrency: 'USD' }),
      label: () => label,
      isCompleteSince: () => true,
    });
    const unknown = pendingOf('idle', submissionOf({ ...sent, accountId: 'work', marker: 'ft-7k3m9qpx' }));
    const underWay = (label?: string) =>
      money({ runs: known(label), pending: [unknown] }).spending?.pendingCents;
    assert.deepEqual([underWay('Maths FT-7K3M9QPX'), underWay('Maths'), underWay()], [0, 400, 400]);
  });

  it('counts a possible run of an open submission once, as charged, and not as submitted elsewhere', () => {
    const row = (run_id: string) => ({ run_id, status: 'x', model_id: 'm', artifacts_available: false });
    const runs = {
      rows: [row('possible'), row('other')],
      detail: (run_id: string) => ({ ...row(run_id), price_cents: 400, assumedCurrency: 'USD' }),
      label: () => label,
      isCompleteSince: () => true,
    };
    let label: string | undefined;
    const lastCheck = { at: { localMs: 1 }, complete: true, candidates: ['possible'] };
    const [open, second] = [1, 2].map(() =>
      pendingOf('idle', submissionOf({ ...sent, id: randomUUID(), accountId: 'work', lastCheck })),
    ) as [PendingSubmission, PendingSubmission];
    const counted = (pending: PendingSubmission[], receipts: ChargedReceipt[] = []) => {
      const { charged, spending } = money({ runs, pending, receipts });
      const elsewhere = charged.filter(({ isElsewhere }) => isElsewhere).map(({ runId }) => runId);
      return [spending?.spentCents, spending?.pendingCents, elsewhere];
    };
    assert.deepEqual(counted([]), [800, 0, ['possible', 'other']]);
    assert.deepEqual(counted([open]), [800, 0, ['other']]);
    assert.deepEqual(counted([open, second]), [800, 400, ['other']], 'it can be of one only');
    // The run may be somebody else's, so the larger price counts, unless a marker proves that it is the submission's.
    const dearer = [paid(700), paid(700)];
    assert.deepEqual(counted([open], dearer), [2_200, 300, ['other']]);
    label = 'My run ft-7k3m9qpx';
    const marked = pendingOf('idle', { ...second.submission, marker: 'ft-7k3m9qpx' });
    assert.deepEqual(counted([open, marked], dearer), [2_200, 700, []]);
    label = undefined;
    const found = chargedReceipt({ accountId: 'work', atMs: NOW_MS, run: { run_id: 'possible' } });
    assert.deepEqual(counted([open], [found]), [900, 500, ['other']], 'another submission’s by now');
    const furtherRuns = [{ run_id: 'other', price_cents: 400, currency: 'USD' }];
    const twice = { ...found, charge: { ...found.charge, furtherRuns } };
    assert.deepEqual(counted([], [twice])[2], [], 'a further run');
  });

  describe('against a budget', () => {
    const over = (budget: Omit<AccountBudget, 'currency'>, more: Partial<MoneyFacts> = {}) => {
      const check = money({ receipts: history, ...more, budget: { ...budget, currency: 'USD' } });
      const result = check.checkBudget(wanted);
      assert.ok(result.kind === 'checked', result.kind);
      return result.limits.map((limit) => limit.over);
    };

    it('may exceed it with the upper end, and will with the spent and pending amounts; equal is not over', () => {
      for (const [cents, expected] of [
        [500, undefined],
        [499, 'may'],
        [0, 'may'],
      ] as const)
        assert.deepEqual(over({ perRunCents: cents }), [expected], String(cents));
      for (const [cents, expected] of [
        [1_300, undefined],
        [1_299, 'may'],
        [800, 'may'],
        [799, 'will'],
      ] as const)
        assert.deepEqual(over({ perMonthCents: cents }), [expected], String(cents));
    });

    it('includes work in progress', () => {
      const one = { pending: [pending('uploading')] };
      assert.deepEqual(over({ perMonthCents: 1_800 }, one), [undefined]);
      assert.deepEqual(over({ perMonthCents: 1_799 }, one), ['may']);
      assert.deepEqual(over({ perMonthCents: 1_299 }, one), ['will']);
    });

    it('counts the cheapest run that is no larger if there is no estimated price', () => {
      const receipts = [paid(500, 1), paid(300, 2), paid(700, 4), paid(100, 5), paid(0, 1)];
      const of = (budget: Omit<AccountBudget, 'currency'>) => over(budget, { receipts });
      assert.deepEqual(of({ perRunCents: 300 }), [undefined]);
      assert.deepEqual(of({ perRunCents: 299 }), ['may']);
      assert.deepEqual(of({ perMonthCents: 1_900 }), [undefined]);
      assert.deepEqual(of({ perRunCents: 299, perMonthCents: 1_899 }), ['may', 'may']);
      assert.deepEqual(of({ perRunCents: 299, perMonthCents: 1_599 }), ['may', 'will']);
    });

    it('warns before a run of 85 times the size, though its price isn’t known', () => {
      const receipts = [101, 101, 101].map((cents) => paid(cents, 4 / 85));
      assert.deepEqual(over({ perRunCents: 100, perMonthCents: 350 }, { receipts }), ['may', 'may']);
    });

    it('has no price if no run is smaller, unless the month exceeds the budget already', () => {
      const kind = (receipts: ChargedReceipt[], perMonthCents: number) =>
        money({ receipts, budget: { perMonthCents, currency: 'USD' } }).checkBudget(wanted).kind;
      const larger = [paid(400, 5)];
      assert.deepEqual([kind([], 1), kind(larger, 400)], ['no-price', 'no-price']);
      assert.deepEqual(over({ perMonthCents: 399, perRunCents: 1 }, { receipts: larger }), [
        undefined,
        'will',
      ]);
      assert.equal(kind([paid(0)], 1), 'no-price');
      // A run in the standard queue costs no more than one in the priority queue, but not the reverse.
      const priority = [{ ...paid(400), priority_processing: true }];
      assert.equal(kind(priority, 1_000), 'no-price');
    });

    it('compares nothing in another currency or without a limit', () => {
      const check = (budget?: AccountBudget) =>
        money({ receipts: history, budget: budget! }).checkBudget(wanted);
      assert.deepEqual(check({ perRunCents: 1, currency: 'EUR' }), {
        kind: 'other-currency',
        budgetCurrency: 'EUR',
        currency: 'USD',
      });
      assert.deepEqual(check({ currency: 'USD' }), { kind: 'unset' });
      assert.deepEqual(check(), { kind: 'unset' });
    });
  });

  it('warns of a balance that is empty or below an end of the estimate', () => {
    for (const [cents, note] of [
      [-1, 'empty'],
      [0, 'empty'],
      [319, 'probably-too-low'],
      [320, 'may-be-too-low'],
      [499, 'may-be-too-low'],
      [500, undefined],
    ] as const)
      assert.equal(
        money({ receipts: history, balance: usd(cents) }).balanceNote(wanted),
        note,
        String(cents),
      );
    assert.equal(money({ receipts: history, balance: undefined }).balanceNote(wanted), undefined);
  });

  it('warns of a balance below the highest of the last five prices if there is no estimate', () => {
    const runs = [9_000, 100, 100, 800, 100, 100].map((cents) => paid(cents, 100));
    const note = (balance: Balance) => money({ receipts: runs, balance }).balanceNote(wanted);
    assert.equal(note(usd(799)), 'may-be-too-low');
    assert.equal(note(usd(800)), undefined);
    assert.equal(note({ balance_cents: 1, currency: 'EUR' }), undefined);
  });
});
