import { counted } from '../base/rareCases.ts';
import { backoffMs, MAX_RETRY_AFTER_MS, RETRIES } from '../base/retry.ts';
import { isTransientStatus, ServiceError, type ResponseError } from './errors.ts';

/**
 * The longest delay of calls that the user waits for, and of calls of the other kind than the service asked to wait.
 * Otherwise a Retry-After of hours would hide what was charged or how a run ended.
 */
const LONGEST_READ_HELD_MS = 10 * 60_000;

/**
 * `background`: nobody waits for it. `read`: the user waits. `urgent`: the user waits to decide about a submission.
 */
export type CallKind = 'background' | 'read' | 'urgent' | 'submission';

/** A wait that the service asked for. Times are in ms since the epoch; 0 without a wait, or after its end. */
interface Wait {
  /** When the service last asked for it, or when it ended. */
  readonly sinceMs: number;
  readonly untilMs: number;
  /** The end for reads that the user waits for; never after `untilMs`. */
  readonly readUntilMs: number;
}

const ASKED = ['reads', 'submissions'] as const;

/** The waits that the service asked for in its responses to reads, and to submissions. */
export type Waits = Record<(typeof ASKED)[number], Wait>;

export const NO_WAIT = { sinceMs: 0, untilMs: 0, readUntilMs: 0 } as const;

/**
 * Blocks the calls of an account while the service asks to wait (spec: "Errors", `rate_limited`). Uses the wall
 * clock, the only one that windows share. If it is wrong, the service refuses an early request again.
 */
export class RateGate {
  readonly #now: () => number;
  readonly #waits: Waits = { reads: NO_WAIT, submissions: NO_WAIT };
  #isUnavailable = false;
  #unknownWaits = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns until when calls are blocked, in milliseconds since the epoch; undefined if they aren't. */
  untilMs(kind: CallKind = 'background'): number | undefined {
    return this.remainingMs(kind) > 0 ? this.#blockedUntilMs(kind) : undefined;
  }

  /** Returns how long calls stay blocked, in milliseconds; 0 if they aren't. */
  remainingMs(kind: CallKind = 'background'): number {
    return Math.max(0, this.#blockedUntilMs(kind) - this.#now());
  }

  /** The waits to share with other windows, including one that ended early. Undefined if there are none. */
  get waits(): Readonly<Waits> | undefined {
    const waits = { reads: this.#wait('reads'), submissions: this.#wait('submissions') };
    return this.remainingMs() > 0 || waits.submissions.sinceMs > 0 ? waits : undefined;
  }

  /**
   * Blocks calls for the time that an error response requests, or briefly after a 429 without one. Never shortens
   * a wait.
   * @param asked which kind of call was answered
   */
  noteRefusal(answer: ResponseError, asked: keyof Waits): void {
    const { httpStatus, retryAfterMs } = answer;
    if (httpStatus !== 429 && (retryAfterMs === undefined || !isTransientStatus(httpStatus))) return;
    const ms = retryAfterMs ?? backoffMs(RETRIES.rateLimit, this.#unknownWaits++);
    if (ms > this.remainingMs()) this.#isUnavailable = httpStatus !== 429;
    const sinceMs = this.#now();
    const untilMs = sinceMs + ms;
    // If a gateway requested it, reads that the user waits for may try anyway.
    this.#hold(asked, { sinceMs, untilMs, readUntilMs: answer instanceof ServiceError ? untilMs : 0 });
  }

  /** Takes over a newer wait, or the end of one, from another window. */
  adopt(waits: Readonly<Waits>): void {
    for (const asked of ASKED) {
      const { sinceMs } = waits[asked];
      // A time in the future: the clock was set back.
      if (sinceMs <= this.#wait(asked).sinceMs || sinceMs > this.#now()) continue;
      this.#waits[asked] = NO_WAIT;
      this.#hold(asked, waits[asked]);
    }
  }

  /** Ends the wait of submissions, also for other windows. */
  endSubmissionWait(): void {
    this.#waits.submissions = { ...NO_WAIT, sinceMs: this.#now() };
  }

  /** After a call succeeded, lets the backoff start over. */
  noteSuccess(): void {
    this.#unknownWaits = 0;
  }

  /**
   * @throws ServiceError `rate_limited` or `unavailable` with the remaining wait while calls are blocked. The
   * status is always 429, since nothing was sent.
   */
  assertOpen(kind: CallKind): void {
    const remainingMs = this.remainingMs(kind);
    const code = this.#isUnavailable ? 'unavailable' : 'rate_limited';
    if (remainingMs > 0) throw new ServiceError(code, 429, '', remainingMs);
  }

  /** Extends a wait. Ignores one of more than a week: the clock was set. */
  #hold(asked: keyof Waits, { sinceMs, untilMs, readUntilMs }: Wait): void {
    const nowMs = this.#now();
    if (untilMs - nowMs > MAX_RETRY_AFTER_MS) return;
    const before = this.#wait(asked);
    this.#waits[asked] = {
      sinceMs,
      untilMs: Math.max(before.untilMs, untilMs),
      readUntilMs: Math.max(before.readUntilMs, Math.min(readUntilMs, nowMs + LONGEST_READ_HELD_MS)),
    };
  }

  /** Returns until when a kind of call is blocked, by both waits. */
  #blockedUntilMs(kind: CallKind): number {
    const [reads, submissions] = [this.#wait('reads'), this.#wait('submissions')];
    const otherUntilMs = Math.min(submissions.untilMs, submissions.sinceMs + LONGEST_READ_HELD_MS);
    const untilMs: Record<CallKind, number> = {
      background: Math.max(reads.untilMs, otherUntilMs),
      read: Math.max(reads.readUntilMs, submissions.readUntilMs),
      urgent: reads.readUntilMs,
      // If the service asks reads to wait, submissions wait as long as foreground reads: ten minutes at most.
      submission: Math.max(reads.readUntilMs, submissions.untilMs),
    };
    return untilMs[kind];
  }

  /** Returns a wait. Ends it if it begins in the future: the clock was set back. */
  #wait(asked: keyof Waits): Wait {
    const nowMs = this.#now();
    if (counted('future-wait', this.#waits[asked].sinceMs > nowMs))
      this.#waits[asked] = { ...NO_WAIT, sinceMs: nowMs };
    return this.#waits[asked];
  }
}
