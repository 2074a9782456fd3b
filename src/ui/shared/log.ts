import * as vscode from 'vscode';
import { CancelledError, ExpectedError } from '../../core/base/errors.ts';

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

/**
 * Makes a text fit for the log: API keys, authorization values and the query strings of addresses (signatures), whole or
 * without their host, are masked; rather too much than too little.
 */
export function redact(text: string): string {
  return text
    .replace(/\b(bearer|basic)\s+\S+/gi, '$1 ***')
    .replace(/service_\S+/g, 'service_***')
    .replace(/(https?:\/\/)[^\s/?#]*@/gi, '$1***@')
    .replace(/\S+/g, withoutQuery);
}

function withoutQuery(word: string): string {
  const path = word.indexOf('/');
  if (path === -1) return word;
  const query = word.slice(path).search(/[?#]./);
  return query === -1 ? word : `${word.slice(0, path + query)}?***`;
}

/** Reports an error that ended what the user asked for, and logs it. A cancel is silent. @param again does again what failed */
export function reportError(log: Log, error: unknown, again: () => void): void {
  if (error instanceof CancelledError) return;
  log.error('reported', error);
  inBackground(
    log,
    import('./serviceErrors.ts').then(({ notifyFailed }) => notifyFailed(error, again)),
  );
}

/** Lets something happen that nobody waits for; if it fails, the log has the reason. */
export function inBackground(log: Pick<Log, 'error'>, work: Promise<unknown>): void {
  work.catch((error: unknown) => log.error('in-background', error));
}
