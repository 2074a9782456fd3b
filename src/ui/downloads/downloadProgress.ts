import * as vscode from 'vscode';
import { withCancellableProgress } from '../shared/progress.ts';
import { downloadFraction, downloadText, downloadTitle, type DownloadView } from './messages.ts';
import { withProgress } from '../shared/notifications.ts';

/** Tells how far the one is that is downloaded now. @param done how many are whole already */
type Tell = (view: DownloadView, done: number) => void;

/** Shows downloads, one after the other, in one notification with Cancel. */
export function withDownloadProgress<T>(
  name: string,
  count: number,
  work: (signal: AbortSignal, tell: Tell) => Promise<T>,
): Thenable<T> {
  return withCancellableProgress(downloadTitle(name), (signal, report) => {
    let state: DownloadView['state'] | undefined;
    return work(signal, (view, done) => {
      const fraction = downloadFraction(view);
      const text = downloadText(view);
      const message = count > 1 ? vscode.l10n.t('{0} of {1}: {2}', done + 1, count, text) : text;
      const whole = fraction === undefined ? undefined : (done + fraction) / count;
      // A change of state is told at once, though of the others some are left out.
      if (view.state !== state) report(message);
      state = view.state;
      report(message, whole);
    });
  });
}

/** Shows in the status bar that the service is asked what a run offers. */
export function whileListing<T>(work: () => Promise<T>): Thenable<T> {
  return withProgress(
    {
      location: vscode.ProgressLocation.Window,
      title: vscode.l10n.t('Asking the service for the adapter'),
    },
    work,
  );
}
