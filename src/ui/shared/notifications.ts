import { setTimeout as delay } from 'node:timers/promises';
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

/** Shows a text with buttons, and does what is pressed. Not awaited: a toast that hides stays a pending promise. */
export function notify(
  show: typeof showInformation,
  text: string,
  buttons: Readonly<Record<string, () => unknown>>,
): void {
  void show(text, ...Object.keys(buttons)).then((choice) => {
    if (choice !== undefined) buttons[choice]?.();
  });
}

/**
 * Asks in a modal dialog. Its first button takes Enter; no other extension can press one.
 * @param buttons what each stands for
 */
export async function askModal<const T>(
  show: typeof showInformation,
  question: string,
  detail: string,
  buttons: Readonly<Record<string, T>>,
): Promise<T | undefined> {
  const choice = await show(question, { modal: true, detail }, ...Object.keys(buttons));
  return choice === undefined ? undefined : buttons[choice];
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

/** Reports progress: a text, and a fraction from 0 to 1 where it is known. */
export type Report = (message: string, fraction?: number) => void;

/** Between two reports of progress. */
const LEAST_MS = 100;

/** Shows work with Cancel in a notification; the signal is aborted when the user cancels. */
export function withCancellableProgress<T>(
  title: string,
  work: (signal: AbortSignal, report: Report) => Promise<T>,
): Thenable<T> {
  return withProgress(
    { location: vscode.ProgressLocation.Notification, title, cancellable: true },
    async (progress, token) => {
      const stop = new AbortController();
      const subscription = token.onCancellationRequested(() => stop.abort());
      let shown = 0;
      let reportedAtMs = 0;
      let late: NodeJS.Timeout | undefined;
      const show: Report = (message, fraction) => {
        reportedAtMs = Date.now();
        const increment = fraction === undefined ? 0 : Math.max(0, fraction * 100 - shown);
        shown += increment;
        progress.report({ message, increment });
      };
      try {
        return await work(stop.signal, (message, fraction) => {
          // Every chunk reports: ten a second are enough, and always the last one.
          const waitMs = fraction === undefined || fraction >= 1 ? 0 : reportedAtMs + LEAST_MS - Date.now();
          clearTimeout(late);
          if (waitMs <= 0) show(message, fraction);
          else late = setTimeout(() => show(message, fraction), waitMs);
        });
      } finally {
        clearTimeout(late);
        subscription.dispose();
      }
    },
  );
}

/** Shows work in the Runs and Models views' own progress bars. */
export function withViewProgress<T>(viewId: string, work: () => Promise<T>): Thenable<T> {
  return withProgress({ location: { viewId } }, work);
}

/** What takes less is done before anybody would have read of it. */
const QUIET_MS = 1_000;

/** Like `withCancellableProgress`, but work that is done at once shows nothing. */
export async function withLateProgress<T>(
  title: string,
  work: (signal: AbortSignal, report: (fraction: number) => void) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  let fraction: number | undefined;
  let show: ((fraction: number) => void) | undefined;
  const done = work(stop.signal, (next) => {
    fraction = next;
    show?.(next);
  });
  const isDone = await Promise.race([done.then(() => true), delay(QUIET_MS, false, { ref: false })]);
  if (isDone) return done;
  return withCancellableProgress(title, (signal, report) => {
    signal.addEventListener('abort', () => stop.abort());
    show = (next) => report(`${Math.floor(next * 100)}%`, next);
    if (fraction !== undefined) show(fraction);
    return done;
  });
}
