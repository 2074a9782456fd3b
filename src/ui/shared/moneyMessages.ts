import { env, l10n } from 'vscode';
import type { AccountBudget } from '../../core/accounts/account.ts';
import type { Balance } from '../../core/api/types.ts';
import type { BalanceNote } from '../../core/money/accountMoney.ts';
import type { BudgetCheck, LimitCheck, MonthSpending } from '../../core/money/budget.ts';
import { isWithin, type Estimate, type PriceRange } from '../../core/money/estimate.ts';
import type { ChargedReceipt } from '../../core/submission/intent.ts';
import { startOfMonth, type Amounts, type QueueTime } from '../../core/money/spending.ts';
import {
  amountText,
  compact,
  formatBytes,
  formatCount,
  formatDay,
  formatDuration,
  formatMoney,
  formatPrice,
} from './format.ts';
import { sanitizeServiceText } from './serviceText.ts';

/** Describes a price before it is charged, as the value of a row. */
export function priceText(estimate: Estimate): string {
  switch (estimate.kind) {
    case 'none':
      return notKnown();
    case 'range':
      return l10n.t('Likely {0} · from {1} runs', rangeText(estimate), formatCount(estimate.runs));
    case 'same':
      return l10n.t('{0} last time ({1})', money(estimate), formatDay(estimate.atMs));
    case 'one':
      return notKnown(
        l10n.t('your one run ({0}) cost {1}', formatBytes(estimate.sizeBytes), money(estimate)),
      );
    case 'changed':
      return notKnown(
        l10n.t(
          'the last price was outside its range ({0} on {1})',
          money(estimate),
          formatDay(estimate.atMs),
        ),
      );
    case 'far':
      return notKnown(farText(estimate));
    case 'priority':
      return l10n.t(
        '{0} in the standard queue · priority costs extra unless your plan includes it',
        rangeText(estimate),
      );
    case 'free':
      return notKnown(l10n.t('your nearest run cost nothing'));
  }
}

/** @param reason why there is no estimate */
function notKnown(...reason: string[]): string {
  return [l10n.t('Not known until charged'), ...reason].join(' · ');
}

/** Returns the estimate for a CodeLens and the final confirmation; undefined if there is none. */
export function likelyPrice(estimate: Estimate): string | undefined {
  return estimate.kind === 'range' ? l10n.t('likely {0}', rangeText(estimate)) : estimateText(estimate);
}

/** Returns the estimate to show next to a price; undefined if there is none. */
export function estimateText(estimate: Estimate): string | undefined {
  switch (estimate.kind) {
    case 'range':
      return rangeText(estimate);
    case 'same':
      return l10n.t('{0} last time', money(estimate));
    case 'priority':
      return l10n.t('{0} in the standard queue', rangeText(estimate));
    default:
      return undefined;
  }
}

/** Explains the basis of a range, and how many of the latest ranges were correct. */
export function rangeTooltip({ correct, of }: { correct: number; of: number }): string {
  const assumption = l10n.t(
    'Assumes that a larger dataset costs at least as much, and at most in proportion.',
  );
  // A single run proves nothing.
  if (of < 2) return assumption;
  return [assumption, l10n.t('Such a range held for {0} of your last {1} runs.', correct, of)].join(' ');
}

/** Describes a price that differs from its estimate; undefined for any other price, or in another currency. */
export function unexpectedPrice(
  before: Estimate,
  priceCents: number,
  currency: string | undefined,
): string | undefined {
  if (!('currency' in before) || before.currency !== currency) return undefined;
  const price = formatMoney(priceCents, currency);
  if (before.kind === 'range' && !isWithin(before, priceCents))
    return l10n.t('{0}, outside the estimate of {1}', price, rangeText(before));
  if (before.kind === 'same' && before.priceCents !== priceCents)
    return l10n.t('{0} instead of {1} last time', price, money(before));
  return undefined;
}

/**
 * What was survived, if the runs prove that a submission was charged once. Undefined if nothing was: its first attempt was
 * answered.
 */
export function survivedText(
  { attempts, settled }: ChargedReceipt,
  price: string,
  isSandbox: boolean,
): string | undefined {
  const paid = isSandbox ? l10n.t('{0} of sandbox money', price) : price;
  if (settled.how === 'found')
    return l10n.t('Charged {0} once: the response was lost, but its run was found', paid);
  if (settled.how !== 'answered' || attempts.length < 2) return undefined;
  return l10n.t('Charged {0} once; the answer came at attempt {1}', paid, formatCount(attempts.length));
}

function rangeText({ lowCents, highCents, currency }: Omit<PriceRange, 'kind' | 'runs'>): string {
  if (lowCents === highCents) return formatMoney(highCents, currency);
  return l10n.t('{0}–{1}', amountText(lowCents, env.language) ?? '', formatMoney(highCents, currency));
}

function farText({
  ratio,
  isLarger,
  measure,
  sizeBytes,
  ...nearest
}: Extract<Estimate, { kind: 'far' }>): string {
  const [size, price] = [formatBytes(sizeBytes), money(nearest)];
  return isLarger && measure === 'bytes'
    ? l10n.t('{0} times the size of your nearest run ({1}, {2})', formatCount(Math.round(ratio)), size, price)
    : l10n.t('your nearest run differs in size ({0}, {1})', size, price);
}

function money({ priceCents, currency }: { priceCents: number; currency: string }): string {
  return formatMoney(priceCents, currency);
}

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
  const known = sums.map(({ cents, currency }) => formatKnown(cents, currency)).join(' · ');
  return leastText(known, isComplete, unknown);
}

/** Formats a price whose currency may be unknown. */
function formatKnown(cents: number, currency: string | undefined): string {
  return currency === undefined ? formatPrice(cents, undefined) : formatMoney(cents, currency);
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

/** The same, to show next to what was spent. */
export function pendingText(spending: MonthSpending): string | undefined {
  const amount = pendingAmount(spending);
  if (amount === undefined) return undefined;
  return spending.pendingUnknown === 0 ? l10n.t('{0} pending', amount) : l10n.t('pending: {0}', amount);
}

function spentAndPending(spending: MonthSpending): string {
  return compact(spentText(spending), pendingText(spending)).join(' · ');
}

/** The limits of a budget: `5.00 USD per run · 50.00 USD per month`. */
export function limitsText({ perRunCents, perMonthCents, currency }: AccountBudget): string {
  return compact(
    perRunCents !== undefined && l10n.t('{0} per run', formatMoney(perRunCents, currency)),
    perMonthCents !== undefined && l10n.t('{0} per month', formatMoney(perMonthCents, currency)),
  ).join(' · ');
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

/** Warns about the balance before anything is uploaded. */
export function balanceNoteText(
  note: NonNullable<BalanceNote>,
  { balance_cents, currency }: Balance,
  isSandbox: boolean,
): string {
  if (note === 'probably-too-low') return l10n.t('The balance is probably too low for this run.');
  if (note === 'may-be-too-low') return l10n.t('The balance may be too low for this run.');
  const money = formatMoney(balance_cents, currency);
  return isSandbox
    ? l10n.t('The balance is {0} of sandbox money. The sandbox will refuse this run.', money)
    : l10n.t('The balance is {0}. The service will refuse this run unless your plan includes it.', money);
}

/** How long the runs of a queue waited. */
export function queueTimeText({ medianMs, runs }: QueueTime): string {
  return l10n.t('waited {0} (median of {1} runs)', formatDuration(medianMs), formatCount(runs));
}

function currenciesUnknown(count: number): string {
  return count === 1
    ? l10n.t('1 price in an unknown currency')
    : l10n.t('{0} prices in an unknown currency', formatCount(count));
}

function pricesUnknown(count: number): string {
  return count === 1 ? l10n.t('1 price unknown') : l10n.t('{0} prices unknown', formatCount(count));
}
