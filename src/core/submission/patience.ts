import type { Clock } from '../base/clock.ts';
import { RETRIES } from '../base/retry.ts';
import type { Session } from '../runs/session.ts';
import { TooEarlyError } from './errors.ts';
import type { Activity } from './pendingSubmission.ts';
import { askedWaitMs, type Submission } from './submission.ts';

/** The longest single sleep. After it, the clock is read again: the machine may have slept, or the clock been set. */
const PART_MS = 60_000;

/**
 * How long a submission may still wait because the service asks it to: ten minutes in all, from the user's consent.
 * After hours, nobody expects it to be sent.
 */
export class Patience {
  readonly #clock: Clock;
  readonly #show: (live: Partial<Activity>) => void;
  #leftMs: number = RETRIES.submission.longestRetryAfterMs;

  constructor(clock: Clock, show: (live: Partial<Activity>) => void) {
    this.#clock = clock;
    this.#show = show;
  }

  /** The rest, in milliseconds. */
  get leftMs(): number {
    return this.#leftMs;
  }

  spend(ms: number): void {
    this.#leftMs -= ms;
  }

  /**
   * Waits as long as the service asked the account or this submission to.
   * @throws TooEarlyError if that is longer than `leftMs`, CancelledError
   */
  async wait(session: Session, submission: Submission, signal: AbortSignal): Promise<void> {
    let countedUntilMs = 0;
    for (;;) {
      const nowMs = this.#clock.nowMs();
      const ofAccountMs = (session.submissionsNotBeforeMs ?? nowMs) - nowMs;
      const waitMs = Math.max(askedWaitMs(submission, { localMs: nowMs }), ofAccountMs);
      if (waitMs <= 0) return;
      const untilMs = nowMs + waitMs;
      const newMs = Math.max(0, untilMs - Math.max(nowMs, countedUntilMs));
      if (newMs > this.#leftMs) throw new TooEarlyError(waitMs);
      this.spend(newMs);
      countedUntilMs = Math.max(countedUntilMs, untilMs);
      this.#show({ state: 'waiting', retryAtMs: untilMs, isAsked: true });
      await this.#clock.sleep(Math.min(PART_MS, waitMs), signal);
    }
  }
}
