import { l10n } from 'vscode';
import type { AccountBudget } from '../../core/accounts/account.ts';
import { accountMoneyOf, type MoneyFacts } from '../../core/money/accountMoney.ts';
import { monthText, spentText, underWayText } from '../shared/budgetMessages.ts';
import { formatMoney } from '../shared/format.ts';

/** What an account has spent this month, and its budget, a line each. */
export function spentLines(facts: MoneyFacts): string[] {
  const { spending } = accountMoneyOf(facts);
  const budget = budgetLimits(facts.account.budget);
  return [
    ...(spending === undefined
      ? []
      : [
          l10n.t(
            'Spent in {0}: {1}',
            monthText(spending.month),
            [spentText(spending), ...[underWayText(spending) ?? []].flat()].join(' · '),
          ),
        ]),
    ...(budget === '' ? [] : [l10n.t('Budget: {0}', budget)]),
  ];
}

function budgetLimits({ perRunCents, perMonthCents, currency }: AccountBudget = { currency: '' }): string {
  return [
    ...(perRunCents === undefined ? [] : [l10n.t('{0} per run', formatMoney(perRunCents, currency))]),
    ...(perMonthCents === undefined ? [] : [l10n.t('{0} per month', formatMoney(perMonthCents, currency))]),
  ].join(' · ');
}
