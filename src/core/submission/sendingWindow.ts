import { IDEMPOTENCY_WINDOW_MS } from '../api/types.ts';
import type { Clock } from '../base/clock.ts';
import { ExpectedError } from '../base/errors.ts';
import { mayBeCharged, type Intent, type Moment } from './intent.ts';
import { passedMs } from './judge.ts';

/** After this nothing is sent again with an Idempotency-Key: the service knows it for 24 hours (spec: "Limits"). */
export const RESEND_MS = IDEMPOTENCY_WINDOW_MS - 60 * 60_000;
/** How far two times of the service may seem to be apart for rounding and travel. */
export const MARGIN_MS = 15 * 60_000;
/** How much wall and monotonic clock may differ: more is a clock that was set, or a machine that slept. */
const AGREEMENT_MS = 60_000;

/** It is too late to send it again with its Idempotency-Key: the service may have forgotten it. */
export class WindowClosedError extends ExpectedError {
  readonly code = 'window-closed';

  constructor() {
    super('more than 23 hours have passed since the first attempt');
  }
}

/** Nobody knows how much time has passed since the first attempt: a clock was set, the machine slept, or none was told. */
export class ClocksDisagreeError extends ExpectedError {
  readonly code = 'clocks-disagree';

  constructor() {
    super('the time since the first attempt is not certain');
  }
}

/**
 * Lets an intent be sent, or sent again, at this moment. One that cannot have been charged may always be: the service has
 * nothing to forget.
 * @throws WindowClosedError, ClocksDisagreeError
 */
export function assertMayResend(intent: Intent, now: Moment): void {
  const first = intent.attempts[0]?.started;
  if (first === undefined || !mayBeCharged(intent)) return;
  if (first.serviceMs === undefined || now.serviceMs === undefined) throw new ClocksDisagreeError();
  const serviceMs = now.serviceMs - first.serviceMs;
  if (serviceMs < -MARGIN_MS) throw new ClocksDisagreeError();
  // However little the service's clock says: it may have been set back.
  if (Math.max(serviceMs, passedMs(first, now) ?? 0) >= RESEND_MS) throw new WindowClosedError();
}

/** Watches whether this machine's two clocks tell the same time since it was made. */
export class ClockWatch {
  readonly #clock: Clock;
  readonly #wallMs: number;
  readonly #monotonicMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#wallMs = clock.nowMs();
    this.#monotonicMs = clock.monotonicMs();
  }

  get agree(): boolean {
    const wallMs = this.#clock.nowMs() - this.#wallMs;
    const monotonicMs = this.#clock.monotonicMs() - this.#monotonicMs;
    return Math.abs(wallMs - monotonicMs) <= AGREEMENT_MS;
  }
}
