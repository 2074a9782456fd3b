/** Lets one upload run at a time; the others wait in order. */
export class UploadQueue {
  #last: Promise<unknown> = Promise.resolve();
  #asked = 0;

  /** Whether the next one has to wait. */
  get isBusy(): boolean {
    return this.#asked > 0;
  }

  /** Runs the work when its turn comes. @returns undefined when it is cancelled before; @throws what the work throws */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const before = this.#last;
    this.#asked++;
    const turn = until(before, signal)
      .then((isMyTurn) => (isMyTurn ? work() : undefined))
      .finally(() => this.#asked--);
    this.#last = Promise.allSettled([before, turn]);
    return turn;
  }
}

/** @returns false when it is cancelled before */
function until(turn: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const leave = () => resolve(false);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    void turn.then(() => {
      signal.removeEventListener('abort', leave);
      resolve(!signal.aborted);
    });
  });
}
