import type { Doubt } from './finding.ts';
import { mayBeCharged, type Attempt, type Intent, type Look, type Moment } from './intent.ts';

/** How long the service may validate and price a whole dataset after its last byte. */
export const PRICING_MS = 15 * 60_000;
/** So far apart are two looks that together say that nothing was charged. */
const BETWEEN_LOOKS_MS = 2 * 60_000;

/**
 * How much time has passed on this machine at least, whatever its wall clock or the service's says. Where the monotonic clock
 * is behind, the machine was started in between: then at least as much as since that.
 */
export function passedMs(from: Moment | undefined, to: Moment): number | undefined {
  if (from?.monotonicMs === undefined || to.monotonicMs === undefined) return undefined;
  const ms = to.monotonicMs - from.monotonicMs;
  return ms >= 0 ? ms : to.monotonicMs;
}

/** When the last attempt began, or released its closing boundary, by the service's clock; undefined where it is not known. */
export function lastSendMs({ attempts }: Intent): number | undefined {
  const times = attempts.map(({ started, closed }) => (closed ?? started).serviceMs);
  return times.includes(undefined) ? undefined : Math.max(...times.map((ms) => ms ?? 0));
}

/** From when on, by the service's clock, a look that finds nothing says something; undefined where no time is known. */
export function settledFromMs({ attempts }: Intent): number | undefined {
  const ends = attempts.flatMap(({ closed, ended }) => {
    if (closed === undefined) return [];
    // The last bytes may have arrived as late as the end of the connection; what is whole may still be priced.
    const times = [closed.serviceMs, ended?.serviceMs];
    return [times.includes(undefined) ? undefined : Math.max(...times.map((ms) => ms ?? 0)) + PRICING_MS];
  });
  return ends.includes(undefined) ? undefined : Math.max(...ends.map((ms) => ms ?? 0));
}

/** For how long, by this machine, a look comes too early to say anything; undefined where no time is known. */
function waitMs(intent: Intent, { at }: Look): number | undefined {
  const fromMs = settledFromMs(intent);
  if (fromMs === undefined || at.serviceMs === undefined) return undefined;
  // The service's `Date` alone is the word of one clock, which may be set.
  const waits = intent.attempts
    .filter(({ closed }) => closed !== undefined)
    .map(({ closed, ended }) => PRICING_MS - (passedMs(ended ?? closed, at) ?? 0));
  return Math.max(0, fromMs - at.serviceMs, ...waits);
}

/** For how long after a first look that counts another one does not. */
function betweenMs(first: Look, { at }: Look): number {
  const passed = passedMs(first.at, at) ?? 0;
  return BETWEEN_LOOKS_MS - Math.min(passed, (at.serviceMs ?? -Infinity) - (first.at.serviceMs ?? Infinity));
}

/** The intent before a new attempt: what was seen before says nothing of it. */
export function withoutLooks(intent: Intent): Intent {
  const next = { ...intent };
  delete next.firstCleanLook;
  delete next.lastLook;
  return next;
}

/** The intent with a look taken in: the first clean one is kept, any other finding takes it away. */
export function withLook(open: Intent, look: Look): Intent {
  // What two looks have shown stays true: whatever lowers the balance later is something else.
  if (open.lastLook !== undefined && doubtOf(open) === undefined && look.candidates.length === 0) return open;
  const intent = { ...open, attempts: open.attempts.map((attempt) => overAt(attempt, look.at)) };
  const { firstCleanLook, ...rest } = intent;
  if (!isClean(intent, look)) return { ...rest, lastLook: look };
  // One of an earlier version tells no monotonic time.
  const isComparable = firstCleanLook?.at.monotonicMs !== undefined;
  return { ...rest, firstCleanLook: isComparable ? firstCleanLook : look, lastLook: look };
}

/**
 * Why it cannot be told that an intent, which may have been charged, was not; undefined where it can: two complete looks,
 * far enough apart and late enough, with the marker, without a candidate or a lower balance.
 */
export function doubtOf(intent: Intent): Doubt | undefined {
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
  return mayBeCharged(intent) && doubtOf(intent) !== undefined;
}

/** When, by this machine's clock, the next look may take a `too-early` away. */
export function nextLookAtMs(intent: Intent): number | undefined {
  const { lastLook, firstCleanLook } = intent;
  if (lastLook === undefined) return undefined;
  const leftMs =
    firstCleanLook === undefined ? waitMs(intent, lastLook) : betweenMs(firstCleanLook, lastLook);
  return leftMs === undefined ? undefined : lastLook.at.localMs + Math.max(0, leftMs);
}

/** After a crash, or a sleep, the first look is the first moment at which an attempt is known to be over. */
function overAt(attempt: Attempt, at: Moment): Attempt {
  const { closed, ended } = attempt;
  const isKnown = ended?.serviceMs !== undefined && ended.monotonicMs !== undefined;
  return closed === undefined || isKnown ? attempt : { ...attempt, ended: at };
}

function isClean(intent: Intent, look: Look): boolean {
  return (
    look.complete &&
    look.otherKey === undefined &&
    look.candidates.length === 0 &&
    !isLower(intent, look) &&
    waitMs(intent, look) === 0
  );
}

function isLower({ balanceBefore }: Intent, { balance_cents }: Look): boolean {
  return (
    balanceBefore === undefined || balance_cents === undefined || balance_cents < balanceBefore.balance_cents
  );
}
