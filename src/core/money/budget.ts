import type { AccountBudget } from '../accounts/account.ts';
import { lowerCents, upperCents, type Estimate } from './estimate.ts';
import { amountsOf, monthOf, startOfMonth, type ChargedRun, type KnownRuns } from './spending.ts';

/** The known charges of a month in one currency. */
export interface MonthSpending {
  /** In UTC, as `2026-05`. */
  month: string;
  currency: string;
  spentCents: number;
  /** The number of prices that are unknown or in another currency. `spentCents` is a lower bound then. */
  unknownPrices: number;
  /** Whether every run of the month is loaded. */
  isComplete: boolean;
  /** The possible cost of unresolved submissions. */
  pendingCents: number;
  /** The number of unresolved submissions without an estimated price. */
  pendingUnknown: number;
}

/** `will`: even the lower end of the estimate exceeds the limit. */
export interface LimitCheck {
  limit: 'run' | 'month';
  limitCents: number;
  over: 'will' | 'may' | undefined;
}

export type BudgetCheck =
  | { kind: 'unset' }
  /** @property currency of the account's charges, which cannot be compared with `budgetCurrency` */
  | { kind: 'other-currency'; budgetCurrency: string; currency: string }
  | { kind: 'checked'; limits: readonly LimitCheck[]; spending: MonthSpending; estimate: Estimate };

/** @param pendingPrices the possible cost of each submission in progress; undefined without evidence */
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
  const isOurs = (run: ChargedRun) => run.priceCents === undefined || run.currency === currency;
  const { sums, unknown } = amountsOf(ofMonth.filter(isOurs));
  const known = pendingPrices.filter((cents) => cents !== undefined);
  return {
    month,
    currency,
    spentCents: sums[0]?.cents ?? 0,
    unknownPrices: unknown + ofMonth.filter((run) => !isOurs(run)).length,
    isComplete: runs?.isCompleteSince(startOfMonth(month)) ?? false,
    pendingCents: known.reduce((sum, cents) => sum + cents, 0),
    pendingUnknown: pendingPrices.length - known.length,
  };
}

/** Compares a run with the budget. Reaching a limit does not exceed it. */
export function checkBudget(
  budget: AccountBudget | undefined,
  spending: MonthSpending | undefined,
  estimate: Estimate,
): BudgetCheck {
  const { perRunCents, perMonthCents, currency: budgetCurrency } = budget ?? { currency: '' };
  const isUnset = perRunCents === undefined && perMonthCents === undefined;
  if (isUnset || spending === undefined) return { kind: 'unset' };
  const { currency, spentCents, pendingCents } = spending;
  if (currency !== budgetCurrency) return { kind: 'other-currency', budgetCurrency, currency };
  const isSame = !('currency' in estimate) || estimate.currency === currency;
  const low = (isSame ? lowerCents(estimate) : undefined) ?? 0;
  const high = (isSame ? upperCents(estimate) : undefined) ?? low;
  const check = (limit: LimitCheck['limit'], limitCents: number, from: number, to: number): LimitCheck => ({
    limit,
    limitCents,
    over: from > limitCents ? 'will' : to > limitCents ? 'may' : undefined,
  });
  return {
    kind: 'checked',
    limits: [
      ...(perRunCents === undefined ? [] : [check('run', perRunCents, low, high)]),
      ...(perMonthCents === undefined
        ? []
        : // Submissions in progress may not be charged after all.
          [check('month', perMonthCents, spentCents + low, spentCents + pendingCents + high)]),
    ],
    spending,
    estimate,
  };
}
