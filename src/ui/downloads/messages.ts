import * as vscode from 'vscode';
import { formatBytes, formatDuration } from '../shared/format.ts';
import { strangerText } from '../shared/strangerText.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What is known of a download that has not ended. */
export interface DownloadView {
  state: 'waiting' | 'downloading' | 'verifying' | 'interrupted';
  receivedBytes: number;
  totalBytes?: number;
}

export function downloadTitle(name: string): string {
  return vscode.l10n.t('Downloading the adapter of {0}', name);
}

/** What a run is called in sentences, its label or its id. @param label as the person gave it, empty where there is none */
export function runName(label: string, runId: string): string {
  return strangerText(label === '' ? vscode.l10n.t('run {0}', runId.slice(0, 8)) : label);
}

/** The same where it stands in a notice: a label in quotes, so that it is no part of the sentence. */
export function quotedRunName(label: string, runId: string): string {
  const name = runName(label, runId);
  return label === '' ? name : `“${name}”`;
}

/** How far it is, from 0 to 1; undefined where the storage does not tell the length. */
export function downloadFraction({ receivedBytes, totalBytes }: DownloadView): number | undefined {
  return totalBytes === undefined ? undefined : totalBytes === 0 ? 1 : receivedBytes / totalBytes;
}

/** `40 %`, or what came so far. */
export function downloadShare(view: DownloadView): string {
  const fraction = downloadFraction(view);
  return fraction === undefined ? formatBytes(view.receivedBytes) : `${Math.floor(fraction * 100)} %`;
}

/** What happens with a download now. */
export function downloadText(view: DownloadView): string {
  const { l10n } = vscode;
  const { receivedBytes, totalBytes } = view;
  switch (view.state) {
    case 'waiting':
      return receivedBytes === 0
        ? l10n.t('waiting for the network')
        : l10n.t('waiting for the network at {0}', downloadShare(view));
    case 'downloading':
      return totalBytes === undefined
        ? formatBytes(receivedBytes)
        : l10n.t('{0} of {1}', formatBytes(receivedBytes), formatBytes(totalBytes));
    case 'verifying':
      return l10n.t('verifying');
    case 'interrupted':
      return l10n.t('interrupted at {0}', downloadShare(view));
  }
}

/** How long something can be had yet, never more than it is. */
export function timeLeft(ms: number): string {
  if (ms >= 2 * DAY_MS) return vscode.l10n.t('{0} d', Math.floor(ms / DAY_MS));
  const unitMs = ms < 60_000 ? 1_000 : 60_000;
  return formatDuration(Math.floor(ms / unitMs) * unitMs);
}
