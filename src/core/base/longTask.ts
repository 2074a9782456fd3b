import { setImmediate } from 'node:timers/promises';
import { throwIfCancelled } from './errors.ts';

const SLICE_MS = 4;

/** Lets others work between the steps of a long calculation. */
export class LongTask {
  readonly #signal: AbortSignal | undefined;
  #sinceMs = performance.now();

  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  get isDue(): boolean {
    return performance.now() - this.#sinceMs >= SLICE_MS;
  }

  /** @throws CancelledError */
  async yieldToEventLoop(): Promise<void> {
    await setImmediate();
    throwIfCancelled(this.#signal);
    this.#sinceMs = performance.now();
  }
}
