import { backoffMs, MAX_RETRY_AFTER_MS, RETRIES } from '../base/retry.ts';
import { isForLater, ServiceError, type AnswerError } from './errors.ts';

/**
 * For how long reads that somebody waits for are held at most: a Retry-After of hours must not keep the user from learning
 * what was charged.
 */
const LONGEST_READ_HELD_MS = 10 * 60_000;

/**
 * Keeps all calls of an account from the service as long as it asked to be left alone (spec: "Errors", `rate_limited`). Its
 * time is this machine's wall clock, the only one that windows share; where that is set back, what is left of the wait stays.
 */
export class RateGate {
  readonly #now: () => number;
  /** When the times below were last looked at. */
  #seenAtMs = 0;
  #untilMs = 0;
  /** For reads that somebody waits for: never later than the other one. */
  #readUntilMs = 0;
  #isUnavailable = false;
  #unknownWaits = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Until when it is closed, in milliseconds since the epoch; undefined when it is open.
   * @param isRead to reads that somebody waits for
   */
  untilMs(isRead = false): number | undefined {
    const untilMs = this.remainingMs(isRead) > 0 && (isRead ? this.#readUntilMs : this.#untilMs);
    return untilMs || undefined;
  }

  /** How long it stays closed, in milliseconds; 0 when it is open. @param isRead as `untilMs` */
  remainingMs(isRead = false): number {
    const nowMs = this.#clockMs();
    return Math.max(0, (isRead ? this.#readUntilMs : this.#untilMs) - nowMs);
  }

  /** Closes it for the time that an answer asks for, or a short one after a 429; never shortens it. */
  refused(answer: AnswerError): void {
    const { httpStatus, retryAfterMs } = answer;
    if (httpStatus !== 429 && (retryAfterMs === undefined || !isForLater(httpStatus))) return;
    const ms = retryAfterMs ?? backoffMs(RETRIES.rateLimit, this.#unknownWaits++);
    if (ms > this.remainingMs()) this.#isUnavailable = httpStatus !== 429;
    const untilMs = this.#clockMs() + ms;
    // Where a gateway said so, the user may try anyway.
    this.holdUntil(untilMs, answer instanceof ServiceError ? untilMs : undefined);
  }

  /**
   * Keeps it closed until then, as another window was asked; more than a week is a clock that was set.
   * @param readUntilMs to reads, too
   */
  holdUntil(untilMs: number, readUntilMs = 0): void {
    const nowMs = this.#clockMs();
    if (untilMs - nowMs > MAX_RETRY_AFTER_MS) return;
    this.#untilMs = Math.max(this.#untilMs, untilMs);
    this.#readUntilMs = Math.max(this.#readUntilMs, Math.min(readUntilMs, nowMs + LONGEST_READ_HELD_MS));
  }

  /** The service took a call. */
  passed(): void {
    this.#unknownWaits = 0;
  }

  /**
   * @param isRead as `untilMs`
   * @throws ServiceError `rate_limited` or `unavailable` with what remains, while it is closed; its status is 429 either way,
   * since nothing was sent and no answer is known
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
