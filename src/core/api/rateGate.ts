import { backoffMs, MAX_RETRY_AFTER_MS, RETRIES } from '../base/retry.ts';
import { isForLater, ServiceError, type AnswerError } from './errors.ts';

/**
 * How long foreground reads are delayed at most: a Retry-After of hours must not keep the user from learning
 * what was charged.
 */
const LONGEST_READ_HELD_MS = 10 * 60_000;

/** Who waits for a call. `read`: the user; `urgent`: the user, who decides by it about a submission. */
export type CallKind = 'background' | 'read' | 'urgent' | 'submission';

/** Until when the service asked to wait, in milliseconds since the epoch; 0 if it didn't. */
interface Wait {
  readonly untilMs: number;
  /** For foreground reads; never later. */
  readonly readUntilMs: number;
}

/** What the service asked for in answer to reads, and in answer to submissions. */
export type Waits = Record<'reads' | 'submissions', Wait>;

const NO_WAIT = { untilMs: 0, readUntilMs: 0 } as const;

/**
 * Blocks calls of an account for as long as the service requested (spec: "Errors", `rate_limited`). Uses
 * the wall clock, the only one that windows share. If it is set back, the remaining wait is preserved.
 */
export class RateGate {
  readonly #now: () => number;
  /** When the times below were last adjusted to the clock. */
  #seenAtMs = 0;
  readonly #waits: Waits = { reads: NO_WAIT, submissions: NO_WAIT };
  /** Until when a wait applied that was ended: other windows may still share it. */
  #endedUntilMs = 0;
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
    const nowMs = this.#clockMs();
    return Math.max(0, this.#blockedUntilMs(kind) - nowMs);
  }

  /** The waits for other windows; undefined if none applies now. */
  get waits(): Readonly<Waits> | undefined {
    return this.remainingMs() > 0 ? this.#waits : undefined;
  }

  /**
   * Blocks calls for the requested time, or briefly after a 429 without one. Never shortens a wait.
   * @param asked what was answered
   */
  refused(answer: AnswerError, asked: keyof Waits): void {
    const { httpStatus, retryAfterMs } = answer;
    if (httpStatus !== 429 && (retryAfterMs === undefined || !isForLater(httpStatus))) return;
    const ms = retryAfterMs ?? backoffMs(RETRIES.rateLimit, this.#unknownWaits++);
    if (ms > this.remainingMs()) this.#isUnavailable = httpStatus !== 429;
    const untilMs = this.#clockMs() + ms;
    // If a gateway requested it, the user may try anyway.
    this.#hold(asked, { untilMs, readUntilMs: answer instanceof ServiceError ? untilMs : 0 });
  }

  /** Blocks calls as requested from another window. */
  adopt({ reads, submissions }: Readonly<Waits>): void {
    this.#hold('reads', reads);
    if (submissions.untilMs > this.#endedUntilMs) this.#hold('submissions', submissions);
  }

  /** Ends the wait that was asked of a submission. */
  endOfSubmissions(): void {
    this.#endedUntilMs = this.#waits.submissions.untilMs;
    this.#waits.submissions = NO_WAIT;
  }

  /** A call succeeded, so the backoff starts over. */
  passed(): void {
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

  /** More than a week means a set clock. */
  #hold(asked: keyof Waits, { untilMs, readUntilMs }: Wait): void {
    const nowMs = this.#clockMs();
    if (untilMs - nowMs > MAX_RETRY_AFTER_MS) return;
    const before = this.#waits[asked];
    this.#waits[asked] = {
      untilMs: Math.max(before.untilMs, untilMs),
      readUntilMs: Math.max(before.readUntilMs, Math.min(readUntilMs, nowMs + LONGEST_READ_HELD_MS)),
    };
  }

  #blockedUntilMs(kind: CallKind): number {
    const { reads, submissions } = this.#waits;
    const untilMs: Record<CallKind, number> = {
      background: Math.max(reads.untilMs, submissions.untilMs),
      read: Math.max(reads.readUntilMs, submissions.readUntilMs),
      urgent: reads.readUntilMs,
      // What was asked of reads delays a submission as it delays them.
      submission: Math.max(reads.readUntilMs, submissions.untilMs),
    };
    return untilMs[kind];
  }

  #clockMs(): number {
    const nowMs = this.#now();
    const setBackMs = Math.max(0, this.#seenAtMs - nowMs);
    if (setBackMs > 0)
      for (const asked of ['reads', 'submissions'] as const) {
        const { untilMs, readUntilMs } = this.#waits[asked];
        this.#waits[asked] = { untilMs: untilMs - setBackMs, readUntilMs: readUntilMs - setBackMs };
      }
    this.#seenAtMs = nowMs;
    return nowMs;
  }
}
