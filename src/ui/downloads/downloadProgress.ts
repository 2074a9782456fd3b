import { l10n } from 'vscode';
import type { ActiveDownload } from '../../core/downloads/downloads.ts';
import { formatBytes } from '../shared/format.ts';

/** The progress of a download. */
export type DownloadView = Pick<ActiveDownload, 'state' | 'receivedBytes' | 'totalBytes'>;

/** Returns a fraction from 0 to 1; undefined if the length is unknown. */
export function downloadFraction({ receivedBytes, totalBytes }: DownloadView): number | undefined {
  return totalBytes === undefined ? undefined : totalBytes === 0 ? 1 : receivedBytes / totalBytes;
}

/** `40%`, or the received bytes if the length is unknown. */
export function downloadShare(view: DownloadView): string {
  const fraction = downloadFraction(view);
  return fraction === undefined ? formatBytes(view.receivedBytes) : `${Math.floor(fraction * 100)}%`;
}

/** The state of a download, or how much was received. */
export function downloadText(view: DownloadView): string {
  const { state, receivedBytes, totalBytes } = view;
  if (state === 'waiting') return l10n.t('waiting for the network');
  if (state === 'verifying') return l10n.t('verifying');
  if (state === 'interrupted') return l10n.t('interrupted at {0}', downloadShare(view));
  const received = formatBytes(receivedBytes);
  return totalBytes === undefined ? received : l10n.t('{0} of {1}', received, formatBytes(totalBytes));
}

/** The progress of one of several downloads. @param done how many are complete */
export function downloadProgressText(view: DownloadView, done: number, count: number): string {
  const text = downloadText(view);
  return count > 1 ? l10n.t('{0} of {1}: {2}', done + 1, count, text) : text;
}
