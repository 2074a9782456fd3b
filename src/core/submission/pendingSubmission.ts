import type { RunCreation, RunDetail } from '../api/types.ts';
import type { Event } from '../base/event.ts';
import type { Session } from '../runs/session.ts';
import { busyUntilMs, obstacleOf, type UncertaintyReason } from './stage.ts';
import { isClosed, isRefused, isSent, type Submission } from './submission.ts';

/**
 * What windows do with a submission now, besides its stage. `validating`: every byte is sent, and the service prices
 * it. `waiting`: for the next attempt. `elsewhere`: another window works on it. `unchecked`: until a look is answered,
 * this window says nothing about a charge. `idle`: its stage says everything.
 */
export type SubmissionState =
  | 'queued'
  | 'uploading'
  | 'validating'
  | 'waiting'
  | 'checking'
  | 'elsewhere'
  | 'unchecked'
  | 'idle';

/** A submission that is in progress or needs a decision by the user. */
export interface PendingSubmission {
  /** Its Idempotency-Key. */
  readonly id: string;
  readonly accountId: string;
  readonly submission: Submission;
  readonly state: SubmissionState;
  readonly sentBytes: number;
  readonly totalBytes: number;
  /** When this attempt's upload began; milliseconds since the epoch. */
  readonly startedAtMs?: number;
  /** Which attempt this is, from 1; 0 before the first. */
  readonly attempt: number;
  /** When the next attempt begins, while `waiting`; milliseconds since the epoch. */
  readonly retryAtMs?: number;
  /** While `waiting` or `validating`: the time, each second, so that every view counts the same seconds. */
  readonly tickMs?: number;
  /** While `waiting`: whether the service asked for this wait before anything was sent. */
  readonly isAsked?: boolean;
  /** While `unchecked`: whether this window has looked for its run, without an answer. */
  readonly hasLooked?: boolean;
}

/** The current result of a submission, in terms of the user's money. */
export type SubmissionResult =
  /** `found`: by a check instead of the response, so less is known about the charge. */
  | { kind: 'charged'; run: RunCreation; found?: true }
  /** `isKept`: it is still pending and can be continued or discarded. */
  | { kind: 'not-charged'; error: unknown; isKept: boolean }
  /** It may have been charged. */
  | { kind: 'unknown'; error: unknown }
  /** Nothing was sent now. The look for its run was not answered, so an earlier charge is possible. */
  | { kind: 'unanswered'; error: unknown }
  /** Nothing was or will be sent: it is too old, or has another API key. The user may submit again. */
  | { kind: 'ended' }
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

/** A charge that this window found, and its submission. */
export interface FoundRun {
  submission: Submission;
  run: RunCreation;
}

/** A submission that this window is sending. */
export interface SubmissionInProgress {
  /** Its Idempotency-Key. */
  readonly id: string;
  /** Fires when it started, progressed, or ended, with its latest state. */
  readonly onProgress: Event<PendingSubmission>;
  /** Never rejects. */
  readonly result: Promise<SubmissionResult>;
}

/** Whether the service's refusal would end it now: it is being sent, and no earlier attempt may have been charged. */
export function canBeRefused({ state, submission }: PendingSubmission): boolean {
  const isFirst = !submission.attempts.slice(0, -1).some(isClosed);
  return (state === 'uploading' || state === 'validating') && isFirst;
}

/** Whether it can be stopped before its last bytes leave. */
export function isCancellable({ state }: PendingSubmission): boolean {
  return state === 'queued' || state === 'uploading' || state === 'waiting';
}

/**
 * Returns the markers of an account's submissions that are in progress and may already have runs. Leaves out those
 * that wait for the user: perhaps nothing checks for their runs again.
 */
export function openMarkers(submissions: readonly PendingSubmission[], accountId: string): string[] {
  return submissions
    .filter(
      ({ accountId: id, submission, state }) => id === accountId && !RESTING.has(state) && isSent(submission),
    )
    .flatMap(({ submission }) => submission.marker ?? []);
}

/** States in which nothing is sent until the user decides. */
const RESTING: ReadonlySet<SubmissionState> = new Set(['unchecked', 'idle']);

/** Whether to offer Continue or Resend. Not during a long wait that the service asks for, unless it was refused. */
export function canContinue(
  row: PendingSubmission,
  nowMs: number,
  {
    clockSkewMs,
    keyId,
    longWaitUntilMs,
  }: Partial<Pick<Session, 'clockSkewMs' | 'keyId' | 'longWaitUntilMs'>> = {},
): boolean {
  const { submission, state } = row;
  const obstacle = obstacleOf(submission, { nowMs, keyId, clockSkewMs });
  // If it is too old, and its last bytes didn't leave, Continue begins a new submission.
  if (!RESTING.has(state) || obstacle === 'key-replaced') return false;
  if (obstacle === 'too-late' && isSent(submission)) return false;
  return isRefused(submission) || (busyUntilMs(submission, nowMs) ?? longWaitUntilMs) === undefined;
}

/** Whether another check of the runs and the balance can provide new information. */
export function canCheck({ state, submission }: PendingSubmission): boolean {
  return state === 'unchecked' || (state === 'idle' && isSent(submission));
}

/** Whether windows check it automatically. */
export function awaitsCheck(row: PendingSubmission): boolean {
  return row.state === 'unchecked' || mayHaveBeenCharged(row);
}

/** Whether no window works on it, and it may have been charged. */
export function mayHaveBeenCharged({ state, submission }: PendingSubmission): boolean {
  return state === 'idle' && submission.stage === 'sent';
}

/** Whether the user may discard it: no window works on it. */
export function canDiscard({ state }: PendingSubmission): boolean {
  return RESTING.has(state);
}

/** Returns a submission as it will be after a check in progress, for which the user's decision waits. */
export function afterCheck(row: PendingSubmission): PendingSubmission {
  const { submission, state } = row;
  return state === 'checking' ? { ...row, state: restingState(submission, false) } : row;
}

/** Whether it may be charged already, or without a further decision by the user. */
export function mayBecomeCharge(row: PendingSubmission): boolean {
  return row.state !== 'idle' || mayHaveBeenCharged(row);
}

/** What this window is currently doing with a submission. */
export type Activity = Partial<Omit<PendingSubmission, 'id' | 'accountId' | 'submission'>> &
  Pick<PendingSubmission, 'state'>;

/** Returns the state of a submission while no window works on it. @param maySayNotCharged see the journal's */
export function restingState(submission: Submission, maySayNotCharged: boolean): 'unchecked' | 'idle' {
  const saysNotCharged = submission.stage !== 'sent' && !isRefused(submission);
  return saysNotCharged && !maySayNotCharged ? 'unchecked' : 'idle';
}
