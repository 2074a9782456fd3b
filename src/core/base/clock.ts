import { setTimeout as delay } from 'node:timers/promises';
import { CancelledError } from './errors.ts';

/** Time, so that tests can have their own. */
export interface Clock {
  /** Milliseconds since the epoch by this machine's clock, which the user or the network may set. */
  nowMs(): number;
  /**
   * Milliseconds since the machine was started, in every process the same; they only go forward, and on most systems stand
   * still while the machine sleeps.
   */
  monotonicMs(): number;
  /** @throws CancelledError when the signal aborts */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own time. */
export const SYSTEM_CLOCK: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal === undefined ? {} : { signal });
    } catch {
      throw new CancelledError();
    }
  },
};
