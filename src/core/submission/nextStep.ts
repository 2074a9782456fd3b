import { DatasetChangedError, isTransient, NetworkError, ServiceError, statusOf } from '../api/errors.ts';
import { CancelledError } from '../base/errors.ts';
import { RETRIES, retryDelayMs } from '../base/retry.ts';
import { TooEarlyError, waitMsOf } from './errors.ts';
import { MARGIN_MS, passedMs } from './reconcilePolicy.ts';
import {
  askedWaitMs,
  isSent,
  RESEND_MS,
  serviceStartMs,
  type Submission,
  type Moment,
} from './submission.ts';

/** What to do after an attempt that ended without a run. `waitMs`: how long the service asked to wait. */
export type NextStep =
  /** The service refused it and nothing can have been charged. A new submission with other choices may succeed. */
  | { kind: 'refused' }
  /** Nothing can have been charged, and these bytes won't be sent again. */
  | { kind: 'dropped' }
  /** Nothing can have been charged. It may be sent after the wait. */
  | { kind: 'unsent'; waitMs: number }
  /** Retry after `afterMs`, which includes the wait, with the same Idempotency-Key and bytes. */
  | { kind: 'retry'; afterMs: number; waitMs: number }
  /** It may have been charged: check before doing anything else. */
  | { kind: 'reconcile'; waitMs: number };

/** The attempts since the user last asked to send. */
export interface AttemptHistory {
  /** Whether any attempt before the last one, at any time, sent its last bytes. */
  wasClosed: boolean;
  /** Whether the last attempt sent its last bytes. */
  isClosed: boolean;
  /** The number of attempts, including the last one. */
  attempts: number;
  /** How many consecutive attempts, up to the last one, ended with the same status. */
  sameStatus: number;
  /** How long it may still wait because the service asks it to, in milliseconds. */
  patienceMs: number;
}

const MAX_SAME_SERVER_ERROR = 3;

/** The shortest delay of a resend, so that a run is listed by then; and while the service may still be pricing. */
const LISTED_MS = 5_000;
const PRICED_MS = 60_000;

/** Network errors with which another attempt would end, too. */
const LASTING = ['tls', 'proxy'] as const;
/** The refusals of the contract, each with its status (spec: "Errors"). After one of them nothing was charged. */
const REFUSALS: ReadonlyMap<string, number> = new Map([
  ['invalid_api_key', 401],
  ['insufficient_balance', 402],
  ['validation_failed', 422],
  ['model_not_available', 422],
  ['consent_required', 422],
]);

/**
 * Decides what follows a failed attempt. After the last bytes, only the contract's refusals rule out a charge.
 * @param random at least 0, less than 1: full jitter
 */
export function nextStep(error: unknown, history: AttemptHistory, random: number): NextStep {
  const mayBeCharged = history.wasClosed || history.isClosed;
  if (error instanceof CancelledError || error instanceof DatasetChangedError)
    return mayBeCharged ? { kind: 'reconcile', waitMs: 0 } : { kind: 'dropped' };
  // An earlier attempt may have been charged, and its charge may be the reason for this refusal.
  if (isRefusal(error)) return history.wasClosed ? { kind: 'reconcile', waitMs: 0 } : { kind: 'refused' };
  const waitMs = waitMsOf(error);
  const policy = { ...RETRIES.submission, longestRetryAfterMs: history.patienceMs };
  const afterMs = isWorthRepeating(error, history)
    ? retryDelayMs(policy, history.attempts - 1, random, waitMs)
    : undefined;
  if (afterMs === undefined) return { kind: mayBeCharged ? 'reconcile' : 'unsent', waitMs };
  const leastMs = !mayBeCharged ? 0 : mayBePricing(error) ? PRICED_MS : LISTED_MS;
  return { kind: 'retry', afterMs: Math.max(afterMs, leastMs), waitMs };
}

/** Ensures that the Retry-After of the last attempt has passed. @throws TooEarlyError */
export function assertNotTooEarly(submission: Submission, now: Moment): void {
  const waitMs = askedWaitMs(submission, now);
  if (waitMs > 0) throw new TooEarlyError(waitMs);
}

/** Why a submission must not be sent: codes of `SubmissionError`. */
type Obstacle = 'key-replaced' | 'too-late' | 'clocks-disagree';

/**
 * Returns why a submission must not be sent now (rule 10 in docs/journal.md); undefined if it may be.
 * @param isOwn whether this process created it: then its own clocks suffice until its last bytes leave
 */
export function obstacleToSending(
  submission: Submission,
  now: Moment,
  keyId: string | undefined,
  isOwn: boolean,
): Obstacle | undefined {
  const { created } = submission;
  if (keyId !== submission.keyId) return 'key-replaced';
  const serviceMs = (now.serviceMs ?? NaN) - (serviceStartMs(submission) ?? NaN);
  const isKnown = serviceMs >= -MARGIN_MS;
  // The longest of all clocks counts, since each may have been set back.
  const passed = [isKnown ? serviceMs : 0, now.localMs - created.localMs, passedMs(created, now) ?? 0];
  if (Math.max(...passed) >= RESEND_MS) return 'too-late';
  return !isKnown && (isSent(submission) || !isOwn) ? 'clocks-disagree' : undefined;
}

function isRefusal(error: unknown): boolean {
  return error instanceof ServiceError && REFUSALS.get(error.code) === error.httpStatus;
}

/** Whether this client, or a server on the way, gave up while the service may still be pricing the dataset. */
function mayBePricing(error: unknown): boolean {
  if (error instanceof NetworkError) return error.reason === 'answer-timeout' || error.reason === 'stalled';
  return [408, 504].includes(statusOf(error) ?? 0);
}

/** Whether another attempt may end differently. */
function isWorthRepeating(error: unknown, { sameStatus }: AttemptHistory): boolean {
  if (error instanceof TooEarlyError) return true;
  // A 425 after the last bytes doesn't say whether a charge was made.
  if (statusOf(error) === 425) return false;
  return isTransient(error, LASTING) && ((statusOf(error) ?? 0) < 500 || sameStatus < MAX_SAME_SERVER_ERROR);
}
