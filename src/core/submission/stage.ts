import { askedWaitMs, hasBoundary, RESEND_MS, serviceStartMs, type Intent } from './intent.ts';
import { nextCheckAtMs, uncertaintyOf, type UncertaintyReason } from './reconcilePolicy.ts';

export type { UncertaintyReason } from './reconcilePolicy.ts';

/** How far an open submission got, as its record says. */
type Progress =
  /** No closing boundary was sent, and each attempt has its end. */
  | { name: 'draft' }
  /** No closing boundary was sent; an attempt began and has no end. */
  | { name: 'begun' }
  /**
   * The closing boundary may have been sent. `closing`: the last attempt has no end. `why`: what checks
   * haven't ruled out. `decidedAtMs`: when the next check may resolve `too-early`, by this machine's clock.
   */
  | { name: 'closing' | 'lost'; why: UncertaintyReason; decidedAtMs?: number }
  /** The closing boundary may have been sent, and two checks found no charge. */
  | { name: 'cleared' }
  /** The service refused it before any charge. */
  | { name: 'refused'; code: string };

/** What the record of an open submission says, and what may be done with it now. */
export type Stage = Progress & {
  /**
   * Set if nothing may be said of its charge yet. A process may be uploading it. Or no look was answered
   * since this process found its record, which may be from before a charge (R5 in docs/journal.md).
   */
  mustLook?: true;
  /** Why it is never sent again, by this machine's clock and the service's, if known. */
  obstacle?: 'key-replaced' | 'too-late';
  /** Until when the service asked not to send it, by this machine's clock. Missing if it may be sent. */
  busyUntilMs?: number;
};

/** What a reader of a record knows besides it. */
export interface Situation {
  /** By this machine's clock, in milliseconds since the epoch. */
  nowMs: number;
  /** ID of the account's current API key, if known. */
  keyId?: string | undefined;
  /** How far the service's clock is ahead of this machine's, if known. */
  clockSkewMs?: number | undefined;
  /** See `Journal.isLooked`. */
  isLooked?: boolean;
}

/**
 * Reads the record of an open submission. Except `hasBoundary`, nothing else interprets its attempts.
 * @param situation undefined if `mustLook`, `obstacle` and `busyUntilMs` aren't needed
 */
export function stageOf(record: Intent, situation?: Situation): Stage {
  const progress = progressOf(record);
  if (situation === undefined) return progress;
  const { nowMs, isLooked = true } = situation;
  const obstacle = obstacleOf(record, progress, situation);
  const { name } = progress;
  const saysNothing = name === 'draft' || name === 'begun' || name === 'cleared';
  const mustLook = saysNothing && (!isLooked || lacksEnd(record));
  const waitMs = askedWaitMs(record, { localMs: nowMs });
  return {
    ...progress,
    ...(mustLook && { mustLook }),
    ...(obstacle !== undefined && { obstacle }),
    ...(waitMs > 0 && { busyUntilMs: nowMs + waitMs }),
  };
}

/** Whether the boundary may have been sent: a resend needs the same API key, a check may find a charge. */
export function isPastBoundary({ name }: Pick<Stage, 'name'>): boolean {
  return name === 'closing' || name === 'lost' || name === 'cleared';
}

/** Whether it may have been charged, and no checks have proven otherwise. */
export function isUncertain({ name }: Pick<Stage, 'name'>): boolean {
  return name === 'closing' || name === 'lost';
}

function progressOf(record: Intent): Progress {
  const { attempts, refused } = record;
  if (refused !== undefined) return { name: 'refused', code: refused.code };
  if (!hasBoundary(record)) return { name: lacksEnd(record) ? 'begun' : 'draft' };
  const why = uncertaintyOf(record);
  if (why === undefined) return { name: 'cleared' };
  const name = attempts.at(-1)?.ended === undefined ? 'closing' : 'lost';
  const decidedAtMs = why === 'too-early' ? nextCheckAtMs(record) : undefined;
  return { name, why, ...(decidedAtMs !== undefined && { decidedAtMs }) };
}

/** Whether an attempt may be in progress, perhaps in another process. */
function lacksEnd({ attempts }: Intent): boolean {
  return attempts.some(({ ended }) => ended === undefined);
}

function obstacleOf(
  record: Intent,
  progress: Progress,
  { nowMs, keyId, clockSkewMs = NaN }: Situation,
): Stage['obstacle'] {
  const { attempts, created, keyId: sentWith } = record;
  if (progress.name === 'refused') return undefined;
  if (attempts.length > 0 && keyId !== undefined && keyId !== sentWith) return 'key-replaced';
  // The longer of the two clocks counts, as when it is sent.
  const serviceMs = nowMs + clockSkewMs - (serviceStartMs(record) ?? NaN) || 0;
  return Math.max(serviceMs, nowMs - created.localMs) >= RESEND_MS ? 'too-late' : undefined;
}

/** How long submissions are checked automatically. Afterwards the user checks manually. */
const AUTOMATIC_MS = 60 * 60_000;

/** Whether further automatic checks follow a check that was answered. */
export function isCheckedAutomatically(intent: Intent, nowMs: number): boolean {
  return sinceSentMs(intent, nowMs) <= AUTOMATIC_MS;
}

/** Returns how long ago the last attempt started or sent its closing boundary, by this machine's clock. */
function sinceSentMs({ attempts }: Intent, nowMs: number): number {
  return nowMs - Math.max(0, ...attempts.map(({ started, closed }) => (closed ?? started).localMs));
}
