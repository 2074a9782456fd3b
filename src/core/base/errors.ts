/**
 * An expected error. It has a code and values, but no sentence for the user (those are in `ui/`). `message`
 * is in English for the log, and contains no API key, signed URL, or dataset text.
 */
export abstract class ExpectedError extends Error {
  abstract readonly code: string;
}

/** The user or a shutdown canceled the operation. Never shown. */
export class CancelledError extends ExpectedError {
  readonly code = 'cancelled';

  constructor() {
    super('cancelled');
  }
}

/** @throws CancelledError if the signal is aborted */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CancelledError();
}

/**
 * Waits for work until the signal aborts, which doesn’t stop the work.
 * @throws CancelledError, and errors of the work
 */
export function unlessCancelled<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(new CancelledError());
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave));
  });
}
