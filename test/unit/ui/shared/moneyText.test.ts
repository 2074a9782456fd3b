import assert from 'node:assert/strict';
import type { BudgetCheck, MonthSpending } from '../../../../src/core/money/accountMoney.ts';
import type { Estimate } from '../../../../src/core/money/estimate.ts';
import { golden } from '../../../helpers/golden.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const { estimateText, likelyPrice, expectedPriceText, rangeTooltip, unexpectedPrice } = await withVscode(
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
type Limits = Extract<BudgetCheck, { kind: 'checked' }>['limits'];
const checked = (limits: Limits, estimate: Estimate = range): BudgetCheck => ({
  ...{ kind: 'checked', limits, spending, estimate },
});
const unchecked = (limits: Limits, more: Partial<MonthSpending> = {}): BudgetCheck => ({
  ...{ kind: 'no-price', limits, spending: { ...spending, spentCents: 303, ...more } },
});

it('What is known about spending, budgets and prices is said without a promise', () => {
  const usd = { currency: 'USD', cents: 1_240 };
  const euros = { currency: 'EUR', cents: 5 };
  const unknown = { currency: undefined, cents: 5 };
  const of = (...[sums, unknown = 0]: [sums: object[], unknown?: number]) => {
    const amounts = { sums, unknown, runs: 6 } as MonthSpending['amounts'];
    return [amountsText(amounts), monthAmountsText({ ...spending, amounts })];
  };
  const may = { limit: 'run', limitCents: 300, over: 'may' } as const;
  const will = { limit: 'month', limitCents: 1_300, over: 'will' } as const;
  const over = (...given: Parameters<typeof checked>) => {
    const { message, detail } = overBudget(checked(...given), 'Work') ?? {};
    return [message, ...(detail?.split('\n') ?? [])];
  };
  const perRun = { limit: 'run', limitCents: 100, over: undefined } as const;
  const perMonth = { limit: 'month', limitCents: 350, over: undefined } as const;
  const yen: Estimate = { kind: 'range', lowCents: 28_000, highCents: 41_050, currency: 'JPY', runs: 5 };
  const same: Estimate = { kind: 'same', priceCents: 517, currency, atMs };
  /** A price in a row, in a code lens, beside the price of a charge, and if 5.90 USD or an expected price was charged. */
  const price = (estimate: Estimate) => [
    expectedPriceText(estimate),
    `lens: ${likelyPrice(estimate) ?? 'nothing'}`,
    `estimate: ${estimateText(estimate) ?? 'nothing'}`,
    `charged 5.90 USD: ${unexpectedPrice(estimate, 590, 'USD') ?? 'nothing'}`,
  ];
  golden('money', {
    'a sum': of([usd]),
    'a sum and unknown prices': of([usd], 2),
    'two currencies': of([usd, euros]),
    'two currencies, one unknown, and an unknown price': of([usd, euros, unknown], 1),
    'a sum in an unknown currency': of([unknown]),
    'an unknown price': of([], 1),
    'not all runs are loaded': [
      monthAmountsText({ ...spending, isComplete: false }),
      spentText({ ...spending, unknownPrices: 1, isComplete: false }),
    ],
    'prices in an unknown currency': spentText({ ...spending, unknownCurrencies: 2 }),
    'a pending submission without a price': pendingText({ ...spending, pendingCents: 0, pendingUnknown: 1 }),
    'a budget': budgetText(
      checked([
        { limit: 'run', limitCents: 500, over: undefined },
        { limit: 'month', limitCents: 5_000, over: undefined },
      ]),
    ),
    'no budget': budgetText({ kind: 'unset' }),
    'a budget in another currency': budgetText({
      ...{ kind: 'other-currency', budgetCurrency: 'EUR', currency: 'USD' },
    }),
    'a budget, without a price': budgetText(unchecked([perRun, perMonth])),
    'a budget, without a price, and not all runs loaded': budgetText(
      unchecked([perMonth], { isComplete: false }),
    ),
    'a budget per run, without a price': budgetText(unchecked([perRun])),
    'a budget in yen, without a price': budgetText(
      unchecked([{ ...perMonth, limitCents: 500_000 }], { currency: 'JPY', spentCents: 120_000 }),
    ),
    'over both budgets, one certainly': over([may, will]),
    'over both budgets, maybe': over([may, { ...will, over: 'may' }])[0],
    'over a budget, without an estimate': over([will], { kind: 'none' }),
    'within the budget': over([{ ...may, over: undefined }]),
    'price: none': price({ kind: 'none' }),
    'price: range': price(range),
    'price: same': price(same),
    'price: one run': price({ kind: 'one', sizeBytes: 1_200_000, priceCents: 300, currency }),
    'price: yen': price(yen),
    'the basis of a range': [rangeTooltip({ correct: 1, of: 1 }), rangeTooltip({ correct: 4, of: 5 })],
  });
  const most = {
    ...spending,
    month: '2026-09',
    spentCents: 1_234_567,
    isComplete: false,
    pendingCents: 123_456,
  };
  const both = [perRun, { ...perMonth, limitCents: 2_345_600 }] as const;
  const row = budgetText({ kind: 'checked', limits: both, spending: most, estimate: range }) ?? '';
  assert.ok(row.indexOf('pending') < 80, `a row of a box has 80 characters: ${row}`);
  for (const [before, cents, of] of [
    [range, 280, 'USD'],
    [range, 410, 'USD'],
    [range, 590, 'EUR'],
    [range, 590, undefined],
    [same, 517, 'USD'],
  ] as const)
    assert.equal(unexpectedPrice(before, cents, of), undefined);
});
