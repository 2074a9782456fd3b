import { retryAfterOf } from '../api/errors.ts';
import { ExpectedError } from '../base/errors.ts';

const MESSAGES = {
  /** Another window has written a version since this one read it. */
  'not-owner': 'another process has written the submission',
  /** The API key was replaced since the submission was created. The new key may be another account's. */
  'key-replaced': 'created with another API key; it is not sent with this one',
  /** Another window submitted the same bytes and model since the user knew of the earlier ones. */
  taken: 'the same bytes and model were submitted meanwhile',
  /** Another window may own the submission now. */
  'lease-lost': 'another process may own this submission now',
  /** Without an answered look for its run, nothing is sent. */
  'not-answered': 'the service did not answer whether it was charged',
  /** The service may have forgotten the Idempotency-Key, so a resend could charge twice. */
  'too-late': 'more than 23 hours have passed since it was created',
  /** The time since its creation is unknown: clock set, machine slept, or no `Date` from the service. */
  'clocks-disagree': 'the time since it was created is not certain',
  /** A run that could be this submission has appeared since the user asked to resend. */
  candidates: 'a run that could be this one is listed now',
} as const;

/** Thrown when this attempt charged nothing, since its last bytes didn't leave; `code` says why. */
export class SubmissionError extends ExpectedError {
  readonly code: keyof typeof MESSAGES;
  constructor(code: SubmissionError['code']) {
    super(MESSAGES[code]);
    this.code = code;
  }
}

/** Whether an error means that another window may own the submission now. */
export function isLostOwner(error: unknown): boolean {
  return error instanceof SubmissionError && (error.code === 'lease-lost' || error.code === 'not-owner');
}

/** Whether another window submitted the same bytes first. */
export function isTaken(error: unknown): boolean {
  return error instanceof SubmissionError && error.code === 'taken';
}

/** Thrown when nothing was sent because the service asked this submission, or the account, to wait. */
export class TooEarlyError extends ExpectedError {
  readonly code = 'too-early';
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('the service asked to wait');
    this.retryAfterMs = retryAfterMs;
  }
}

/** Returns how long the service asked to wait before the next attempt, in milliseconds; 0 if it didn't. */
export function waitMsOf(error: unknown): number {
  return error instanceof TooEarlyError ? error.retryAfterMs : retryAfterOf(error);
}
