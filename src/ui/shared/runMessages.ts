import { l10n } from 'vscode';
import { MAX_LABEL_LENGTH, type RunSummary } from '../../core/api/types.ts';
import { instantOf } from '../../core/base/instant.ts';
import type { DownloadState } from '../../core/downloads/types.ts';
import type { Phase } from '../../core/runs/phase.ts';
import { formatAgo, formatDuration, formatMoment } from './format.ts';
import { sanitizeServiceText } from './serviceText.ts';

/** What a row shows of a run, as far as it is known. */
export interface RunView {
  run: RunSummary;
  phase: Phase;
  modelName: string;
  label?: string | undefined;
  isDownloaded?: boolean;
  /** One that has not ended; `fraction` from 0 to 1 where it is known. */
  download?: { state: DownloadState; fraction?: number } | undefined;
}

/** A text of the service, or of another client, that may be as long as a label. */
export function serviceText(text: string): string {
  return sanitizeServiceText(text, MAX_LABEL_LENGTH);
}

/** `Queued`, `Completed` or the service's own word: it has many for what is between, and after a failure. */
export function runStatus(status: string, phase: Phase): string {
  if (phase === 'waiting') return l10n.t('Queued');
  return phase === 'finished' ? l10n.t('Completed') : serviceText(status) || l10n.t('Status unknown');
}

/** The gray text of a run's row. */
export function runDescription(view: RunView, nowMs: number): string {
  const { run, phase, modelName, label } = view;
  const parts = [runStatus(run.status, phase)];
  if (label !== undefined) parts.push(modelName);
  const createdAtMs = instantOf(run.created_at);
  if (!Number.isNaN(createdAtMs)) parts.push(formatAgo(createdAtMs, nowMs));
  const adapter = downloadText(view) ?? expiryText(run, nowMs);
  if (adapter !== undefined) parts.push(adapter);
  return parts.join(' · ');
}

/** What this machine has of the adapter, or is downloading. */
function downloadText({ download, isDownloaded }: RunView): string | undefined {
  switch (download?.state) {
    case 'waiting':
      return l10n.t('waiting to download');
    case 'downloading':
      return download.fraction === undefined
        ? l10n.t('downloading')
        : l10n.t('downloading {0}%', Math.floor(download.fraction * 100));
    case 'verifying':
      return l10n.t('verifying');
    case 'interrupted':
      return l10n.t('download interrupted');
    case undefined:
      return isDownloaded === true ? l10n.t('downloaded') : undefined;
  }
}

function expiryText(run: RunSummary, nowMs: number): string | undefined {
  if (!run.artifacts_available) return undefined;
  const leftMs = instantOf(run.artifacts_expires_at) - nowMs;
  if (Number.isNaN(leftMs)) return undefined;
  return leftMs > 0 ? l10n.t('{0} left', formatDuration(leftMs)) : l10n.t('expired');
}

/** On a page of an account whose service can't be reached. */
export function offlineText(sinceMs: number | undefined): string {
  return sinceMs === undefined
    ? l10n.t('Offline. This may be out of date.')
    : l10n.t('Offline since {0}. This may be out of date.', formatMoment(sinceMs, Date.now()));
}

export const chooseRunWords = {
  title: () => l10n.t('Choose a Run'),
  which: () => l10n.t('Which run?'),
  none: () => l10n.t('No matching runs yet.'),
};
