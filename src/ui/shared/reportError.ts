import { CancelledError } from '../../core/base/errors.ts';
import type { Log } from './log.ts';
import { showError } from './notifications.ts';
import { act, asText, explain } from './serviceErrors.ts';

/** Reports errors that ended what the user asked for, and logs them. A cancel is silent. */
export class ErrorReporter {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** @param again does again what failed, should the user want it */
  report(error: unknown, again: () => void): void {
    if (error instanceof CancelledError) return;
    this.#log.error('reported', error);
    const explanation = explain(error);
    const { action } = explanation;
    // Not awaited: a toast that hides stays a pending promise.
    void showError(asText(explanation), action.title).then((choice) => {
      if (choice !== undefined) act(action, again);
    });
  }
}
