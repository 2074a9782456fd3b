import type { Account, AccountBudget } from '../accounts/account.ts';
import type { Balance } from '../api/types.ts';
import { serviceNowMs, type Session } from '../runs/session.ts';
import { mayBecomeCharge, type PendingSubmission } from '../submission/pendingSubmission.ts';
import { chargedReceiptsOf, type ChargedReceipt, type Receipt } from '../submission/submission.ts';
import {
  checkBudget,
  exceededLimits,
  monthSpending,
  type BudgetCheck,
  type MonthSpending,
} from './budget.ts';
import {
  likelyEnds,
  estimateOf,
  leastCents,
  parametersOf,
  type Estimate,
  type RunParameters,
} from './estimate.ts';
import { chargedRunsOf, type ChargedRun, type KnownRuns } from './spending.ts';

export type { BudgetCheck, LimitCheck, MonthSpending } from './budget.ts';

/** Whether the balance may be too low for a run; undefined if nothing says so. */
export type BalanceNote = 'empty' | 'probably-too-low' | 'may-be-too-low' | undefined;

/** The known finances of an account at one point in time. */
export interface AccountMoney {
  /** The charged receipts of the account. */
  readonly receipts: readonly ChargedReceipt[];
  /** All runs known to have been charged, newest first. */
  readonly charged: readonly ChargedRun[];
  /** Undefined while no currency is known, so that nothing can be compared. */
  readonly spending: MonthSpending | undefined;
  estimate(wanted: RunParameters): Estimate;
  /** @param wanted undefined if the size is unknown */
  checkBudget(wanted: RunParameters | undefined): BudgetCheck;
  balanceNote(wanted: RunParameters | undefined): BalanceNote;
  /** Returns the limits that a charged run exceeded, by its own price or this month's sum; none if unknown. */
  exceededLimits(runId: string): Pick<AccountBudget, 'perRunCents' | 'perMonthCents'>;
}

export interface MoneyFacts {
  account: Pick<Account, 'id' | 'budget'>;
  /** The journal's receipts of all accounts. */
  receipts: readonly Receipt[];
  /** Undefined if the runs must not be shown, as without an API key. */
  runs: KnownRuns | undefined;
  /** The pending submissions of all accounts, except the one about to be submitted. */
  pending: readonly PendingSubmission[];
  balance: Balance | undefined;
  /** By the service's clock, if known. */
  nowMs: number;
}

export function accountMoneyOf({
  account,
  receipts: all,
  runs,
  pending,
  balance,
  nowMs,
}: MoneyFacts): AccountMoney {
  const { budget } = account;
  const receipts = chargedReceiptsOf(all, account.id);
  const own = pending.filter(({ accountId }) => accountId === account.id);
  const charged = chargedRunsOf(receipts, runs, own);
  const currency =
    balance?.currency ?? charged.find((run) => run.currency !== undefined)?.currency ?? budget?.currency;
  const estimate = (wanted: RunParameters | undefined): Estimate =>
    wanted === undefined ? { kind: 'none' } : estimateOf(receipts, wanted, currency);
  const lastPrices = charged
    .slice(0, 5)
    .flatMap((run) => (run.currency === currency ? (run.priceCents ?? []) : []));
  const dearestOfLast5 = lastPrices.length === 0 ? undefined : Math.max(...lastPrices);
  const pendingPrices = own.filter(mayBecomeCharge).flatMap(({ id, submission }) => {
    // Their runs, and runs that may be theirs, are already counted as charged.
    const listed = charged.filter(({ openId }) => openId === id);
    const mostCents = likelyEnds(estimate(parametersOf(submission)))?.highCents ?? dearestOfLast5;
    if (listed.length === 0) return [mostCents];
    if (mostCents === undefined || listed.some(({ isMarked }) => isMarked)) return [];
    // A possible run may be somebody else's, so the larger price counts.
    const countedCents = listed.map((run) => (run.currency === currency ? (run.priceCents ?? 0) : 0));
    return [Math.max(0, mostCents - Math.max(...countedCents))];
  });
  const spending =
    currency === undefined ? undefined : monthSpending(charged, runs, pendingPrices, currency, nowMs);
  return {
    receipts,
    charged,
    spending,
    estimate,
    checkBudget: (wanted) =>
      checkBudget(budget, spending, estimate(wanted), wanted && leastCents(receipts, wanted, currency)),
    exceededLimits(runId) {
      const charge = charged.find((run) => run.runId === runId);
      return (budget && charge && spending && exceededLimits(budget, charge, spending)) ?? {};
    },
    balanceNote(wanted) {
      if (balance === undefined) return undefined;
      const likely = likelyEnds(estimate(wanted));
      const { balance_cents: cents } = balance;
      if (cents <= 0) return 'empty';
      if (cents < (likely?.lowCents ?? 0)) return 'probably-too-low';
      const most = likely?.highCents ?? dearestOfLast5;
      return most !== undefined && cents < most ? 'may-be-too-low' : undefined;
    },
  };
}

/**
 * Returns the known finances of a session's account now.
 * @param pending all submissions except the one about to be sent
 */
export function moneyOf(
  session: Session,
  receipts: readonly Receipt[],
  pending: readonly PendingSubmission[],
): AccountMoney {
  const { account, balance, runs } = session;
  const nowMs = serviceNowMs(session);
  return accountMoneyOf({ account, receipts, runs, pending, balance: balance.current, nowMs });
}
