import type { Clock } from '../../../src/core/base/clock.ts';
import { CancelledError, throwIfCancelled } from '../../../src/core/base/errors.ts';

const START_MS = Date.UTC(2031, 4, 3, 12);

/** A machine's clocks, which only a test advances; sleepers wake up in order. */
export class SteppedClock implements Clock {
  #passedMs = 0;
  #wallOffsetMs = 0;
  readonly #sleepers = new Set<{ atMs: number; wake: () => void }>();

  nowMs(): number {
    return START_MS + this.#passedMs + this.#wallOffsetMs;
  }

  monotonicMs(): number {
    return this.#passedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    throwIfCancelled(signal);
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#sleepers.delete(sleeper);
        reject(new CancelledError());
      };
      const wake = () => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const sleeper = { atMs: this.#passedMs + ms, wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  /** Advances the time, stopping whenever sleepers wake up until `settle` resolves. */
  async pass(ms: number, settle: () => Promise<void>): Promise<void> {
    const endMs = this.#passedMs + ms;
    for (;;) {
      const sleepers = [...this.#sleepers];
      const nextMs = Math.min(...sleepers.map(({ atMs }) => atMs));
      if (nextMs > endMs) break;
      this.#passedMs = Math.max(this.#passedMs, nextMs);
      for (const { atMs, wake } of sleepers) if (atMs === nextMs) wake();
      await settle();
    }
    this.#passedMs = endMs;
    await settle();
  }

  setWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }
}
