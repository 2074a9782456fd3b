import { nextCheckAtMs, uncertaintyOf, type UncertaintyReason } from './reconcilePolicy.ts';
import { askedWaitMs, isRefused, RESEND_MS, serviceStartMs, type Submission } from './submission.ts';

export type { UncertaintyReason } from './reconcilePolicy.ts';

/** What decides, besides a submission, what may be done with it. */
export interface Situation {
  /** By this machine's clock, in milliseconds since the epoch. */
  nowMs: number;
  /** ID of the account's current API key, if known. */
  keyId?: string | undefined;
  /** How far the service's clock is ahead of this machine's, if known. */
  clockSkewMs?: number | undefined;
}

/** Returns why a `sent` submission may be charged. `decidedAtMs`: when the next check may decide, if known. */
export function whyUncertain(
  submission: Submission,
): { why: UncertaintyReason; decidedAtMs: number | undefined } | undefined {
  const why = submission.stage === 'sent' ? uncertaintyOf(submission) : undefined;
  return why && { why, decidedAtMs: why === 'too-early' ? nextCheckAtMs(submission) : undefined };
}

/** Returns until when the service asked not to send it, by this machine's clock; undefined if it may be sent. */
export function busyUntilMs(submission: Submission, nowMs: number): number | undefined {
  const waitMs = askedWaitMs(submission, { localMs: nowMs });
  return waitMs > 0 ? nowMs + waitMs : undefined;
}

/** Returns why it is never sent again, by this machine's clock and the service's; undefined if it may be. */
export function obstacleOf(
  submission: Submission,
  { nowMs, keyId, clockSkewMs = NaN }: Situation,
): 'key-replaced' | 'too-late' | undefined {
  const { created, keyId: ownKeyId } = submission;
  if (isRefused(submission)) return undefined;
  if (keyId !== undefined && keyId !== ownKeyId) return 'key-replaced';
  // The longer of the two clocks counts, as when it is sent.
  const serviceMs = nowMs + clockSkewMs - (serviceStartMs(submission) ?? NaN) || 0;
  return Math.max(serviceMs, nowMs - created.localMs) >= RESEND_MS ? 'too-late' : undefined;
}

/** How long submissions are checked automatically. After that, only when the user asks. */
const AUTOMATIC_MS = 60 * 60_000;

/** Whether further automatic checks follow a check that was answered. */
export function isCheckedAutomatically(submission: Submission, nowMs: number): boolean {
  return sinceSentMs(submission, nowMs) <= AUTOMATIC_MS;
}

/** Returns how long ago an attempt last started or sent its last bytes, by this machine's clock. */
function sinceSentMs({ attempts }: Submission, nowMs: number): number {
  return nowMs - Math.max(0, ...attempts.map(({ started, closed }) => (closed ?? started).localMs));
}
