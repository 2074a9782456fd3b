import type { RunCreation } from '../api/types.ts';
import type { Event } from '../base/event.ts';
import { mayBeCharged, type Intent } from './intent.ts';

/**
 * `validating`: every byte is out and the service prices it. `waiting`: for the next attempt. `elsewhere`: another window
 * has it. `unsent`: nothing of it can have been charged. `unknown`: it may have been. `not-charged`: two complete looks
 * found nothing. `refused`: by the service, before anything could be charged; the draft is kept.
 */
export type SubmissionState =
  | 'queued'
  | 'uploading'
  | 'validating'
  | 'waiting'
  | 'checking'
  | 'elsewhere'
  | 'unsent'
  | 'unknown'
  | 'not-charged'
  | 'refused';

/** A submission that is under way, or about which the person has something to decide. */
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
}

/** How a submission ended, for now, for the user's money. */
export type SubmissionResult =
  /**
   * `found`: not by its answer, but by a check, which knows less of the charge. `onTold` is called when the user was notified:
   * after a crash before that, the next start does it.
   */
  | { kind: 'charged'; run: RunCreation; found?: true; onTold?: () => void }
  /** `kept`: it is among the pending ones, to be continued or discarded. */
  | { kind: 'not-charged'; error: unknown; kept: boolean }
  /** It may have been charged. */
  | { kind: 'unknown'; error: unknown }
  /** Nothing was sent: a submission of the same bytes and model is open, and comes first. */
  | { kind: 'open'; id: string }
  /** Nothing was sent: another window has it, or it is resolved. */
  | { kind: 'elsewhere' };

/** A submission that this window sends. */
export interface Submission {
  /** Its Idempotency-Key. */
  readonly id: string;
  /** Fires when it began, progressed or ended, with its last state. */
  readonly onProgress: Event<PendingSubmission>;
  /** Never rejects. */
  readonly result: Promise<SubmissionResult>;
}

/** Whether it can be stopped before its closing boundary has left. */
export function isCancellable({ state }: PendingSubmission): boolean {
  return state === 'queued' || state === 'uploading' || state === 'waiting';
}

/**
 * The markers of those of an account that are under way and may have become runs already. Not of those that rest: nobody may be
 * looking for their runs.
 */
export function openMarkers(submissions: readonly PendingSubmission[], accountId: string): string[] {
  return submissions
    .filter(
      ({ accountId: id, intent, state }) => id === accountId && !isResting(state) && mayBeCharged(intent),
    )
    .flatMap(({ intent }) => intent.marker ?? []);
}

function isResting(state: SubmissionState): boolean {
  return state === 'unsent' || state === 'unknown' || state === 'not-charged' || state === 'refused';
}
