import * as vscode from 'vscode';
import { CancelledError } from '../base/errors.ts';
import type { Log } from './log.ts';
import { asText, explain } from './wording/errors.ts';

/** Tells the person of an error that ended what they asked for, and logs it. A cancel is silent. */
export class ErrorReporter {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** @param preface what did not work, or what is true all the same; a whole sentence */
  report(error: unknown, preface?: string): void {
    if (error instanceof CancelledError) return;
    this.#log.error('reported', error);
    const explanation = explain(error);
    const text = preface === undefined ? asText(explanation) : `${preface} ${asText(explanation)}`;
    const { action } = explanation;
    // Not awaited: a toast that hides stays a pending promise.
    void vscode.window
      .showErrorMessage(text, ...(action === undefined ? [] : [action.title]))
      .then((choice) => {
        if (choice !== undefined && action !== undefined) void vscode.commands.executeCommand(action.command);
      });
  }
}
