import { env, l10n } from 'vscode';
import type { AccountBudget } from '../../core/accounts/account.ts';
import type { MonthSpending } from '../../core/money/accountMoney.ts';
import { startOfMonth, type Amounts } from '../../core/money/spending.ts';
import { compact, formatCount, formatMoney, formatPrice } from './format.ts';

/** Formats a month such as `2026-11` as `November (UTC)`. */
export function monthText(month: string, style: 'short' | 'with-year' = 'short'): string {
  const name = new Intl.DateTimeFormat(env.language, {
    month: 'long',
    ...(style === 'with-year' && { year: 'numeric' }),
    timeZone: 'UTC',
  }).format(startOfMonth(month));
  return l10n.t('{0} (UTC)', name);
}

/**
 * The cost of several runs by currency: `at least 12.40 USD (2 prices unknown)`.
 * @param isComplete whether all of these runs are loaded
 */
export function amountsText({ sums, unknown }: Amounts, isComplete = true): string {
  const known = sums.map(({ cents, currency }) => (currency ? formatMoney : formatPrice)(cents, currency));
  return leastText(known.join(' · '), isComplete, unknown);
}

/** The known spending of a month in every currency. */
export function monthAmountsText({ amounts, currency, isComplete }: MonthSpending): string {
  const sums = amounts.sums.length === 0 ? [{ currency, cents: 0 }] : amounts.sums;
  return amountsText({ ...amounts, sums }, isComplete);
}

/** The known spending of a month in the currency of its budget. */
export function spentText(spending: MonthSpending): string {
  const { spentCents, currency, unknownPrices, unknownCurrencies, isComplete } = spending;
  return leastText(formatMoney(spentCents, currency), isComplete, unknownPrices, unknownCurrencies);
}

/** @param known empty if no price is known */
function leastText(known: string, isComplete: boolean, unknown: number, unknownCurrencies = 0): string {
  const reasons = compact(
    unknown > 0 && pricesUnknown(unknown),
    unknownCurrencies > 0 && currenciesUnknown(unknownCurrencies),
    !isComplete && l10n.t('not all runs loaded'),
  ).join(', ');
  if (known === '' || reasons === '') return known || reasons;
  return l10n.t('at least {0} ({1})', known, reasons);
}

/** The possible cost of unresolved submissions; undefined if there are none. */
export function pendingAmount({ pendingCents, pendingUnknown, currency }: MonthSpending): string | undefined {
  const unknown = pendingUnknown === 0 ? undefined : pricesUnknown(pendingUnknown);
  if (pendingCents === 0) return unknown;
  const known = formatMoney(pendingCents, currency);
  return unknown === undefined ? known : l10n.t('{0} ({1})', known, unknown);
}

/** The limits of a budget: `5.00 USD per run · 50.00 USD per month`. */
export function limitsText({ perRunCents, perMonthCents, currency }: AccountBudget): string {
  return compact(
    perRunCents !== undefined && l10n.t('{0} per run', formatMoney(perRunCents, currency)),
    perMonthCents !== undefined && l10n.t('{0} per month', formatMoney(perMonthCents, currency)),
  ).join(' · ');
}

function currenciesUnknown(count: number): string {
  return count === 1
    ? l10n.t('1 price in an unknown currency')
    : l10n.t('{0} prices in an unknown currency', formatCount(count));
}

function pricesUnknown(count: number): string {
  return count === 1 ? l10n.t('1 price unknown') : l10n.t('{0} prices unknown', formatCount(count));
}
