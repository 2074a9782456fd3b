import * as vscode from 'vscode';
import { CancelledError, ExpectedError } from '../../core/base/errors.ts';
import { redact } from '../../core/base/redact.ts';

/** Owns the extension's log. Everything is redacted before it is written; none of it is user-facing text. */
export class Log implements vscode.Disposable {
  readonly #channel = vscode.window.createOutputChannel('Fine-Tuning', { log: true });

  info(text: string): void {
    this.#channel.info(redact(text));
  }

  warn(text: string): void {
    this.#channel.warn(redact(text));
  }

  /** Logs an error with its stack and causes. Expected errors contain only codes and values. */
  error(what: string, error: unknown): void {
    this.#channel.error(redact(`${what}: ${describe(error)}`));
  }

  show(): void {
    this.#channel.show();
  }

  dispose(): void {
    this.#channel.dispose();
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncause: ${describe(error.cause)}`;
  // Class names are minified, so log the code.
  const code = error instanceof ExpectedError ? `${error.code}: ` : '';
  return `${code}${error.stack ?? `${error.name}: ${error.message}`}${cause}`;
}

/** Logs and reports the error of an operation that the user requested, unless it was canceled; `again` retries it. */
export function reportError(log: Log, error: unknown, again: () => void): void {
  if (error instanceof CancelledError) return;
  log.error('reported', error);
  inBackground(
    log,
    import('./serviceErrors.ts').then(({ notifyFailed }) => notifyFailed(error, again)),
  );
}

/** Logs the error of work that nothing awaits. */
export function inBackground(log: Pick<Log, 'error'>, work: Promise<unknown>): void {
  work.catch((error: unknown) => log.error('in-background', error));
}
