import { backoffMs, MAX_RETRY_AFTER_MS, RETRIES } from '../base/retry.ts';
import { isForLater, ServiceError, type AnswerError } from './errors.ts';

/**
 * How long foreground reads are delayed at most: a Retry-After of hours must not keep the user from learning
 * what was charged.
 */
const LONGEST_READ_HELD_MS = 10 * 60_000;

/**
 * Blocks all calls of an account for as long as the service requested (spec: "Errors", `rate_limited`). Uses
 * the wall clock, the only one that windows share. If it is set back, the remaining wait is preserved.
 */
export class RateGate {
  readonly #now: () => number;
  /** When the times below were last adjusted to the clock. */
  #seenAtMs = 0;
  #untilMs = 0;
  /** For foreground reads; never later than `#untilMs`. */
  #readUntilMs = 0;
  #isUnavailable = false;
  #unknownWaits = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Returns until when calls are blocked, in milliseconds since the epoch; undefined if they aren't.
   * @param isRead for reads that the user waits for
   */
  untilMs(isRead = false): number | undefined {
    const untilMs = this.remainingMs(isRead) > 0 && (isRead ? this.#readUntilMs : this.#untilMs);
    return untilMs || undefined;
  }

  /** Returns how long calls stay blocked, in milliseconds; 0 if they aren't. @param isRead as in `untilMs` */
  remainingMs(isRead = false): number {
    const nowMs = this.#clockMs();
    return Math.max(0, (isRead ? this.#readUntilMs : this.#untilMs) - nowMs);
  }

  /** Blocks calls for the requested time, or briefly after a 429 without one. Never shortens a wait. */
  refused(answer: AnswerError): void {
    const { httpStatus, retryAfterMs } = answer;
    if (httpStatus !== 429 && (retryAfterMs === undefined || !isForLater(httpStatus))) return;
    const ms = retryAfterMs ?? backoffMs(RETRIES.rateLimit, this.#unknownWaits++);
    if (ms > this.remainingMs()) this.#isUnavailable = httpStatus !== 429;
    const untilMs = this.#clockMs() + ms;
    // If a gateway requested it, the user may try anyway.
    this.holdUntil(untilMs, answer instanceof ServiceError ? untilMs : undefined);
  }

  /**
   * Blocks calls until a time requested from another window. More than a week means a set clock.
   * @param readUntilMs for foreground reads
   */
  holdUntil(untilMs: number, readUntilMs = 0): void {
    const nowMs = this.#clockMs();
    if (untilMs - nowMs > MAX_RETRY_AFTER_MS) return;
    this.#untilMs = Math.max(this.#untilMs, untilMs);
    this.#readUntilMs = Math.max(this.#readUntilMs, Math.min(readUntilMs, nowMs + LONGEST_READ_HELD_MS));
  }

  /** A call succeeded, so the backoff starts over. */
  passed(): void {
    this.#unknownWaits = 0;
  }

  /**
   * @param isRead as in `untilMs`
   * @throws ServiceError `rate_limited` or `unavailable` with the remaining wait while calls are blocked. The
   * status is always 429, since nothing was sent.
   */
  assertOpen(isRead: boolean): void {
    const remainingMs = this.remainingMs(isRead);
    const code = this.#isUnavailable ? 'unavailable' : 'rate_limited';
    if (remainingMs > 0) throw new ServiceError(code, 429, '', remainingMs);
  }

  #clockMs(): number {
    const nowMs = this.#now();
    const setBackMs = Math.max(0, this.#seenAtMs - nowMs);
    this.#untilMs -= setBackMs;
    this.#readUntilMs -= setBackMs;
    this.#seenAtMs = nowMs;
    return nowMs;
  }
}
