import { l10n } from 'vscode';
import type { BudgetCheck, LimitCheck, MonthSpending } from '../../core/money/budget.ts';
import { compact, formatMoney } from '../shared/format.ts';
import { priceText } from '../shared/priceText.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { monthText, pendingAmount, spentText } from '../shared/spendingText.ts';

/** The possible cost of unresolved submissions, to show next to what was spent. */
export function pendingText(spending: MonthSpending): string | undefined {
  const amount = pendingAmount(spending);
  if (amount === undefined) return undefined;
  return spending.pendingUnknown === 0 ? l10n.t('{0} pending', amount) : l10n.t('pending: {0}', amount);
}

function spentAndPending(spending: MonthSpending): string {
  return compact(spentText(spending), pendingText(spending)).join(' · ');
}

/** Describes the budget among other facts; undefined if none is set. */
export function budgetText(check: BudgetCheck): string | undefined {
  if (check.kind === 'unset') return undefined;
  if (check.kind === 'checked')
    return check.limits.map((limit) => limitText(limit, check.spending)).join(' · ');
  return l10n.t(
    'Budget not checked: it is in {0}, this account is charged in {1}',
    sanitizeServiceText(check.budgetCurrency),
    sanitizeServiceText(check.currency),
  );
}

function limitText({ limit, limitCents }: LimitCheck, spending: MonthSpending): string {
  const amount = formatMoney(limitCents, spending.currency);
  if (limit === 'run') return l10n.t('{0} per run', amount);
  return l10n.t('{0} in {1}: spent {2}', amount, monthText(spending.month), spentAndPending(spending));
}

/** The question before a run that exceeds a budget, or may; undefined for any other run. */
export function overBudget(
  check: BudgetCheck,
  account: string,
): { message: string; detail: string } | undefined {
  if (check.kind !== 'checked') return undefined;
  const { limits, spending, estimate } = check;
  const over = limits.filter((limit) => limit.over !== undefined);
  if (over.length === 0) return undefined;
  const isKnown = 'priceCents' in estimate || 'lowCents' in estimate;
  const lines = [
    ...over.flatMap(({ limit, limitCents }) => {
      const amount = formatMoney(limitCents, spending.currency);
      if (limit === 'run') return [l10n.t('Budget per run: {0}', amount)];
      return [
        l10n.t('Budget for {0}: {1}', monthText(spending.month), amount),
        l10n.t('Spent: {0}', spentAndPending(spending)),
      ];
    }),
    isKnown ? l10n.t('This run: {0}', priceText(estimate)) : l10n.t('This run’s price isn’t known.'),
    l10n.t('The budget warns you; it can’t stop the service from charging.'),
  ];
  const name = sanitizeServiceText(account);
  const message = over.some((limit) => limit.over === 'will')
    ? l10n.t('This run will exceed the monthly budget of {0}.', name)
    : over[0]?.limit === 'month'
      ? l10n.t('This run may exceed the monthly budget of {0}.', name)
      : l10n.t('This run may exceed the per-run budget of {0}.', name);
  return { message, detail: lines.join('\n') };
}
