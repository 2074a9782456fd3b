import * as vscode from 'vscode';
import { ExpectedError } from '../../core/base/errors.ts';
import { redact } from './redact.ts';

/** The extension's log. Everything is redacted before it is written; users never read it as sentences. */
export class Log implements vscode.Disposable {
  readonly #channel = vscode.window.createOutputChannel('Fine-Tuning', { log: true });

  info(text: string): void {
    this.#channel.info(redact(text));
  }

  warn(text: string): void {
    this.#channel.warn(redact(text));
  }

  /** The error with its stack and causes; expected ones hold codes and values only. */
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
  // The names of classes are minified.
  const code = error instanceof ExpectedError ? `${error.code}: ` : '';
  return `${code}${error.stack ?? `${error.name}: ${error.message}`}${cause}`;
}
