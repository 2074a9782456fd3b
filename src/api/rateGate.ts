import { ServiceError } from './errors.ts';

/** How long nothing is sent after a 429 that tells no time; doubled with each one that follows. */
const BASE_MS = 500;
const CAP_MS = 20_000;

/**
 * For how long reads that somebody waits for are held at most: a Retry-After of hours must not keep a person from learning
 * what was charged.
 */
const LONGEST_READ_HELD_MS = 10 * 60_000;

/**
 * Keeps all calls of one client from the service as long as it asked to be left alone (spec: "Errors", `rate_limited`). Its
 * time is this machine's wall clock, the only one that windows share; where that was set back, the wait begins anew.
 */
export class RateGate {
  readonly #now: () => number;
  #closedAtMs = 0;
  #untilMs = 0;
  #untold = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Until when it is closed, in milliseconds since the epoch; undefined when it is open. */
  get untilMs(): number | undefined {
    return this.remainingMs > 0 ? this.#untilMs : undefined;
  }

  /** How long it stays closed, in milliseconds; 0 when it is open. */
  get remainingMs(): number {
    const nowMs = this.#now();
    if (nowMs < this.#closedAtMs) {
      this.#untilMs += nowMs - this.#closedAtMs;
      this.#closedAtMs = nowMs;
    }
    return Math.max(0, this.#untilMs - nowMs);
  }

  /** How long it stays closed to reads that somebody waits for. */
  get readRemainingMs(): number {
    const { remainingMs } = this;
    return Math.max(0, Math.min(remainingMs, this.#closedAtMs + LONGEST_READ_HELD_MS - this.#now()));
  }

  /** Closes it for the time that the service told, or for a short one where it told none; never shortens it. */
  close(retryAfterMs: number | undefined): void {
    const untold = Math.min(CAP_MS, BASE_MS * 2 ** this.#untold);
    if (retryAfterMs === undefined) this.#untold++;
    this.#close(retryAfterMs ?? untold);
  }

  /** Keeps it closed until then, as another window was told. */
  holdUntil(untilMs: number): void {
    this.#close(untilMs - this.#now());
  }

  /** The service took a call. */
  passed(): void {
    this.#untold = 0;
  }

  /**
   * @param isRead whether it is for a read that somebody waits for
   * @throws ServiceError `rate_limited` with what remains, while it is closed
   */
  assertOpen(isRead: boolean): void {
    const remainingMs = isRead ? this.readRemainingMs : this.remainingMs;
    if (remainingMs > 0) throw new ServiceError('rate_limited', 429, '', remainingMs);
  }

  #close(ms: number): void {
    if (ms <= this.remainingMs) return;
    this.#closedAtMs = this.#now();
    this.#untilMs = this.#closedAtMs + ms;
  }
}
