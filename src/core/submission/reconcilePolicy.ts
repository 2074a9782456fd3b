import type { RunSummary } from '../api/types.ts';
import { instantOf } from '../base/clock.ts';
import { hasBoundary, type Attempt, type Intent, type Moment, type Observation } from './intent.ts';

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

/** Returns the latest of some times; undefined if any is unknown, or there is none. */
function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((ms) => ms !== undefined);
  return known.length < times.length || known.length === 0 ? undefined : Math.max(...known);
}

/** Returns when the last attempt started or sent its boundary, by the service's clock, if known. */
export function lastSendMs({ attempts }: Intent): number | undefined {
  return latest(attempts.map(({ started, closed }) => (closed ?? started).serviceMs));
}

/** How long after the last byte was sent a service may still create a run. */
const CREATED_LATE_MS = 30 * 60_000;

/**
 * Whether a run with an intent's marker was created while the intent may have been sent. A user may have
 * copied the label to another run.
 * @param isStrict false: unknown or late times count as well. True before saying that a service charged twice
 */
export function isFromThen(
  intent: Intent,
  { created_at }: Pick<RunSummary, 'created_at'>,
  isStrict = true,
): boolean {
  const createdAtMs = instantOf(created_at);
  const firstMs = intent.attempts[0]?.started.serviceMs;
  const lastMs = lastSendMs(intent);
  if (!isStrict) return firstMs === undefined || !(createdAtMs < firstMs - MARGIN_MS);
  if (firstMs === undefined || lastMs === undefined) return false;
  return createdAtMs >= firstMs - MARGIN_MS && createdAtMs <= lastMs + CREATED_LATE_MS;
}

/** Returns the service time from which a check that finds nothing counts; undefined if unknown. */
export function settledFromMs({ attempts }: Intent): number | undefined {
  const closings = attempts.filter(({ closed }) => closed !== undefined);
  // The last bytes may arrive as late as the end of the connection, and may still be priced after that.
  const lastMs = latest(closings.flatMap(({ closed, ended }) => [closed?.serviceMs, ended?.serviceMs]));
  return lastMs === undefined ? undefined : lastMs + PRICING_MS;
}

/** Returns how long a check is still too early, in milliseconds; undefined if no time is known. */
function waitMs(intent: Intent, { at }: Observation): number | undefined {
  const fromMs = settledFromMs(intent);
  if (fromMs === undefined || at.serviceMs === undefined) return undefined;
  // Also use the monotonic clock, since the service's clock may be set.
  const waits = intent.attempts
    .filter(({ closed }) => closed !== undefined)
    .map(({ closed, ended }) => PRICING_MS - (passedMs(ended ?? closed, at) ?? 0));
  return Math.max(0, fromMs - at.serviceMs, ...waits);
}

/** Returns how long a second check doesn't count yet after the first clean one, in milliseconds. */
function betweenMs(first: Observation, { at }: Observation): number {
  const passed = passedMs(first.at, at) ?? 0;
  return BETWEEN_CHECKS_MS - Math.min(passed, (at.serviceMs ?? -Infinity) - (first.at.serviceMs ?? Infinity));
}

/** Returns the intent without observations: those made before a new attempt say nothing about it. */
export function withoutObservations(intent: Intent): Intent {
  return { ...intent, firstCleanCheck: undefined, lastCheck: undefined, looked: undefined };
}

/**
 * Adds an observation to an intent. The first clean one is stored; any other removes it. Without a boundary
 * nothing is stored.
 */
export function withObservation(open: Intent, seen: Observation): Intent {
  if (!hasBoundary(open)) return open;
  // What two checks have proven remains true. If the balance falls later, something else was charged.
  if (open.lastCheck !== undefined && uncertaintyOf(open) === undefined && seen.candidates.length === 0)
    return open;
  const intent = overSince(open, seen);
  const firstCleanCheck = isClean(intent, seen) ? (open.firstCleanCheck ?? seen) : undefined;
  return { ...intent, firstCleanCheck, lastCheck: seen };
}

/**
 * Returns why it is uncertain that an intent was not charged; undefined if it is certain. That takes two
 * complete checks with the marker, late enough and far enough apart. They found no candidate, and no lower
 * balance that other receipts don't explain.
 */
export function uncertaintyOf(intent: Intent): UncertaintyReason | undefined {
  const { lastCheck, firstCleanCheck, balanceBefore } = intent;
  if (lastCheck === undefined) return 'incomplete';
  if (lastCheck.otherKey) return 'key-replaced';
  if (lastCheck.candidates.length > 0) return 'candidates';
  if (!lastCheck.complete) return 'incomplete';
  if (intent.marker === undefined) return 'no-marker';
  if (balanceBefore === undefined) return 'no-balance';
  const isBalanceKnown = lastCheck.balance_cents !== undefined;
  if (isBalanceKnown && isInOtherCurrency(intent, lastCheck)) return 'currency';
  if (isBalanceKnown && isLower(intent, lastCheck)) return 'balance';
  if (lastCheck.at.serviceMs === undefined || settledFromMs(intent) === undefined) return 'no-clock';
  if (!isBalanceKnown || firstCleanCheck === undefined || betweenMs(firstCleanCheck, lastCheck) > 0)
    return 'too-early';
  return undefined;
}

/** Returns when the next check may resolve `too-early`, by this machine's clock. */
export function nextCheckAtMs(intent: Intent): number | undefined {
  const { lastCheck, firstCleanCheck } = intent;
  if (lastCheck === undefined) return undefined;
  const leftMs =
    firstCleanCheck === undefined ? waitMs(intent, lastCheck) : betweenMs(firstCleanCheck, lastCheck);
  return leftMs === undefined ? undefined : lastCheck.at.localMs + Math.max(0, leftMs);
}

/**
 * Whether an automatic check must read the balance: only if nothing else keeps the check from counting.
 * @param seen without the balance
 */
export function isBalanceDecisive(open: Intent, seen: Observation): boolean {
  if (open.marker === undefined || open.balanceBefore === undefined) return false;
  return isCleanButForBalance(overSince(open, seen), seen);
}

function overSince(open: Intent, { at }: Observation): Intent {
  return { ...open, attempts: open.attempts.map((attempt) => overAt(attempt, at)) };
}

/** If the service's time of an end is unknown, as after a crash, the first check that has it counts. */
function overAt(attempt: Attempt, at: Moment): Attempt {
  const { closed, ended } = attempt;
  const isKnown =
    ended?.monotonicMs !== undefined && (ended.serviceMs !== undefined || at.serviceMs === undefined);
  return closed === undefined || isKnown ? attempt : { ...attempt, ended: at };
}

/** Ends all attempts of an intent, as needed to claim it (R3 in docs/journal.md). */
export function withEnds(intent: Intent, ended: Moment): Intent {
  return { ...intent, attempts: intent.attempts.map((one) => ({ ...one, ended: one.ended ?? ended })) };
}

function isClean(intent: Intent, seen: Observation): boolean {
  return isCleanButForBalance(intent, seen) && !isLower(intent, seen);
}

function isCleanButForBalance(intent: Intent, seen: Observation): boolean {
  return (
    seen.complete && seen.otherKey === undefined && seen.candidates.length === 0 && waitMs(intent, seen) === 0
  );
}

/** Whether the balance may contain a charge of this intent. */
function isLower(intent: Intent, seen: Observation): boolean {
  const { balance_cents, explainedByReceipts: explained } = seen;
  const { balanceBefore } = intent;
  if (balanceBefore === undefined || balance_cents === undefined || isInOtherCurrency(intent, seen))
    return true;
  return balance_cents < balanceBefore.balance_cents && explained === undefined;
}

function isInOtherCurrency({ balanceBefore }: Intent, { currency }: Observation): boolean {
  return currency !== undefined && currency !== balanceBefore?.currency;
}
