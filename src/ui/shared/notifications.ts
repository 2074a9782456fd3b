import * as vscode from 'vscode';
import { sanitizeText } from './serviceText.ts';

// The one way to VS Code's notifications, message boxes and progress: a lint rule forbids the direct calls. A file name or a
// text of the service in them makes no link, which could run a command, and hides nothing.

/** As VS Code's overloads take it; they do not accept a union. */
type Rest = [...buttons: string[]] | [options: vscode.MessageOptions, ...buttons: string[]];

function harmlessRest(rest: Rest): string[] {
  const harmless = (part: string | vscode.MessageOptions) =>
    typeof part === 'object' && part.detail !== undefined
      ? { ...part, detail: sanitizeText(part.detail) }
      : part;
  return rest.map(harmless) as string[];
}

/** Shows an information; resolves to the button that was pressed. */
export function showInformation(sentence: string, ...rest: Rest): Thenable<string | undefined> {
  return vscode.window.showInformationMessage(sanitizeText(sentence), ...harmlessRest(rest));
}

/** Shows a warning; resolves to the button that was pressed. */
export function showWarning(sentence: string, ...rest: Rest): Thenable<string | undefined> {
  return vscode.window.showWarningMessage(sanitizeText(sentence), ...harmlessRest(rest));
}

/** Shows an error; resolves to the button that was pressed. */
export function showError(sentence: string, ...rest: Rest): Thenable<string | undefined> {
  return vscode.window.showErrorMessage(sanitizeText(sentence), ...harmlessRest(rest));
}

/** Shows the progress of work, in its title and in what it reports. */
export function withProgress<T>(
  options: vscode.ProgressOptions,
  work: (
    progress: vscode.Progress<{ message?: string; increment?: number }>,
    token: vscode.CancellationToken,
  ) => Thenable<T>,
): Thenable<T> {
  const title = options.title === undefined ? {} : { title: sanitizeText(options.title) };
  return vscode.window.withProgress({ ...options, ...title }, (progress, token) =>
    work(
      {
        report: ({ message, ...rest }) =>
          progress.report({ ...(message !== undefined && { message: sanitizeText(message) }), ...rest }),
      },
      token,
    ),
  );
}
