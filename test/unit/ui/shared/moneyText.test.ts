import assert from 'node:assert/strict';
import type { BudgetCheck, MonthSpending } from '../../../../src/core/money/budget.ts';
import type { Estimate } from '../../../../src/core/money/estimate.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const { estimateText, likelyPrice, priceText, rangeTooltip, unexpectedPrice } = await withVscode(
  () => import('../../../../src/ui/shared/priceText.ts'),
);
const { amountsText, monthAmountsText, spentText } = await withVscode(
  () => import('../../../../src/ui/shared/spendingText.ts'),
);
const { budgetText, overBudget, pendingText } = await withVscode(
  () => import('../../../../src/ui/submission/budgetText.ts'),
);

const currency = 'USD';
const atMs = Date.UTC(2026, 4, 3, 12);
const range: Estimate = { kind: 'range', lowCents: 280, highCents: 410, currency, runs: 5 };
const nearest = { sizeBytes: 4_000_000, priceCents: 517, currency };
const far: Estimate = { kind: 'far', ratio: 9.1, measure: 'bytes', isLarger: true, ...nearest };
const spending: MonthSpending = {
  month: '2026-11',
  currency,
  spentCents: 1_240,
  unknownPrices: 0,
  unknownCurrencies: 0,
  amounts: { sums: [], unknown: 0, runs: 0 },
  isComplete: true,
  pendingCents: 410,
  pendingUnknown: 0,
};
const checked = (
  limits: Extract<BudgetCheck, { kind: 'checked' }>['limits'],
  estimate: Estimate = range,
): BudgetCheck => ({ kind: 'checked', limits, spending, estimate });

describe('Budget messages', () => {
  it('state what is unknown about a sum, and never add up different currencies', () => {
    const usd = { currency: 'USD', cents: 1_240 };
    assert.equal(amountsText({ sums: [usd], unknown: 0, runs: 3 }), '12.40 USD');
    assert.equal(amountsText({ sums: [usd], unknown: 2, runs: 5 }), 'at least 12.40 USD (2 prices unknown)');
    assert.equal(
      amountsText({ sums: [usd, { currency: 'EUR', cents: 5 }], unknown: 0, runs: 4 }),
      '12.40 USD · 0.05 EUR',
    );
    const unknown = { currency: undefined, cents: 5 };
    assert.equal(amountsText({ sums: [unknown], unknown: 0, runs: 1 }), '0.05 (currency unknown)');
    assert.equal(amountsText({ sums: [], unknown: 1, runs: 1 }), '1 price unknown');
    assert.equal(
      monthAmountsText({ ...spending, isComplete: false }),
      'at least 0.00 USD (not all runs loaded)',
    );
    const euros = { currency: 'EUR', cents: 5 };
    assert.equal(
      monthAmountsText({ ...spending, amounts: { sums: [usd, euros, unknown], unknown: 1, runs: 6 } }),
      'at least 12.40 USD · 0.05 EUR · 0.05 (currency unknown) (1 price unknown)',
    );
    assert.equal(
      spentText({ ...spending, unknownPrices: 1, isComplete: false }),
      'at least 12.40 USD (1 price unknown, not all runs loaded)',
    );
    assert.equal(
      spentText({ ...spending, unknownCurrencies: 2 }),
      'at least 12.40 USD (2 prices in an unknown currency)',
    );
    assert.equal(
      pendingText({ ...spending, pendingCents: 0, pendingUnknown: 1 }),
      'pending: 1 price unknown',
    );
  });

  it('show the budget with spent and pending amounts', () => {
    assert.equal(
      budgetText(
        checked([
          { limit: 'run', limitCents: 500, over: undefined },
          { limit: 'month', limitCents: 5_000, over: undefined },
        ]),
      ),
      '5.00 USD per run · 50.00 USD in November (UTC): spent 12.40 USD · 4.10 USD pending',
    );
    assert.equal(budgetText({ kind: 'unset' }), undefined);
    assert.equal(
      budgetText({ kind: 'other-currency', budgetCurrency: 'EUR', currency: 'USD' }),
      'Budget not checked: it is in EUR, this account is charged in USD',
    );
  });

  it('ask before a run that may exceed a limit, and mention a certain excess first', () => {
    const limits = [
      { limit: 'run', limitCents: 300, over: 'may' },
      { limit: 'month', limitCents: 1_300, over: 'will' },
    ] as const;
    assert.deepEqual(overBudget(checked(limits), 'Work'), {
      message: 'This run will exceed the monthly budget of Work.',
      detail: [
        'Budget per run: 3.00 USD',
        'Budget for November (UTC): 13.00 USD',
        'Spent: 12.40 USD · 4.10 USD pending',
        'This run: Likely 2.80–4.10 USD · from 5 runs',
        'The budget warns you; it can’t stop the service from charging.',
      ].join('\n'),
    });
    const unknown = overBudget(checked([limits[1]], { kind: 'none' }), 'Work');
    assert.match(unknown?.detail ?? '', /This run’s price isn’t known\./);
    assert.equal(overBudget(checked([{ ...limits[0], over: undefined }]), 'Work'), undefined);
  });
});

describe('Price messages', () => {
  it('describe what is known about a price without promising it', () => {
    const texts: [Estimate, string, string?][] = [
      [{ kind: 'none' }, 'Not known until charged'],
      [range, 'Likely 2.80–4.10 USD · from 5 runs', 'likely 2.80–4.10 USD'],
      [
        { kind: 'same', priceCents: 517, currency, atMs },
        '5.17 USD last time (May 3, 2026)',
        '5.17 USD last time',
      ],
      [
        { kind: 'one', sizeBytes: 1_200_000, priceCents: 300, currency },
        'Not known until charged · your one run (1.2 MB) cost 3.00 USD',
      ],
      [far, 'Not known until charged · 9 times the size of your nearest run (4.0 MB, 5.17 USD)'],
      [
        { ...far, isLarger: false, measure: 'rows' },
        'Not known until charged · your nearest run differs in size (4.0 MB, 5.17 USD)',
      ],
      [
        { kind: 'changed', atMs, priceCents: 410, currency },
        'Not known until charged · the last price was outside its range (4.10 USD on May 3, 2026)',
      ],
      [
        { kind: 'priority', lowCents: 280, highCents: 410, currency },
        '2.80–4.10 USD in the standard queue · priority costs extra unless your plan includes it',
        '2.80–4.10 USD in the standard queue',
      ],
      [
        { kind: 'priority', lowCents: 517, highCents: 517, currency },
        '5.17 USD in the standard queue · priority costs extra unless your plan includes it',
        '5.17 USD in the standard queue',
      ],
      [{ kind: 'free' }, 'Not known until charged · your nearest run cost nothing'],
    ];
    for (const [estimate, row, lens] of texts) {
      assert.equal(priceText(estimate), row);
      assert.equal(likelyPrice(estimate), lens);
    }
  });

  it('explain the basis of a range, and how many of the latest ranges were correct', () => {
    assert.match(rangeTooltip({ correct: 1, of: 1 }), /at most in proportion\.$/);
    assert.match(rangeTooltip({ correct: 4, of: 5 }), /\. Such a range held for 4 of your last 5 runs\.$/);
  });

  it('show the estimate next to a price, and report only prices that differ from it', () => {
    const same: Estimate = { kind: 'same', priceCents: 517, currency, atMs };
    assert.deepEqual([range, same, far].map(estimateText), [
      '2.80–4.10 USD',
      '5.17 USD last time',
      undefined,
    ]);
    assert.equal(unexpectedPrice(range, 590, 'USD'), '5.90 USD, outside the estimate of 2.80–4.10 USD');
    assert.equal(unexpectedPrice(same, 590, 'USD'), '5.90 USD instead of 5.17 USD last time');
    for (const [before, cents, of] of [
      [range, 280, 'USD'],
      [range, 410, 'USD'],
      [range, 590, 'EUR'],
      [range, 590, undefined],
      [same, 517, 'USD'],
      [far, 1, 'USD'],
    ] as const)
      assert.equal(unexpectedPrice(before, cents, of), undefined);
  });
});
