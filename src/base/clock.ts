import { setTimeout as delay } from 'node:timers/promises';
import { CancelledError } from './errors.ts';

/** Time, so that tests can have their own. */
export interface Clock {
  /** Milliseconds since the epoch by this machine's clock, which a person or the network may set. */
  nowMs(): number;
  /** Milliseconds that only go forward; on most systems they stand still while the machine sleeps. */
  monotonicMs(): number;
  /** @throws CancelledError when the signal aborts */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own time. */
export const SYSTEM_CLOCK: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal === undefined ? {} : { signal });
    } catch {
      throw new CancelledError();
    }
  },
};
