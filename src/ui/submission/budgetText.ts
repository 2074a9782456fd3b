import { l10n } from 'vscode';
import {
  accountMoneyOf,
  type BudgetCheck,
  type LimitCheck,
  type MonthSpending,
} from '../../core/money/accountMoney.ts';
import type { Session } from '../../core/runs/session.ts';
import { chargedAt } from '../../core/submission/receipts.ts';
import type { ChargedReceipt, Receipt } from '../../core/submission/submission.ts';
import { compact, formatAmount, formatMoney } from '../shared/format.ts';
import { expectedPriceText } from '../shared/priceText.ts';
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

/** Spending against a month's limit: `3.03 of 3.50 USD`. */
function spentOfLimit(spending: MonthSpending, limitCents: number): string {
  const { spentCents, currency, unknownPrices, unknownCurrencies, isComplete } = spending;
  const [spent, limit] = [formatAmount(spentCents, currency), formatMoney(limitCents, currency)];
  return isComplete && unknownPrices + unknownCurrencies === 0
    ? l10n.t('{0} of {1}', spent, limit)
    : l10n.t('{0} or more of {1}', spent, limit);
}

/** Describes the budget among other facts; undefined if none is set. The month comes first: rows are cut. */
export function budgetText(check: BudgetCheck): string | undefined {
  if (check.kind === 'unset') return undefined;
  if (check.kind === 'checked')
    return check.limits
      .map((limit) => limitText(limit, check.spending))
      .reverse()
      .join(' · ');
  if (check.kind === 'no-price') {
    const { limits, spending } = check;
    const month = limits.find(({ limit }) => limit === 'month');
    if (month !== undefined) {
      const spent = spentOfLimit(spending, month.limitCents);
      return l10n.t('Budget not checked: this run’s price isn’t known ({0} spent)', spent);
    }
    const limit = formatMoney(limits[0]?.limitCents, spending.currency);
    return l10n.t('Budget of {0} per run not checked: this run’s price isn’t known', limit);
  }
  return l10n.t(
    'Budget not checked: it’s in {0}, but this account is charged in {1}',
    sanitizeServiceText(check.budgetCurrency),
    sanitizeServiceText(check.currency),
  );
}

function limitText({ limit, limitCents }: LimitCheck, spending: MonthSpending): string {
  if (limit === 'run') return l10n.t('{0} per run', formatMoney(limitCents, spending.currency));
  const spent = l10n.t('{0} spent in {1}', spentOfLimit(spending, limitCents), monthText(spending.month));
  return compact(spent, pendingText(spending)).join(' · ');
}

/** The question before a run that exceeds a budget, or may exceed it; undefined for any other run. */
export function overBudget(
  check: BudgetCheck,
  account: string,
): { message: string; detail: string } | undefined {
  if (check.kind !== 'checked') return undefined;
  const { limits, spending, estimate } = check;
  const over = limits.filter((limit) => limit.over !== undefined);
  if (over.length === 0) return undefined;
  const lines = [
    ...over.flatMap(({ limit, limitCents }) => {
      const amount = formatMoney(limitCents, spending.currency);
      if (limit === 'run') return [l10n.t('Budget per run: {0}', amount)];
      return [
        l10n.t('Budget for {0}: {1}', monthText(spending.month), amount),
        l10n.t('Spent: {0}', spentAndPending(spending)),
      ];
    }),
    l10n.t('This run: {0}', expectedPriceText(estimate)),
    l10n.t('The budget warns you; it can’t stop the service from charging.'),
  ];
  const name = sanitizeServiceText(account);
  return { message: overMessage(over, name), detail: lines.join('\n') };
}

/** @param over at least one */
function overMessage(over: readonly LimitCheck[], name: string): string {
  const isCertain = over.some((limit) => limit.over === 'will');
  if (over.length > 1)
    return isCertain
      ? l10n.t('This run will exceed the monthly budget for {0} and may exceed the per-run budget.', name)
      : l10n.t('This run may exceed the per-run and the monthly budget for {0}.', name);
  if (isCertain) return l10n.t('This run will exceed the monthly budget for {0}.', name);
  return over[0]?.limit === 'month'
    ? l10n.t('This run may exceed the monthly budget for {0}.', name)
    : l10n.t('This run may exceed the per-run budget for {0}.', name);
}

/**
 * Says what a charge cost and which limits of its account's budget it exceeded; undefined if none.
 * @param price undefined if it isn't known
 * @param receipts of all accounts
 */
export function exceededSentence(
  price: string | undefined,
  receipt: ChargedReceipt,
  receipts: readonly Receipt[],
  { account, balance, runs }: Session,
): string | undefined {
  const { budget } = account;
  if (budget === undefined) return undefined;
  const { localMs, serviceMs: nowMs = localMs } = chargedAt(receipt);
  // The month of the charge may be over when its run is found.
  const money = accountMoneyOf({ account, receipts, runs, pending: [], balance: balance.current, nowMs });
  const { spending } = money;
  if (spending === undefined) return undefined;
  const { perRunCents, perMonthCents } = money.exceededLimits(receipt.charge.run.run_id);
  const run = perRunCents === undefined ? undefined : formatMoney(perRunCents, budget.currency);
  if (perMonthCents === undefined)
    return run && price && l10n.t('Charged {0}, over the budget of {1} per run.', price, run);
  const [month, spent] = [monthText(spending.month), spentOfLimit(spending, perMonthCents)];
  if (price === undefined)
    return l10n.t('Charged; the price isn’t known yet, and {0} is at {1}.', month, spent);
  return run === undefined
    ? l10n.t('Charged {0}; {1} is at {2}.', price, month, spent)
    : l10n.t('Charged {0}, over the budget of {1} per run; {2} is at {3}.', price, run, month, spent);
}
