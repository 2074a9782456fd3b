import { CancelledError } from '../../core/base/errors.ts';
import type { Log } from './log.ts';
import { showError } from './notifications.ts';

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
    void this.#show(error, again);
  }

  async #show(error: unknown, again: () => void): Promise<void> {
    const { act, asText, explain } = await import('./serviceErrors.ts');
    const explanation = explain(error);
    const { action } = explanation;
    const choice = await showError(asText(explanation), action.title);
    if (choice !== undefined) act(action, again);
  }
}
