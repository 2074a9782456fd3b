import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { sanitizeText } from './serviceText.ts';

// All notifications, message boxes, and progress go through this module; a lint rule forbids direct calls. It
// sanitizes file names and service texts, since links in them could run commands or hide something.

/** As in VS Code's overloads, which don't accept a union. */
type Rest = [...buttons: string[]] | [options: vscode.MessageOptions, ...buttons: string[]];

function sanitizeRest(rest: Rest): string[] {
  const sanitizePart = (part: string | vscode.MessageOptions) =>
    typeof part === 'object' && part.detail !== undefined
      ? { ...part, detail: sanitizeText(part.detail) }
      : part;
  return rest.map(sanitizePart) as string[];
}

/** Shows an information message; resolves to the pressed button. */
export function showInformation(sentence: string, ...rest: Rest): Thenable<string | undefined> {
  return vscode.window.showInformationMessage(sanitizeText(sentence), ...sanitizeRest(rest));
}

/** Shows a warning; resolves to the pressed button. */
export function showWarning(sentence: string, ...rest: Rest): Thenable<string | undefined> {
  return vscode.window.showWarningMessage(sanitizeText(sentence), ...sanitizeRest(rest));
}

/** Shows an error; resolves to the pressed button. */
export function showError(sentence: string, ...rest: Rest): Thenable<string | undefined> {
  return vscode.window.showErrorMessage(sanitizeText(sentence), ...sanitizeRest(rest));
}

/** Shows a text with buttons, and runs the pressed one's action. Not awaited: hidden toasts stay pending. */
export function notify(
  show: typeof showInformation,
  text: string,
  buttons: Readonly<Record<string, () => unknown>>,
): void {
  void show(text, ...Object.keys(buttons)).then((choice) => {
    if (choice !== undefined) buttons[choice]?.();
  });
}

/** A fault of the sandbox: the sentence that names it as the reason, and a button for another one. */
export type SandboxFault = Readonly<{ sentence: string; button: Readonly<Record<string, () => unknown>> }>;

/**
 * Asks in a modal dialog. Enter presses its first button; other extensions cannot press any.
 * @param buttons the result of each button
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

/** Shows that work is in progress, with a sanitized title. Only `withCancellableProgress` shows how far it is. */
export function withProgress<T>(options: vscode.ProgressOptions, work: () => Thenable<T>): Thenable<T> {
  const title = options.title === undefined ? {} : { title: sanitizeText(options.title) };
  return vscode.window.withProgress({ ...options, ...title }, () => work());
}

/** The minimum time between two progress reports. */
const LEAST_MS = 100;

/** Shows work in a notification with a Cancel button, which aborts the signal. It reports texts, and fractions from 0 to 1. */
export function withCancellableProgress<T>(
  title: string,
  work: (signal: AbortSignal, report: (message: string, fraction?: number) => void) => Promise<T>,
): Thenable<T> {
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: sanitizeText(title), cancellable: true },
    async (progress, token) => {
      const stop = new AbortController();
      const subscription = token.onCancellationRequested(() => stop.abort());
      let shown = 0;
      let reportedAtMs = 0;
      let late: NodeJS.Timeout | undefined;
      const show = (message: string, fraction?: number) => {
        reportedAtMs = Date.now();
        const increment = fraction === undefined ? 0 : Math.max(0, fraction * 100 - shown);
        shown += increment;
        progress.report({ message: sanitizeText(message), increment });
      };
      try {
        return await work(stop.signal, (message, fraction) => {
          // Work reports every chunk. Show at most ten reports per second, but always the last one.
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

/** Shows work in the progress bar of the Runs or Models view. */
export function withViewProgress<T>(viewId: string, work: () => Promise<T>): Thenable<T> {
  return withProgress({ location: { viewId } }, work);
}

/** Work shorter than this ends before anyone could read about it. */
const QUIET_MS = 1_000;

/**
 * Like `withCancellableProgress`, but shows nothing for short work, since it would only flicker. Also, VS
 * Code shows no toast for the fourth notification within 800 ms.
 */
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
