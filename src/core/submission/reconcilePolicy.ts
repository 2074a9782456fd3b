import { mayBeCharged, type Attempt, type Intent, type Moment, type Observation } from './intent.ts';

/** Why a check cannot tell whether a submission was charged. */
export type UncertaintyReason =
  /** Runs that could be this one. */
  | 'candidates'
  /** A lower balance. */
  | 'balance'
  | 'no-marker'
  /** The balance before is unknown. */
  | 'no-balance'
  /** The API key is another one since it was sent. */
  | 'key-replaced'
  /** A run may still come. */
  | 'too-early'
  /** Not everything could be read. */
  | 'incomplete'
  /** The service provides no time. */
  | 'no-clock';

/** How long the service may validate and price a whole dataset after its last byte. */
export const PRICING_MS = 15 * 60_000;
/** So far apart are two checks that together say that nothing was charged. */
const BETWEEN_CHECKS_MS = 2 * 60_000;

/** After this long nothing new is expected automatically: the user checks when they want to. */
const AUTOMATIC_MS = 60 * 60_000;

/**
 * How much time has passed on this machine at least, whatever its wall clock or that of the service says. Where the monotonic clock
 * is behind, the machine was started in between: then at least as much as since that.
 */
export function passedMs(from: Moment | undefined, to: Moment): number | undefined {
  if (from?.monotonicMs === undefined || to.monotonicMs === undefined) return undefined;
  const ms = to.monotonicMs - from.monotonicMs;
  return ms >= 0 ? ms : to.monotonicMs;
}

/** The latest of some times; undefined where one is not known. */
function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((ms) => ms !== undefined);
  return known.length < times.length ? undefined : Math.max(...known);
}

/** When the last attempt began, or released its closing boundary, by the service's clock; undefined where it is not known. */
export function lastSendMs({ attempts }: Intent): number | undefined {
  return latest(attempts.map(({ started, closed }) => (closed ?? started).serviceMs));
}

/** How long ago, by this machine's clock, the last attempt began or released its closing boundary. */
export function sinceSentMs({ attempts }: Intent, nowMs: number): number {
  return nowMs - Math.max(0, ...attempts.map(({ started, closed }) => (closed ?? started).localMs));
}

/** Whether an answered check is followed by another one that nobody asks for. */
export function isCheckedAutomatically(intent: Intent, nowMs: number): boolean {
  return sinceSentMs(intent, nowMs) <= AUTOMATIC_MS;
}

/** From when on, by the service's clock, a check that finds nothing says something; undefined where no time is known. */
export function settledFromMs({ attempts }: Intent): number | undefined {
  const closings = attempts.filter(({ closed }) => closed !== undefined);
  // The last bytes may have arrived as late as the end of the connection; what is complete may still be priced.
  const lastMs = latest(closings.flatMap(({ closed, ended }) => [closed?.serviceMs, ended?.serviceMs]));
  return lastMs === undefined ? undefined : lastMs + PRICING_MS;
}

/** For how long, by this machine, a check is too early to say anything; undefined where no time is known. */
function waitMs(intent: Intent, { at }: Observation): number | undefined {
  const fromMs = settledFromMs(intent);
  if (fromMs === undefined || at.serviceMs === undefined) return undefined;
  // The service's `Date` alone is the word of one clock, which may be set.
  const waits = intent.attempts
    .filter(({ closed }) => closed !== undefined)
    .map(({ closed, ended }) => PRICING_MS - (passedMs(ended ?? closed, at) ?? 0));
  return Math.max(0, fromMs - at.serviceMs, ...waits);
}

/** For how long after a first check that counts another one does not. */
function betweenMs(first: Observation, { at }: Observation): number {
  const passed = passedMs(first.at, at) ?? 0;
  return BETWEEN_CHECKS_MS - Math.min(passed, (at.serviceMs ?? -Infinity) - (first.at.serviceMs ?? Infinity));
}

/** The intent before a new attempt: what was seen before says nothing of it. */
export function withoutObservations(intent: Intent): Intent {
  return { ...intent, firstCleanLook: undefined, lastLook: undefined };
}

/** The intent with an observation added: the first clean one is stored, any other removes it. */
export function withObservation(open: Intent, seen: Observation): Intent {
  // What two checks have shown stays true: whatever lowers the balance later is something else.
  if (open.lastLook !== undefined && uncertaintyOf(open) === undefined && seen.candidates.length === 0)
    return open;
  const intent = { ...open, attempts: open.attempts.map((attempt) => overAt(attempt, seen.at)) };
  const firstCleanLook = isClean(intent, seen) ? (open.firstCleanLook ?? seen) : undefined;
  return { ...intent, firstCleanLook, lastLook: seen };
}

/**
 * Why it is uncertain that an intent, which may have been charged, was not; undefined where it is certain: two complete checks,
 * far enough apart and late enough, with the marker, without a candidate or a lower balance.
 */
export function uncertaintyOf(intent: Intent): UncertaintyReason | undefined {
  const { lastLook, firstCleanLook, balanceBefore } = intent;
  if (lastLook === undefined) return 'incomplete';
  if (lastLook.otherKey) return 'key-replaced';
  if (lastLook.candidates.length > 0) return 'candidates';
  if (!lastLook.complete) return 'incomplete';
  if (intent.marker === undefined) return 'no-marker';
  if (balanceBefore === undefined) return 'no-balance';
  if (isLower(intent, lastLook)) return 'balance';
  if (lastLook.at.serviceMs === undefined || settledFromMs(intent) === undefined) return 'no-clock';
  if (firstCleanLook === undefined || betweenMs(firstCleanLook, lastLook) > 0) return 'too-early';
  return undefined;
}

/** Whether it may have been charged, and nothing has shown that it was not. */
export function isUncertain(intent: Intent): boolean {
  return mayBeCharged(intent) && uncertaintyOf(intent) !== undefined;
}

/** When, by this machine's clock, the next check may end a `too-early`. */
export function nextCheckAtMs(intent: Intent): number | undefined {
  const { lastLook, firstCleanLook } = intent;
  if (lastLook === undefined) return undefined;
  const leftMs =
    firstCleanLook === undefined ? waitMs(intent, lastLook) : betweenMs(firstCleanLook, lastLook);
  return leftMs === undefined ? undefined : lastLook.at.localMs + Math.max(0, leftMs);
}

/** After a crash, or a sleep, the first check is the first moment at which an attempt is known to be over. */
function overAt(attempt: Attempt, at: Moment): Attempt {
  const { closed, ended } = attempt;
  const isKnown = ended?.serviceMs !== undefined && ended.monotonicMs !== undefined;
  return closed === undefined || isKnown ? attempt : { ...attempt, ended: at };
}

function isClean(intent: Intent, seen: Observation): boolean {
  return (
    seen.complete &&
    seen.otherKey === undefined &&
    seen.candidates.length === 0 &&
    !isLower(intent, seen) &&
    waitMs(intent, seen) === 0
  );
}

function isLower({ balanceBefore }: Intent, { balance_cents }: Observation): boolean {
  return (
    balanceBefore === undefined || balance_cents === undefined || balance_cents < balanceBefore.balance_cents
  );
}
