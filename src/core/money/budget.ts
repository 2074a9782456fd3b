import type { AccountBudget } from '../accounts/account.ts';
import { likelyEnds, type Estimate } from './estimate.ts';
import {
  amountsOf,
  monthOf,
  startOfMonth,
  type Amounts,
  type ChargedRun,
  type KnownRuns,
} from './spending.ts';

/** The known charges of a month in one currency. */
export interface MonthSpending {
  /** In UTC, as `2026-05`. */
  month: string;
  currency: string;
  spentCents: number;
  /** The number of prices that are unknown or in an unknown currency. They are missing in `spentCents`. */
  unknownPrices: number;
  unknownCurrencies: number;
  /** The month's cost in every currency; a budget counts only its own. */
  amounts: Amounts;
  /** Whether every run of the month is loaded. */
  isComplete: boolean;
  /** The possible cost of unresolved submissions. */
  pendingCents: number;
  /** The number of unresolved submissions without an estimated price. */
  pendingUnknown: number;
}

/**
 * `will`: the spent and pending amounts exceed the limit already. `may`: they do with the upper end of the estimate, or
 * with the least price if there is no estimate.
 */
export interface LimitCheck {
  limit: 'run' | 'month';
  limitCents: number;
  over: 'will' | 'may' | undefined;
}

export type BudgetCheck =
  | { kind: 'unset' }
  /** @property currency of the account's charges; it cannot be compared with `budgetCurrency` */
  | { kind: 'other-currency'; budgetCurrency: string; currency: string }
  /** The price is unknown, and no limit is exceeded without it. */
  | { kind: 'no-price'; limits: readonly LimitCheck[]; spending: MonthSpending }
  | { kind: 'checked'; limits: readonly LimitCheck[]; spending: MonthSpending; estimate: Estimate };

/**
 * Returns the charges of this month.
 * @param pendingPrices the possible cost of each submission in progress; undefined if unknown
 */
export function monthSpending(
  charged: readonly ChargedRun[],
  runs: Pick<KnownRuns, 'isCompleteSince'> | undefined,
  pendingPrices: readonly (number | undefined)[],
  currency: string,
  nowMs: number,
): MonthSpending {
  const month = monthOf(nowMs);
  // A run without a time was just submitted.
  const ofMonth = charged.filter(({ createdAtMs }) => monthOf(createdAtMs ?? nowMs) === month);
  const amounts = amountsOf(ofMonth);
  const known = pendingPrices.filter((cents) => cents !== undefined);
  return {
    month,
    currency,
    spentCents: amounts.sums.find((sum) => sum.currency === currency)?.cents ?? 0,
    unknownPrices: amounts.unknown,
    unknownCurrencies: ofMonth.filter((run) => run.priceCents && run.currency === undefined).length,
    amounts,
    isComplete: runs?.isCompleteSince(startOfMonth(month)) ?? false,
    pendingCents: known.reduce((sum, cents) => sum + cents, 0),
    pendingUnknown: pendingPrices.length - known.length,
  };
}

/**
 * Compares a run with the budget. Reaching a limit does not exceed it.
 * @param leastCents what the run costs at least, if known
 */
export function checkBudget(
  budget: AccountBudget | undefined,
  spending: MonthSpending | undefined,
  estimate: Estimate,
  leastCents: number | undefined,
): BudgetCheck {
  const { perRunCents, perMonthCents, currency: budgetCurrency } = budget ?? { currency: '' };
  const isUnset = perRunCents === undefined && perMonthCents === undefined;
  if (isUnset || spending === undefined) return { kind: 'unset' };
  const { currency, spentCents, pendingCents } = spending;
  if (currency !== budgetCurrency) return { kind: 'other-currency', budgetCurrency, currency };
  const likelyCents = likelyEnds(estimate)?.highCents ?? leastCents;
  const check = (limit: LimitCheck['limit'], limitCents: number, usedCents: number): LimitCheck => ({
    limit,
    limitCents,
    over: usedCents > limitCents ? 'will' : usedCents + (likelyCents ?? 0) > limitCents ? 'may' : undefined,
  });
  const limits = [
    ...(perRunCents === undefined ? [] : [check('run', perRunCents, 0)]),
    ...(perMonthCents === undefined ? [] : [check('month', perMonthCents, spentCents + pendingCents)]),
  ];
  return likelyCents === undefined && limits.every(({ over }) => over === undefined)
    ? { kind: 'no-price', limits, spending }
    : { kind: 'checked', limits, spending, estimate };
}

/** Returns the limits that a charge exceeded, by its own price or by its month's sum. */
export function exceededLimits(
  { perRunCents = Infinity, perMonthCents = Infinity, currency }: AccountBudget,
  charge: Pick<ChargedRun, 'currency' | 'priceCents'>,
  spending: MonthSpending,
): Pick<AccountBudget, 'perRunCents' | 'perMonthCents'> {
  const isOverRun = charge.currency === currency && (charge.priceCents ?? 0) > perRunCents;
  const isOverMonth = spending.currency === currency && spending.spentCents > perMonthCents;
  return { ...(isOverRun && { perRunCents }), ...(isOverMonth && { perMonthCents }) };
}
