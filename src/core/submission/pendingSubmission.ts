import type { RunCreation, RunDetail } from '../api/types.ts';
import type { Event } from '../base/event.ts';
import type { Session } from '../runs/session.ts';
import { hasBoundary, type Intent } from './intent.ts';
import { isPastBoundary, stageOf, type Stage, type UncertaintyReason } from './stage.ts';

/**
 * - `validating`: every byte is sent, the service prices it. `waiting`: for the next attempt.
 * - `elsewhere`: another window owns it. `unsent`: can't have been charged. `unknown`: may have been.
 * - `stopped`: its record has no boundary, but no look for its run was answered yet (`mustLook`).
 * - `not-charged`: two complete checks found nothing.
 * - `refused`: by the service, before any charge; the draft is stored.
 */
export type SubmissionState =
  | 'queued'
  | 'uploading'
  | 'validating'
  | 'waiting'
  | 'checking'
  | 'elsewhere'
  | 'stopped'
  | 'unsent'
  | 'unknown'
  | 'not-charged'
  | 'refused';

/** A submission that is in progress or needs a decision by the user. */
export interface PendingSubmission {
  /** Its Idempotency-Key. */
  readonly id: string;
  readonly accountId: string;
  readonly intent: Intent;
  readonly state: SubmissionState;
  readonly sentBytes: number;
  readonly totalBytes: number;
  /** When this attempt's upload began; milliseconds since the epoch. */
  readonly startedAtMs?: number;
  /** Which attempt this is, from 1; 0 before the first. */
  readonly attempt: number;
  /** When the next attempt begins, while `waiting`; milliseconds since the epoch. */
  readonly retryAtMs?: number;
  /** While `waiting` or `validating`: the time that all who show it count from. It changes each second. */
  readonly tickMs?: number;
  /** Whether the service asked for this wait before anything was sent. */
  readonly isAsked?: boolean;
}

/** The current result of a submission, in terms of the user's money. */
export type SubmissionResult =
  /** `found`: by a check instead of the response, so less is known about the charge. */
  | { kind: 'charged'; run: RunCreation; found?: true }
  /** `kept`: it is still pending and can be continued or discarded. */
  | { kind: 'not-charged'; error: unknown; kept: boolean }
  /** It may have been charged. */
  | { kind: 'unknown'; error: unknown }
  /** Nothing was sent now. No look for its run was answered, so an earlier charge is possible. */
  | { kind: 'unanswered'; error: unknown }
  /** Nothing was or will be sent: too old, or begun with another API key. The user may submit again. */
  | { kind: 'withdrawn' }
  /** Nothing was sent: an open submission of the same bytes and model must be resolved first. */
  | { kind: 'open'; id: string }
  /** Nothing was sent: another window owns it, or it is resolved. */
  | { kind: 'elsewhere' };

/** The result of checking a submission whose outcome was unknown. */
export type CheckResult =
  | { verdict: 'charged'; run: RunCreation }
  | { verdict: 'not-charged' }
  | {
      verdict: 'cannot-tell';
      reason: UncertaintyReason;
      /** The runs that could be this one, newest first. */
      candidates: readonly RunDetail[];
    };

/** The outcome of discarding a submission. `charged`: a look found its run first. */
export type Discarded = { kind: 'not-charged' | 'discarded' } | { kind: 'charged'; run: RunCreation };
export type Withdrawn = { kind: 'withdrawn' } | { kind: 'charged'; run: RunCreation };

/** A run that this window found, and the submission that it settled with it. */
export interface FoundRun {
  intent: Intent;
  run: RunCreation;
}

/** A submission that this window is sending. */
export interface Submission {
  /** Its Idempotency-Key. */
  readonly id: string;
  /** Fires when it started, progressed, or ended, with its latest state. */
  readonly onProgress: Event<PendingSubmission>;
  /** Never rejects. */
  readonly result: Promise<SubmissionResult>;
}

/** Whether a refusal of this attempt would settle it. Not if an earlier attempt may have been charged. */
export function canBeRefused({ state, intent }: PendingSubmission): boolean {
  const earlier = { ...intent, attempts: intent.attempts.slice(0, -1) };
  return (state === 'uploading' || state === 'validating') && !hasBoundary(earlier);
}

/** Whether it can be stopped before its closing boundary is sent. */
export function isCancellable({ state }: PendingSubmission): boolean {
  return state === 'queued' || state === 'uploading' || state === 'waiting';
}

/**
 * Returns the markers of an account's submissions that are in progress and may already be runs. Submissions
 * that await the user are left out: perhaps nothing ever checks for their runs again.
 */
export function openMarkers(submissions: readonly PendingSubmission[], accountId: string): string[] {
  return submissions
    .filter(
      ({ accountId: id, intent, state }) =>
        id === accountId && !IDLE_STATES.has(state) && hasBoundary(intent),
    )
    .flatMap(({ intent }) => intent.marker ?? []);
}

/** States in which nothing happens until the user decides. */
const IDLE_STATES: ReadonlySet<SubmissionState> = new Set([
  'stopped',
  'unsent',
  'unknown',
  'not-charged',
  'refused',
]);

/** Whether to offer a resend, or a new submission of the draft, which first asks whether to wait. */
export function canContinue(
  submission: PendingSubmission,
  nowMs: number,
  {
    clockSkewMs,
    keyId,
    longWaitUntilMs,
  }: Partial<Pick<Session, 'clockSkewMs' | 'keyId' | 'longWaitUntilMs'>> = {},
): boolean {
  const { intent, state } = submission;
  const stage = stageOf(intent, { nowMs, keyId, clockSkewMs });
  const { obstacle, busyUntilMs } = stage;
  // Without a boundary, a new submission begins instead.
  if (!IDLE_STATES.has(state) || (obstacle !== undefined && isPastBoundary(stage))) return false;
  return state === 'refused' || (busyUntilMs ?? longWaitUntilMs) === undefined;
}

/** Whether another check of the runs and the balance can provide new information. */
export function canCheck({ state }: PendingSubmission): boolean {
  return state === 'unknown' || state === 'not-charged' || state === 'stopped';
}

/** Whether it waits for an automatic look or check. */
export function isWaiting({ state }: PendingSubmission): boolean {
  return state === 'unknown' || state === 'stopped';
}

export function canDiscard({ state }: PendingSubmission): boolean {
  return IDLE_STATES.has(state);
}

/** The submission after a check in progress: what the user decides meanwhile waits for that check. */
export function afterCheck(submission: PendingSubmission): PendingSubmission {
  const { intent, state } = submission;
  return state === 'checking' ? { ...submission, state: restingState(intent, false) } : submission;
}

/** Whether it is or may become a charge without the user: uploading, validating, or no response. */
export function mayBecomeCharge(state: SubmissionState): boolean {
  return !IDLE_STATES.has(state) || state === 'unknown' || state === 'stopped';
}

/** What this window is currently doing with a submission. */
export type Activity = Partial<Omit<PendingSubmission, 'id' | 'accountId' | 'intent'>> &
  Pick<PendingSubmission, 'state'>;

/** What a submission is while no window works on it. */
const RESTING_STATES: Readonly<Record<Stage['name'], SubmissionState>> = {
  draft: 'unsent',
  begun: 'unsent',
  closing: 'unknown',
  lost: 'unknown',
  cleared: 'not-charged',
  refused: 'refused',
};

/** @param isLooked `Journal.isLooked` */
export function restingState(intent: Intent, isLooked: boolean): SubmissionState {
  const { name, mustLook } = stageOf(intent, { nowMs: 0, isLooked });
  // The record says that two checks found no charge. Until a look is answered, it counts as uncertain again.
  if (mustLook) return name === 'cleared' ? 'unknown' : 'stopped';
  return RESTING_STATES[name];
}

export function isSame(one: PendingSubmission | undefined, other: PendingSubmission): boolean {
  if (one === undefined) return false;
  return (Object.keys({ ...one, ...other }) as (keyof PendingSubmission)[]).every(
    (name) => one[name] === other[name],
  );
}
