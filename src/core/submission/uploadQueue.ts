import { unlessCancelled } from '../base/errors.ts';

/** Runs one upload at a time; the others wait in order. */
export class UploadQueue {
  #last: Promise<unknown> = Promise.resolve();
  #requested = 0;

  /** Whether the next upload has to wait. */
  get isBusy(): boolean {
    return this.#requested > 0;
  }

  /** Runs `work` when its turn comes. @returns undefined if canceled before its turn @throws errors of `work` */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const before = this.#last;
    this.#requested++;
    const turn = unlessCancelled(before, signal)
      .then(
        () => (signal.aborted ? undefined : work()),
        () => undefined,
      )
      .finally(() => this.#requested--);
    this.#last = Promise.allSettled([before, turn]);
    return turn;
  }
}
