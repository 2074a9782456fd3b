import { CancelledError } from '../../core/base/errors.ts';
import type { Log } from './log.ts';
import { act, asText, explain } from './serviceErrors.ts';
import { showError } from './notifications.ts';

/** Tells the person of an error that ended what they asked for, and logs it. A cancel is silent. */
export class ErrorReporter {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** @param again does once more what failed, should the person want it */
  report(error: unknown, again: () => void): void {
    if (error instanceof CancelledError) return;
    this.#log.error('reported', error);
    const explanation = explain(error);
    const { action } = explanation;
    // Not awaited: a toast that hides stays a pending promise.
    void showError(asText(explanation), ...(action === undefined ? [] : [action.title])).then((choice) => {
      if (choice !== undefined && action !== undefined) act(action, again);
    });
  }
}
