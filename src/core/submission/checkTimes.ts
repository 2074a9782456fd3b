import { nextCheckAtMs, uncertaintyOf } from './reconcilePolicy.ts';
import { isCheckedAutomatically } from './stage.ts';
// When windows look for the runs of open submissions automatically. Times are by this machine's clock, in ms.
import { isRefused, type Submission } from './submission.ts';

/** The automatic checks after a response was lost: soon, since most runs are listed at once. */
const CHECKED_AFTER_MS = [3_000, 10_000, 30_000, 60_000, 2 * 60_000, 5 * 60_000] as const;
/** The interval of later checks. */
const LATER_MS = 5 * 60_000;
/** The delay after an unanswered look. It doubles each time: some looks are never answered, as with another key. */
const LOOK_AGAIN_MS = 60_000;
const LONGEST_LOOK_AGAIN_MS = 60 * 60_000;
/** The minimum time between a check and one that may be conclusive. */
const CONCLUSIVE_AFTER_MS = 20_000;

export interface Known {
  /** See `Journal.maySayNotCharged`. */
  hasAnswer: boolean;
  /** When this window last began a look, answered or not. */
  atMs?: number;
  /** How many looks this window has begun. */
  count?: number;
}

/** Returns when a window next looks for the run of a submission; Infinity if it doesn't. */
export function dueMs(submission: Submission, nowMs: number, { hasAnswer, atMs, count = 0 }: Known): number {
  if (submission.stage === 'sent') return nextAutomaticCheckMs(submission, atMs, nowMs);
  return hasAnswer || isRefused(submission) ? Infinity : past(atMs, nowMs) + lookAgainMs(count);
}

/**
 * Returns when the next automatic check of a `sent` submission is due; Infinity if none is. All windows agree, because
 * the journal has the answered checks of all of them.
 * @param triedAtMs when this window last began a check, answered or not; undefined if it has not yet
 */
function nextAutomaticCheckMs(submission: Submission, triedAtMs: number | undefined, nowMs: number): number {
  const { attempts, lastCheck } = submission;
  const answeredMs = past(lastCheck?.at.localMs, nowMs);
  const checkedMs = Math.max(answeredMs, past(triedAtMs, nowMs));
  const lostMs = Math.max(
    0,
    ...attempts.map((one) => past((one.ended ?? one.closed ?? one.started).localMs, nowMs)),
  );
  const soonMs = CHECKED_AFTER_MS.map((ms) => lostMs + ms).find((ms) => ms > checkedMs) ?? Infinity;
  const regularMs = checkedMs === -Infinity ? soonMs : Math.min(soonMs, checkedMs + LATER_MS);
  // Unanswered checks continue: after hours offline, the user wants the result as soon as possible.
  const isOver = checkedMs === answeredMs && !isCheckedAutomatically(submission, regularMs);
  const conclusiveMs = uncertaintyOf(submission) === 'too-early' ? nextCheckAtMs(submission) : undefined;
  const nextMs = Math.min(
    isOver ? Infinity : regularMs,
    conclusiveMs === undefined ? Infinity : Math.max(conclusiveMs, checkedMs + CONCLUSIVE_AFTER_MS),
    // The first check in a window shows what became of an old submission.
    triedAtMs === undefined ? checkedMs + LATER_MS : Infinity,
  );
  return Math.max(nextMs, attempts.at(-1)?.notBefore?.localMs ?? -Infinity);
}

/** Returns a time; -Infinity if there is none, or it is in the future since the clock was set back. */
function past(ms: number | undefined, nowMs: number): number {
  return ms === undefined || ms > nowMs ? -Infinity : ms;
}

function lookAgainMs(lookCount: number): number {
  return Math.min(LOOK_AGAIN_MS * 2 ** Math.max(0, lookCount - 1), LONGEST_LOOK_AGAIN_MS);
}
