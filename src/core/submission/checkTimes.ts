// When open submissions are looked for and checked automatically. Times are by this machine's clock, in ms.
import { hasBoundary, type Intent } from './intent.ts';
import { nextCheckAtMs, uncertaintyOf } from './reconcilePolicy.ts';
import { isCheckedAutomatically, stageOf } from './stage.ts';

/** When automatic checks follow a lost answer: soon, since most runs are listed at once. */
const CHECKED_AFTER_MS = [3_000, 10_000, 30_000, 60_000, 2 * 60_000, 5 * 60_000] as const;
/** The interval of later checks. */
const LATER_MS = 5 * 60_000;
/** The delay after an unanswered look. It doubles each time: some are never answered, as with another key. */
const LOOK_AGAIN_MS = 60_000;
const LONGEST_LOOK_AGAIN_MS = 60 * 60_000;
/** The minimum time between a check and one that may be conclusive. */
const CONCLUSIVE_AFTER_MS = 20_000;

/** Without locks, how long nothing is checked after a record's last version. */
const WITHOUT_LOCKS_MS = 60 * 60_000;

export interface Known {
  /** See `Journal`. */
  isCreated: boolean;
  isLooked: boolean;
  hasLocks: boolean;
  /** When this window last began a look, answered or not. */
  atMs?: number;
  count?: number;
}

/** Returns when a window looks for the run of an intent or checks it next; Infinity if it doesn't. */
export function dueMs(
  intent: Intent,
  nowMs: number,
  { isCreated, isLooked, hasLocks, atMs, count = 0 }: Known,
): number {
  const { name, mustLook } = stageOf(intent, { nowMs, isLooked });
  const nextMs = nextAutomaticCheckMs(intent, atMs, nowMs, mustLook ? count : undefined);
  const mayGoOn = mustLook === true || name === 'closing' || !isCreated;
  if (hasLocks || !mayGoOn) return nextMs;
  // A check writes a version, which would end an upload by another process.
  return Math.max(nextMs, lastWrittenMs(intent, nowMs) + WITHOUT_LOCKS_MS);
}

/** Returns when an open intent was last written. Times after now precede a clock that was set back. */
function lastWrittenMs({ attempts, created, lastCheck, looked }: Intent, nowMs: number): number {
  const ofAttempts = attempts.flatMap(({ started, closed, ended }) => [started, closed, ended]);
  const times = [created, ...ofAttempts, lastCheck?.at, looked].map((one) => one?.localMs ?? -Infinity);
  return Math.max(-Infinity, ...times.filter((ms) => ms <= nowMs));
}

/**
 * Returns when the next automatic check is due, Infinity if none is. All windows agree, as the journal
 * records the answered checks of all of them.
 * @param triedAtMs when this window last began a check, answered or not; undefined if it has not yet
 * @param lookCount how many looks this window has begun; undefined if no look is needed
 */
export function nextAutomaticCheckMs(
  intent: Intent,
  triedAtMs: number | undefined,
  nowMs: number,
  lookCount?: number,
): number {
  // A time after now was taken before the clock was set back, and says nothing.
  const past = (ms: number | undefined) => (ms === undefined || ms > nowMs ? -Infinity : ms);
  if (!hasBoundary(intent) || uncertaintyOf(intent) === undefined)
    return lookCount === undefined ? Infinity : past(triedAtMs) + lookAgainMs(lookCount);
  const { attempts, lastCheck } = intent;
  const answeredMs = past(lastCheck?.at.localMs);
  const checkedMs = Math.max(answeredMs, past(triedAtMs));
  const lostMs = Math.max(
    0,
    ...attempts.map((one) => past((one.ended ?? one.closed ?? one.started).localMs)),
  );
  const soonMs = CHECKED_AFTER_MS.map((ms) => lostMs + ms).find((ms) => ms > checkedMs) ?? Infinity;
  const regularMs = checkedMs === -Infinity ? soonMs : Math.min(soonMs, checkedMs + LATER_MS);
  // Unanswered checks continue: after hours offline, the user wants the result as soon as possible.
  const isOver = checkedMs === answeredMs && !isCheckedAutomatically(intent, regularMs);
  const conclusiveMs = uncertaintyOf(intent) === 'too-early' ? nextCheckAtMs(intent) : undefined;
  const nextMs = Math.min(
    isOver ? Infinity : regularMs,
    conclusiveMs === undefined ? Infinity : Math.max(conclusiveMs, checkedMs + CONCLUSIVE_AFTER_MS),
    // The first check of a window shows what became of an old submission.
    triedAtMs === undefined ? checkedMs + LATER_MS : Infinity,
  );
  return Math.max(nextMs, attempts.at(-1)?.notBefore?.localMs ?? -Infinity);
}

function lookAgainMs(lookCount: number): number {
  return Math.min(LOOK_AGAIN_MS * 2 ** Math.max(0, lookCount - 1), LONGEST_LOOK_AGAIN_MS);
}
