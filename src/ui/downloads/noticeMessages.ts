import * as vscode from 'vscode';
import { downloadShare, timeLeft, type DownloadView } from './messages.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { withSandboxNote } from '../shared/sandboxMessages.ts';
import { showInformation, showWarning } from '../shared/notifications.ts';
import { formatCount } from '../shared/format.ts';

/** An adapter that will be gone. */
export interface Expiring {
  /** What its run is called. */
  name: string;
  /** By the service's clock. */
  leftMs: number;
}

/** Reminds of adapters that are not on this machine and will be gone, the one that goes first before the others. */
export function tellExpiring(
  expiring: readonly Expiring[],
  isSandbox: boolean,
  actions: { download: () => void; show: () => void },
): void {
  const [first] = expiring;
  if (first === undefined) return;
  const { l10n } = vscode;
  const left = timeLeft(first.leftMs);
  const text =
    expiring.length === 1
      ? l10n.t('The adapter for {0} expires in {1} and isn’t downloaded.', first.name, left)
      : l10n.t(
          'The adapters for {0} runs expire soon and aren’t downloaded. The first one is {1}, in {2}.',
          formatCount(expiring.length),
          first.name,
          left,
        );
  const download = expiring.length === 1 ? l10n.t('Download') : l10n.t('Download…');
  const show = l10n.t('Show');
  void showWarning(withSandboxNote(text, isSandbox), download, show).then((choice) => {
    if (choice === download) actions.download();
    if (choice === show) actions.show();
  });
}

/** Offers what an earlier window, or one that has died, left in the middle. */
export function tellInterruptedDownloads(
  interrupted: readonly { name: string; view: DownloadView }[],
  isSandbox: boolean,
  actions: { resume: () => void; discard: () => void },
): void {
  const [first] = interrupted;
  if (first === undefined) return;
  const { l10n } = vscode;
  const text =
    interrupted.length === 1
      ? l10n.t('The download of {0} was interrupted at {1}.', first.name, downloadShare(first.view))
      : l10n.t('{0} downloads were interrupted.', formatCount(interrupted.length));
  const resume = interrupted.length === 1 ? l10n.t('Resume') : l10n.t('Resume All');
  const discard = interrupted.length === 1 ? l10n.t('Discard') : l10n.t('Discard All');
  void showInformation(withSandboxNote(text, isSandbox), resume, discard).then((choice) => {
    if (choice === resume) actions.resume();
    if (choice === discard) actions.discard();
  });
}

/** Tells that an adapter could not be downloaded by itself, and why. */
export function tellAutoDownloadFailed(name: string, error: unknown, onDownload: () => void): void {
  const { l10n } = vscode;
  const download = l10n.t('Download…');
  const text = l10n.t('Automatic download for {0} failed. {1}', name, asText(explain(error)));
  void showWarning(text, download).then((choice) => {
    if (choice === download) onDownload();
  });
}
