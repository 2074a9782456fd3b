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
  /** The API key has changed since it was sent. */
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
 * Returns the minimum time that passed on this machine, regardless of wall clocks. If the monotonic clock is
 * behind, the machine was restarted in between; the result is then the time since that restart.
 */
export function passedMs(from: Moment | undefined, to: Moment): number | undefined {
  if (from?.monotonicMs === undefined || to.monotonicMs === undefined) return undefined;
  const ms = to.monotonicMs - from.monotonicMs;
  return ms >= 0 ? ms : to.monotonicMs;
}

/** How long after its last bytes a run may be created: labels are copied to later runs. */
const COPIED_AFTER_MS = 60 * 60_000;
/** How much earlier than its last bytes a run may seem to be created: the service's times are known to a minute. */
const CLOCKS_APART_MS = 60_000;

/**
 * Whether a run with a submission's marker was created so late that its label may be a copy. False if no last
 * bytes left, or their time isn't known. The end of an attempt may be written later, even after a copy.
 */
export function mayBeCopy({ attempts }: Submission, { created_at }: Pick<RunSummary, 'created_at'>): boolean {
  const closings = attempts.filter(isClosed).map(({ closed }) => closed?.serviceMs);
  if (latest(closings) === undefined) return false;
  const createdMs = instantOf(created_at);
  // Last bytes that left later can't have created it.
  const lastMs = latest(closings.filter((ms = 0) => ms <= createdMs + CLOCKS_APART_MS));
  return lastMs !== undefined && createdMs > lastMs + COPIED_AFTER_MS;
}

/** Returns the latest of some times; undefined if any is unknown, or there is none. */
function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((ms) => ms !== undefined);
  return known.length < times.length || known.length === 0 ? undefined : Math.max(...known);
}

/** Returns when the last attempt started or sent its last bytes, by the service's clock, if known. */
export function lastSendMs({ attempts }: Submission): number | undefined {
  return latest(attempts.map(({ started, closed }) => (closed ?? started).serviceMs));
}

/** How long after the last byte was sent a service may still create a run. */
const CREATED_LATE_MS = 30 * 60_000;

/**
 * Whether a run with a submission's marker was created while the submission may have been sent. A user may have
 * copied the label to another run.
 * @param isStrict false: unknown or late times count as well. True before saying that a service charged twice
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

/** Returns the service time from which a check that finds nothing counts; undefined if unknown. */
export function countsFromMs({ attempts }: Submission): number | undefined {
  const closings = attempts.filter(({ closed }) => closed !== undefined);
  // The last bytes may arrive as late as the end of the connection, and may still be priced after that.
  const lastMs = latest(closings.flatMap(({ closed, ended }) => [closed?.serviceMs, ended?.serviceMs]));
  return lastMs === undefined ? undefined : lastMs + PRICING_MS;
}

/** Returns how long a check is still too early, in milliseconds; undefined if no time is known. */
function waitMs(submission: Submission, { at }: Observation): number | undefined {
  const fromMs = countsFromMs(submission);
  if (fromMs === undefined || at.serviceMs === undefined) return undefined;
  // Also use the monotonic clock, since the service's clock may be set.
  const waits = submission.attempts
    .filter(({ closed }) => closed !== undefined)
    .map(({ closed, ended }) => PRICING_MS - (passedMs(ended ?? closed, at) ?? 0));
  return Math.max(0, fromMs - at.serviceMs, ...waits);
}

/** Returns how long a second check doesn't count yet after the first clean one, in milliseconds. */
function betweenMs(first: Observation, { at }: Observation): number {
  const passed = passedMs(first.at, at) ?? 0;
  return BETWEEN_CHECKS_MS - Math.min(passed, (at.serviceMs ?? -Infinity) - (first.at.serviceMs ?? Infinity));
}

/** Returns the submission without observations: those made before a new attempt say nothing about it. */
export function withoutObservations(submission: Submission): Submission {
  return { ...submission, firstCleanCheck: undefined, lastCheck: undefined };
}

/**
 * Adds an observation to a submission, and ends its last attempt. The first clean one is stored; any other
 * removes it. Before the last bytes nothing is stored.
 */
export function withObservation(open: Submission, seen: Observation): Submission {
  if (!isSent(open)) return open;
  // What two checks have proven remains true. If the balance falls later, something else was charged.
  if (open.stage === 'cleared' && seen.candidates.length === 0) return open;
  const submission = overSince(open, seen);
  const firstCleanCheck = isClean(submission, seen) ? (open.firstCleanCheck ?? seen) : undefined;
  const checked = { ...submission, firstCleanCheck, lastCheck: seen };
  return { ...checked, stage: uncertaintyOf(checked) === undefined ? 'cleared' : 'sent' };
}

/**
 * Returns why it is uncertain that a submission was not charged; undefined if it is certain. That takes two
 * complete checks with the marker, late enough and far enough apart. They found no candidate, and no lower
 * balance that other receipts don't explain.
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
 * @param seen without the balance
 */
export function isBalanceDecisive(open: Submission, seen: Observation): boolean {
  if (open.marker === undefined || open.balanceBefore === undefined) return false;
  return isCleanButForBalance(overSince(open, seen), seen);
}

function overSince(open: Submission, { at }: Observation): Submission {
  return { ...open, attempts: open.attempts.map((attempt) => overAt(attempt, at)) };
}

/** If the service's time of an end is unknown, as after a crash, the first check that has it counts. */
function overAt(attempt: Attempt, at: Moment): Attempt {
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
