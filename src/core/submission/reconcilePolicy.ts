import type { RunSummary } from '../api/types.ts';
import { instantOf } from '../base/clock.ts';
import {
  isClosed,
  isSent,
  type Attempt,
  type Submission,
  type Moment,
  type Observation,
} from './submission.ts';

/** Why a check cannot determine whether a submission was charged. */
export type UncertaintyReason =
  /** Runs were found that could be this one. */
  | 'candidates'
  /** The balance is lower than before, and no other charges explain it. */
  | 'balance'
  /** The balance is in another currency than before. */
  | 'currency'
  | 'no-marker'
  /** The balance before is unknown. */
  | 'no-balance'
  /** The check used another API key than the submission. */
  | 'key-replaced'
  /** The service answered 409, which proves that it knows the Idempotency-Key. */
  | 'known'
  /** The run may still appear. */
  | 'too-early'
  /** Not everything could be read. */
  | 'incomplete'
  /** The service's time is unknown. */
  | 'no-clock';

/** The tolerance when comparing two times of the service, for rounding and network delay. */
export const MARGIN_MS = 15 * 60_000;

/** How long the service may validate and price a completely received dataset. */
export const PRICING_MS = 15 * 60_000;
/** The minimum time between two checks that together prove that nothing was charged. */
const BETWEEN_CHECKS_MS = 2 * 60_000;

/**
 * Returns how much time passed at least, by the monotonic clock. If `to` is before `from`, the machine was restarted in
 * between; the result is then the time since that restart. Undefined if a time is unknown.
 */
export function passedMs(from: Moment | undefined, to: Moment): number | undefined {
  if (from?.monotonicMs === undefined || to.monotonicMs === undefined) return undefined;
  const ms = to.monotonicMs - from.monotonicMs;
  return ms >= 0 ? ms : to.monotonicMs;
}

/** How long after the last bytes a run with the marker counts. A later one may have a copied label. */
const COPIED_AFTER_MS = 60 * 60_000;
/** How much earlier than the last bytes a run may seem to be created: the service's times are exact to a minute. */
const CLOCKS_APART_MS = 60_000;

/**
 * Whether a run with a submission's marker was created so late that its label may be a copy. False if no last bytes
 * left, or their time is unknown. Ignores when attempts ended: that may be written later, even after a copy.
 */
export function mayBeCopy({ attempts }: Submission, { created_at }: Pick<RunSummary, 'created_at'>): boolean {
  const closings = attempts.filter(isClosed).map(({ closed }) => closed?.serviceMs);
  if (latest(closings) === undefined) return false;
  const createdMs = instantOf(created_at);
  // Last bytes that left after it was created can't have created it.
  const lastMs = latest(closings.filter((ms = 0) => ms <= createdMs + CLOCKS_APART_MS));
  return lastMs !== undefined && createdMs > lastMs + COPIED_AFTER_MS;
}

/** Returns the latest of some times; undefined if any is unknown, or there is none. */
function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((ms) => ms !== undefined);
  return known.length < times.length || known.length === 0 ? undefined : Math.max(...known);
}

/** Returns when an attempt last started or sent its last bytes, by the service's clock; undefined if unknown. */
export function lastSendMs({ attempts }: Submission): number | undefined {
  return latest(attempts.map(({ started, closed }) => (closed ?? started).serviceMs));
}

/** How long after the last bytes a service may still create a run. */
const CREATED_LATE_MS = 30 * 60_000;

/**
 * Whether a run with a submission's marker was created while the submission may have been sent. A user may have
 * copied the label to another run.
 * @param isStrict false: a run with an unknown or late time counts, too. Pass true to say that a service charged twice
 */
export function isFromThen(
  submission: Submission,
  { created_at }: Pick<RunSummary, 'created_at'>,
  isStrict = true,
): boolean {
  const createdAtMs = instantOf(created_at);
  const firstMs = submission.attempts[0]?.started.serviceMs;
  const lastMs = lastSendMs(submission);
  if (!isStrict) return firstMs === undefined || !(createdAtMs < firstMs - MARGIN_MS);
  if (firstMs === undefined || lastMs === undefined) return false;
  return createdAtMs >= firstMs - MARGIN_MS && createdAtMs <= lastMs + CREATED_LATE_MS;
}

/** Returns when a check that finds nothing begins to count, by the service's clock; undefined if unknown. */
export function countsFromMs({ attempts }: Submission): number | undefined {
  const closings = attempts.filter(({ closed }) => closed !== undefined);
  // The last bytes may arrive as late as the end of the connection, and may still be priced after that.
  const lastMs = latest(closings.flatMap(({ closed, ended }) => [closed?.serviceMs, ended?.serviceMs]));
  return lastMs === undefined ? undefined : lastMs + PRICING_MS;
}

/** Returns how much later a check must be to count, in milliseconds; undefined if a time is unknown. */
function waitMs(submission: Submission, { at }: Observation): number | undefined {
  const fromMs = countsFromMs(submission);
  if (fromMs === undefined || at.serviceMs === undefined) return undefined;
  // Also use the monotonic clock, since the service's clock may be set.
  const waits = submission.attempts
    .filter(({ closed }) => closed !== undefined)
    .map(({ closed, ended }) => PRICING_MS - (passedMs(ended ?? closed, at) ?? 0));
  return Math.max(0, fromMs - at.serviceMs, ...waits);
}

/** Returns how much later a second check must be to count after the first clean one, in milliseconds. */
function betweenMs(first: Observation, { at }: Observation): number {
  const passed = passedMs(first.at, at) ?? 0;
  return BETWEEN_CHECKS_MS - Math.min(passed, (at.serviceMs ?? -Infinity) - (first.at.serviceMs ?? Infinity));
}

/** Returns the submission without the checks before a new attempt, which say nothing about it. */
export function withoutObservations(submission: Submission): Submission {
  return { ...submission, firstCleanCheck: undefined, lastCheck: undefined };
}

/**
 * Adds what a check saw to a submission, and ends its last attempt. Keeps the first clean check until one isn't clean.
 * Before the last bytes, stores nothing.
 */
export function withObservation(open: Submission, seen: Observation): Submission {
  if (!isSent(open)) return open;
  // The proof by two checks remains valid. If the balance falls later, something else was charged.
  if (open.stage === 'cleared' && seen.candidates.length === 0) return open;
  const submission = withEnds(open, seen);
  const firstCleanCheck = isClean(submission, seen) ? (open.firstCleanCheck ?? seen) : undefined;
  const checked = { ...submission, firstCleanCheck, lastCheck: seen };
  return { ...checked, stage: uncertaintyOf(checked) === undefined ? 'cleared' : 'sent' };
}

/**
 * Returns why it is uncertain that a submission was not charged; undefined if it is certain. Certainty takes two
 * complete checks, late enough and far enough apart, that found no run with the marker and no candidate. The balance
 * must not be lower than other receipts explain.
 */
export function uncertaintyOf(submission: Submission): UncertaintyReason | undefined {
  const { lastCheck, firstCleanCheck, balanceBefore } = submission;
  if (lastCheck === undefined) return 'incomplete';
  if (lastCheck.otherKey) return 'key-replaced';
  if (lastCheck.candidates.length > 0) return 'candidates';
  if (!lastCheck.complete) return 'incomplete';
  if (submission.marker === undefined) return 'no-marker';
  if (balanceBefore === undefined) return 'no-balance';
  const isBalanceKnown = lastCheck.balance_cents !== undefined;
  if (isBalanceKnown && isInOtherCurrency(submission, lastCheck)) return 'currency';
  if (isBalanceKnown && isLower(submission, lastCheck)) return 'balance';
  if (lastCheck.at.serviceMs === undefined || countsFromMs(submission) === undefined) return 'no-clock';
  if (!isBalanceKnown || firstCleanCheck === undefined || betweenMs(firstCleanCheck, lastCheck) > 0)
    return 'too-early';
  return submission.attempts.some(({ httpStatus }) => httpStatus === 409) ? 'known' : undefined;
}

/** Returns when the next check may resolve `too-early`, by this machine's clock. */
export function nextCheckAtMs(submission: Submission): number | undefined {
  const { lastCheck, firstCleanCheck } = submission;
  if (lastCheck === undefined) return undefined;
  const leftMs =
    firstCleanCheck === undefined ? waitMs(submission, lastCheck) : betweenMs(firstCleanCheck, lastCheck);
  return leftMs === undefined ? undefined : lastCheck.at.localMs + Math.max(0, leftMs);
}

/**
 * Whether an automatic check must read the balance: only if nothing else keeps the check from counting.
 * @param seen what the check saw, without the balance
 */
export function isBalanceDecisive(open: Submission, seen: Observation): boolean {
  if (open.marker === undefined || open.balanceBefore === undefined) return false;
  return isCleanButForBalance(withEnds(open, seen), seen);
}

/** Returns the submission with the ends of its attempts, as far as a check has to set them. */
function withEnds(open: Submission, { at }: Observation): Submission {
  return { ...open, attempts: open.attempts.map((attempt) => withEnd(attempt, at)) };
}

/**
 * If the end of an attempt, or the service's time of it, is unknown, as after a crash, the check counts as the end.
 */
function withEnd(attempt: Attempt, at: Moment): Attempt {
  const { closed, ended } = attempt;
  if (closed === undefined) return { ...attempt, ended: ended ?? at };
  const isKnown =
    ended?.monotonicMs !== undefined && (ended.serviceMs !== undefined || at.serviceMs === undefined);
  return isKnown ? attempt : { ...attempt, ended: at };
}

/** Claims a submission: ends all its attempts (rule 4 in docs/journal.md). */
export function claimed(submission: Submission, ended: Moment): Submission {
  const attempts = submission.attempts.map((one) => ({ ...one, ended: one.ended ?? ended }));
  return { ...submission, stage: submission.stage === 'sending' ? 'draft' : submission.stage, attempts };
}

function isClean(submission: Submission, seen: Observation): boolean {
  return isCleanButForBalance(submission, seen) && !isLower(submission, seen);
}

/** Whether a check was complete, late enough, and found nothing, whatever the balance. */
function isCleanButForBalance(submission: Submission, seen: Observation): boolean {
  return (
    seen.complete &&
    seen.otherKey === undefined &&
    seen.candidates.length === 0 &&
    waitMs(submission, seen) === 0
  );
}

/** Whether the balance may contain a charge of this submission. */
function isLower(submission: Submission, seen: Observation): boolean {
  const { balance_cents, explainedByReceipts: explained } = seen;
  const { balanceBefore } = submission;
  if (balanceBefore === undefined || balance_cents === undefined || isInOtherCurrency(submission, seen))
    return true;
  return balance_cents < balanceBefore.balance_cents && explained === undefined;
}

function isInOtherCurrency({ balanceBefore }: Submission, { currency }: Observation): boolean {
  return currency !== undefined && currency !== balanceBefore?.currency;
}
