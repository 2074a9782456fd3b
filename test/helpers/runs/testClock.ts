import type { Clock } from '../../../src/core/base/clock.ts';
import { CancelledError, throwIfCancelled } from '../../../src/core/base/errors.ts';

const START_MS = Date.UTC(2031, 4, 3, 12);

/** A machine's clocks, and the service's, that move only when they are told to: whoever sleeps passes time at once. */
export class TestClock implements Clock {
  /** What the service says that it is. */
  serviceMs = START_MS;
  /** How long each sleep was. */
  readonly sleeps: number[] = [];
  /** While it is, a sleep ends only by its signal. */
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

  /** Somebody sets the wall clock. */
  setWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** The machine sleeps: its monotonic clock stands still. */
  sleepMachine(ms: number): void {
    this.#asleepMs += ms;
    this.pass(ms);
  }
}
