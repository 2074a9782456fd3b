import assert from 'node:assert/strict';
import type { BudgetCheck, MonthSpending } from '../../../../src/core/money/budget.ts';
import type { Estimate } from '../../../../src/core/money/estimate.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const { amountsText, budgetText, overBudget, spentText, underWayText } = await withVscode(
  () => import('../../../../src/ui/shared/moneyMessages.ts'),
);

const spending: MonthSpending = {
  month: '2026-11',
  currency: 'USD',
  spentCents: 1_240,
  unknownPrices: 0,
  isComplete: true,
  underWayCents: 410,
  underWayUnknown: 0,
};
const range: Estimate = { kind: 'range', lowCents: 280, highCents: 410, currency: 'USD', runs: 5 };
const checked = (
  limits: Extract<BudgetCheck, { kind: 'checked' }>['limits'],
  estimate: Estimate = range,
): BudgetCheck => ({ kind: 'checked', limits, spending, estimate });

describe('messages of a budget', () => {
  it('say what is unknown of a sum, and keep currencies apart', () => {
    const usd = { currency: 'USD', cents: 1_240 };
    assert.equal(amountsText({ sums: [usd], unknown: 0, runs: 3 }), '12.40 USD');
    assert.equal(amountsText({ sums: [usd], unknown: 2, runs: 5 }), 'at least 12.40 USD (2 prices unknown)');
    assert.equal(
      amountsText({ sums: [usd, { currency: 'EUR', cents: 5 }], unknown: 0, runs: 4 }),
      '12.40 USD · 0.05 EUR',
    );
    assert.equal(amountsText({ sums: [], unknown: 1, runs: 1 }), '1 price unknown');
    assert.equal(
      spentText({ ...spending, unknownPrices: 1, isComplete: false }),
      'at least 12.40 USD (1 price unknown, not all runs loaded)',
    );
    assert.equal(
      underWayText({ ...spending, underWayCents: 0, underWayUnknown: 1 }),
      'under way: 1 price unknown',
    );
  });

  it('show the budget with what is spent and under way', () => {
    assert.equal(
      budgetText(
        checked([
          { limit: 'run', limitCents: 500, over: undefined },
          { limit: 'month', limitCents: 5_000, over: undefined },
        ]),
      ),
      '5.00 USD per run · 50.00 USD in November (UTC): spent 12.40 USD · 4.10 USD under way',
    );
    assert.equal(budgetText({ kind: 'unset' }), undefined);
    assert.equal(
      budgetText({ kind: 'other-currency', budgetCurrency: 'EUR', currency: 'USD' }),
      'Budget not checked: it is in EUR, this account is charged in USD',
    );
  });

  it('ask before a run that is over it, with what will be exceeded first', () => {
    const limits = [
      { limit: 'run', limitCents: 300, over: 'may' },
      { limit: 'month', limitCents: 1_300, over: 'will' },
    ] as const;
    assert.deepEqual(overBudget(checked(limits), 'Work'), {
      message: 'This run will exceed the monthly budget of Work.',
      detail: [
        'Budget per run: 3.00 USD',
        'Budget for November (UTC): 13.00 USD',
        'Spent: 12.40 USD · 4.10 USD under way',
        'This run: Likely 2.80–4.10 USD · from 5 runs',
        'The budget warns you; it can’t stop the service from charging.',
      ].join('\n'),
    });
    const unknown = overBudget(checked([limits[1]], { kind: 'none' }), 'Work');
    assert.match(unknown?.detail ?? '', /This run’s price isn’t known\./);
    assert.equal(overBudget(checked([{ ...limits[0], over: undefined }]), 'Work'), undefined);
  });
});
