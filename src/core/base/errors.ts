/**
 * An error that the product expects: it carries a code and values, never a sentence for the user (those are in `ui/`).
 * `message` is English for the log and holds no key, signed URL or row text.
 */
export abstract class ExpectedError extends Error {
  abstract readonly code: string;
}

/** The user, or a shutdown, stopped it. Never shown. */
export class CancelledError extends ExpectedError {
  readonly code = 'cancelled';

  constructor() {
    super('cancelled');
  }
}

/** @throws CancelledError when the signal is aborted. */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CancelledError();
}

/** Lets one who waits for work that others wait for, too, leave. @throws CancelledError, and what the work throws */
export function unlessCancelled<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(new CancelledError());
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave));
  });
}
