import { CancelledError, throwIfCancelled } from './errors.ts';

/** Lets at most so many works run at once; the others wait in order. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Whether the next work has to wait. */
  get areTaken(): boolean {
    return this.#free === 0;
  }

  /** @throws CancelledError when the signal aborts while the work waits, and what the work throws */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }

  async #take(signal: AbortSignal | undefined): Promise<void> {
    throwIfCancelled(signal);
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(new CancelledError());
      };
      this.#waiting.push(enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}
