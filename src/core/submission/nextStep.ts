import { DatasetChangedError, mayPass, retryAfterOf, ServiceError, statusOf } from '../api/errors.ts';
import { CancelledError } from '../base/errors.ts';
import { MAX_RETRY_AFTER_MS, RETRIES, retryDelayMs } from '../base/retry.ts';
import { SubmissionError, TooEarlyError } from './errors.ts';
import { mayBeCharged, RESEND_MS, type Intent, type Moment } from './intent.ts';
import { passedMs } from './reconcilePolicy.ts';

/** How far two times of the service may seem to be apart for rounding and travel. */
export const MARGIN_MS = 15 * 60_000;

/** What follows an attempt that ended without a run. */
export type NextStep =
  /** The service refused it, and nothing can have been charged: a change and a new Idempotency-Key may help. */
  | { kind: 'refused' }
  /** Nothing can have been charged, and these bytes will not be sent again. */
  | { kind: 'dropped' }
  /** Nothing can have been charged; the same may be sent later, after the wait that the service asked for. */
  | { kind: 'unsent'; waitMs: number }
  /** Again with the same Idempotency-Key and bytes; `waitMs` of the time is what the service asked for. */
  | { kind: 'retry'; afterMs: number; waitMs: number }
  /** It may have been charged: check before anything else is done. */
  | { kind: 'reconcile'; waitMs: number };

/** What has happened since the user last asked for it to be sent. */
export interface AttemptHistory {
  /** Whether an attempt before the last one, at any time, released its closing boundary. */
  closedBefore: boolean;
  /** Whether the last one did. */
  closedNow: boolean;
  /** How many attempts there were, the last one included. */
  attempts: number;
  /** How many at the end got the status of the last one. */
  sameStatus: number;
}

const MAX_SAME_SERVER_ERROR = 3;

/** Another attempt would end the same way. */
const NOT_REPEATED = ['tls', 'proxy'] as const;
/** The refusals of the contract (spec: POST /runs): whatever they refuse was not charged. */
const REFUSALS: ReadonlySet<number> = new Set([401, 402, 422]);

/**
 * Decides what follows an attempt (the contract's answers; for all else nothing is believed but the closing boundary).
 * @param random from 0 up to 1; full jitter, so that clients which failed together do not return together
 */
export function nextStep(error: unknown, history: AttemptHistory, random: number): NextStep {
  const closed = history.closedBefore || history.closedNow;
  if (error instanceof CancelledError || error instanceof DatasetChangedError)
    return closed ? { kind: 'reconcile', waitMs: 0 } : { kind: 'dropped' };
  // The earlier attempt may have been charged, and its charge be the very reason of the refusal.
  if (isRefusal(error)) return history.closedBefore ? { kind: 'reconcile', waitMs: 0 } : { kind: 'refused' };
  const waitMs = error instanceof TooEarlyError ? error.retryAfterMs : retryAfterOf(error);
  const afterMs = isWorthRepeating(error, history)
    ? retryDelayMs(RETRIES.submission, history.attempts - 1, random, waitMs)
    : undefined;
  if (afterMs === undefined) return { kind: closed ? 'reconcile' : 'unsent', waitMs };
  return { kind: 'retry', afterMs, waitMs };
}

/**
 * Nothing is sent before the time that the service asked for after the last attempt.
 * @throws TooEarlyError
 */
export function assertNotTooEarly({ attempts }: Intent, now: Moment): void {
  const notBefore = attempts.at(-1)?.notBefore;
  if (notBefore === undefined) return;
  const waitMs =
    notBefore.serviceMs === undefined || now.serviceMs === undefined
      ? notBefore.localMs - now.localMs
      : notBefore.serviceMs - now.serviceMs;
  // Longer than any that is stored: the clock was set.
  if (waitMs > 0 && waitMs <= MAX_RETRY_AFTER_MS) throw new TooEarlyError(waitMs);
}

/**
 * Lets an intent be sent, or sent again, at this moment. One that cannot have been charged may always be: the service has
 * nothing to forget.
 * @throws SubmissionError `window-closed`, `clocks-disagree`
 */
export function assertMayResend(intent: Intent, now: Moment): void {
  const first = intent.attempts[0]?.started;
  if (first === undefined || !mayBeCharged(intent)) return;
  if (first.serviceMs === undefined || now.serviceMs === undefined)
    throw new SubmissionError('clocks-disagree');
  const serviceMs = now.serviceMs - first.serviceMs;
  if (serviceMs < -MARGIN_MS) throw new SubmissionError('clocks-disagree');
  // However little the service's clock says: it may have been set back.
  if (Math.max(serviceMs, passedMs(first, now) ?? 0) >= RESEND_MS) throw new SubmissionError('window-closed');
}

function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && error.known && REFUSALS.has(error.httpStatus);
}

function isWorthRepeating(error: unknown, { sameStatus }: AttemptHistory): boolean {
  if (error instanceof TooEarlyError) return true;
  // A 425 after the closing boundary says nothing of a charge.
  if (statusOf(error) === 425) return false;
  return mayPass(error, NOT_REPEATED) && ((statusOf(error) ?? 0) < 500 || sameStatus < MAX_SAME_SERVER_ERROR);
}
