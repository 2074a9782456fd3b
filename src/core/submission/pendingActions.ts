import { mayBeCharged } from './intent.ts';
import type { PendingSubmission } from './pendingSubmission.ts';
import { RESEND_MS } from './sendingWindow.ts';

/**
 * Whether it can be sent again, or its draft be submitted anew; by this machine's clock, for what is offered. Whether it is
 * sent is decided by the service's.
 */
export function canContinue({ state, intent }: PendingSubmission, nowMs: number): boolean {
  if (state === 'unsent' || state === 'refused') return true;
  if (state !== 'unknown' && state !== 'not-charged') return false;
  const [first] = intent.attempts;
  return !mayBeCharged(intent) || (first !== undefined && nowMs - first.started.localMs < RESEND_MS);
}

/** Whether a look at runs and balance may tell more of it. */
export function canCheck({ state }: PendingSubmission): boolean {
  return state === 'unknown' || state === 'not-charged';
}

/** Whether the person can give it up. */
export function canDiscard({ state }: PendingSubmission): boolean {
  return state === 'unsent' || state === 'unknown' || state === 'not-charged' || state === 'refused';
}

/** What an account has that is not settled: something that may be or become a charge, or only what can be continued. */
export function stakeOf(
  pending: readonly PendingSubmission[],
  accountId: string,
): 'charge' | 'kept' | undefined {
  const states = pending.filter((one) => one.accountId === accountId).map(({ state }) => state);
  if (states.length === 0) return undefined;
  const isKept = (state: PendingSubmission['state']) =>
    state === 'unsent' || state === 'not-charged' || state === 'refused';
  return states.every(isKept) ? 'kept' : 'charge';
}
