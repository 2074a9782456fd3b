import type { Clock } from '../../../src/core/base/clock.ts';
import { CancelledError, throwIfCancelled } from '../../../src/core/base/errors.ts';

const START_MS = Date.UTC(2031, 4, 3, 12);

/** The clocks of a machine and the service, which only a test advances; `sleep` advances them immediately. */
export class TestClock implements Clock {
  /** The service's time. */
  serviceMs = START_MS;
  readonly sleeps: number[] = [];
  /** While true, a sleep only ends by its signal. */
  isHeld = false;
  #wallOffsetMs = 0;
  #asleepMs = 0;

  nowMs(): number {
    return this.serviceMs + this.#wallOffsetMs;
  }

  monotonicMs(): number {
    return this.serviceMs - START_MS - this.#asleepMs;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    throwIfCancelled(signal);
    this.sleeps.push(ms);
    if (this.isHeld)
      await new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(new CancelledError()), { once: true });
      });
    this.pass(ms);
  }

  pass(ms: number): void {
    this.serviceMs += ms;
  }

  setWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** The machine sleeps, so its monotonic clock stops. */
  sleepMachine(ms: number): void {
    this.#asleepMs += ms;
    this.pass(ms);
  }
}
