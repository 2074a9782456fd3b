import { NetworkError, type NetworkErrorReason } from './errors.ts';

/** The one clock of a stage of an exchange: when its limit passes, the exchange is stopped with the reason given. */
export class Deadline {
  readonly #stop: AbortController;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(stop: AbortController) {
    this.#stop = stop;
  }

  /** Starts the clock anew. */
  set(limitMs: number, reason: NetworkErrorReason): void {
    if (this.#ended) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop.abort(new NetworkError(reason)), limitMs);
  }

  /** Stops the clock until the next `set`. */
  clear(): void {
    clearTimeout(this.#timer);
  }

  /** Stops the clock for good. */
  end(): void {
    this.#ended = true;
    this.clear();
  }
}
