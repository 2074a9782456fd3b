import * as vscode from 'vscode';

// The one way to VS Code's notifications, message boxes and progress: a lint rule forbids the direct calls.

/**
 * A sentence in which VS Code finds no link. In notifications and titles of progress it makes a link of `[text](address)` and
 * opens it with commands allowed, so a file name or a text of the service could run one. None of our sentences has a link.
 */
function withoutLinks(sentence: string): string {
  return sentence.replaceAll('](', '] (');
}

/** As VS Code's overloads take it; they do not accept a union. */
type Rest = [...buttons: string[]] | [options: vscode.MessageOptions, ...buttons: string[]];

/** Shows an information; resolves to the button that was pressed. */
export function showInformation(sentence: string, ...rest: Rest): Thenable<string | undefined> {
  return vscode.window.showInformationMessage(withoutLinks(sentence), ...(rest as string[]));
}

/** Shows a warning; resolves to the button that was pressed. */
export function showWarning(sentence: string, ...rest: Rest): Thenable<string | undefined> {
  return vscode.window.showWarningMessage(withoutLinks(sentence), ...(rest as string[]));
}

/** Shows an error; resolves to the button that was pressed. */
export function showError(sentence: string, ...rest: Rest): Thenable<string | undefined> {
  return vscode.window.showErrorMessage(withoutLinks(sentence), ...(rest as string[]));
}

/** Shows the progress of work, in its title and in what it reports. */
export function withProgress<T>(
  options: vscode.ProgressOptions,
  work: (
    progress: vscode.Progress<{ message?: string; increment?: number }>,
    token: vscode.CancellationToken,
  ) => Thenable<T>,
): Thenable<T> {
  const title = options.title === undefined ? {} : { title: withoutLinks(options.title) };
  return vscode.window.withProgress({ ...options, ...title }, (progress, token) =>
    work(
      {
        report: ({ message, ...rest }) =>
          progress.report({ ...(message !== undefined && { message: withoutLinks(message) }), ...rest }),
      },
      token,
    ),
  );
}
