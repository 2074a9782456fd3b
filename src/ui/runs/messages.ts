import * as vscode from 'vscode';
import { MAX_LABEL_LENGTH, type RunDetail, type RunSummary } from '../../core/api/types.ts';
import { instantOf } from '../../core/base/instant.ts';
import { formatAgo, formatDuration, formatPrice, formatTime } from '../shared/format.ts';
import { sandboxNote } from '../shared/sandboxMessages.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';

/** Everything that a row of the Runs view shows of a run, as it is known. */
export interface RunView {
  run: RunSummary;
  phase: 'waiting' | 'active' | 'finished';
  modelName: string;
  label?: string | undefined;
  /** Whether its adapter came home. */
  isDownloaded?: boolean;
  /** One that has not ended; `fraction` from 0 to 1 where it is known. */
  download?:
    { state: 'waiting' | 'downloading' | 'verifying' | 'interrupted'; fraction?: number } | undefined;
}

/** `Queued`, `Finished`, or the service's own word, which may be none: the complete list of states is not known. */
function statusText(run: RunSummary, phase: RunView['phase']): string {
  if (phase === 'waiting') return vscode.l10n.t('Queued');
  return phase === 'finished'
    ? vscode.l10n.t('Finished')
    : sanitizeServiceText(run.status) || unknownStatus();
}

function unknownStatus(): string {
  return vscode.l10n.t('Status unknown');
}

/** The grey text of a run's row. */
export function runDescription(view: RunView, nowMs: number): string {
  const { run, phase, modelName, label } = view;
  const parts = [statusText(run, phase)];
  if (label !== undefined) parts.push(modelName);
  const createdAtMs = instantOf(run.created_at);
  if (!Number.isNaN(createdAtMs)) parts.push(formatAgo(createdAtMs, nowMs));
  const adapter = downloadText(view) ?? expiryText(run, nowMs);
  if (adapter !== undefined) parts.push(adapter);
  return parts.join(' · ');
}

/** What this machine has of the adapter, or is getting. */
function downloadText({ download, isDownloaded }: RunView): string | undefined {
  const { l10n } = vscode;
  switch (download?.state) {
    case 'waiting':
      return l10n.t('download waits');
    case 'downloading':
      return download.fraction === undefined
        ? l10n.t('downloading')
        : l10n.t('downloading, {0} %', Math.floor(download.fraction * 100));
    case 'verifying':
      return l10n.t('download is checked');
    case 'interrupted':
      return l10n.t('download interrupted');
    case undefined:
      return isDownloaded === true ? l10n.t('downloaded') : undefined;
  }
}

/** What a screen reader says of a run's row. */
export function runAccessibleLabel(view: RunView, nowMs: number): string {
  const { l10n } = vscode;
  return l10n.t(
    'Run {0}, {1}',
    view.label ?? view.modelName,
    runDescription(view, nowMs).replaceAll(' · ', ', '),
  );
}

export function runTooltip({ run, phase, modelName, label }: RunView): string {
  const { l10n } = vscode;
  const status = statusText(run, phase);
  const lines = [
    ...(label === undefined ? [] : [l10n.t('Label: {0}', label)]),
    l10n.t('Model: {0}', modelName),
    status === unknownStatus() ? status : l10n.t('Status: {0}', status),
    ...(run.created_at === undefined ? [] : [l10n.t('Created: {0}', formatTime(run.created_at))]),
    ...(run.artifacts_available && run.artifacts_expires_at !== undefined
      ? [l10n.t('Adapter kept until: {0}', formatTime(run.artifacts_expires_at))]
      : []),
    l10n.t('Run: {0}', whole(run.run_id)),
  ];
  return lines.join('\n');
}

function expiryText(run: RunSummary, nowMs: number): string | undefined {
  if (!run.artifacts_available || run.artifacts_expires_at === undefined) return undefined;
  const leftMs = instantOf(run.artifacts_expires_at) - nowMs;
  if (Number.isNaN(leftMs)) return undefined;
  return leftMs > 0
    ? vscode.l10n.t('adapter for {0} more', formatDuration(leftMs))
    : vscode.l10n.t('adapter expired');
}

/** One fact of a run's details. */
export interface Fact {
  icon: string;
  name: string;
  value: string;
}

/**
 * The details of a run, for the rows below it.
 * @param currency of the account's balance: the detail names none, so that the price's is assumed
 */
export function runFacts(detail: RunDetail, modelName: string, currency: string | undefined): Fact[] {
  const { l10n } = vscode;
  const { price_cents, created_at, started_at, completed_at } = detail;
  const notTold = l10n.t('not told');
  const facts: Fact[] = [
    {
      icon: 'tag',
      name: l10n.t('Label'),
      value: detail.label === undefined || detail.label === '' ? l10n.t('none') : whole(detail.label),
    },
    {
      icon: 'symbol-misc',
      name: l10n.t('Model'),
      value:
        modelName === detail.model_id ? whole(modelName) : `${whole(modelName)} (${whole(detail.model_id)})`,
    },
    { icon: 'info', name: l10n.t('Status'), value: whole(detail.status) || l10n.t('unknown') },
    {
      icon: 'credit-card',
      name: l10n.t('Price'),
      value: price_cents === undefined ? notTold : formatPrice(price_cents, currency),
    },
    {
      icon: 'bookmark',
      name: l10n.t('Plan'),
      value: detail.plan === undefined ? notTold : whole(detail.plan),
    },
    {
      icon: 'calendar',
      name: l10n.t('Created'),
      value: created_at === undefined ? notTold : formatTime(created_at),
    },
  ];
  if (started_at !== undefined)
    facts.push({
      icon: 'play',
      name: l10n.t('Started'),
      value: withDuration(started_at, created_at, 'queue'),
    });
  if (completed_at !== undefined)
    facts.push({
      icon: 'pass',
      name: l10n.t('Completed'),
      value: withDuration(completed_at, started_at, 'training'),
    });
  facts.push({ icon: 'symbol-numeric', name: l10n.t('Run'), value: whole(detail.run_id) });
  return facts;
}

/** A text of the service that stands alone, so that it may be as long as a label can be. */
function whole(text: string): string {
  return sanitizeServiceText(text, MAX_LABEL_LENGTH);
}

function withDuration(end: string, start: string | undefined, what: 'queue' | 'training'): string {
  const ms = instantOf(end) - instantOf(start);
  if (Number.isNaN(ms) || ms < 0) return formatTime(end);
  return what === 'queue'
    ? vscode.l10n.t('after {1} in the queue, {0}', formatTime(end), formatDuration(ms))
    : vscode.l10n.t('after {1} of training, {0}', formatTime(end), formatDuration(ms));
}

/** Words of the trees that belong to no run. */
export const treeWords = {
  loadMore: () => vscode.l10n.t('Load more'),
  showRun: () => vscode.l10n.t('Show Run'),
  noneFits: () => vscode.l10n.t('No loaded run fits the filter: show all'),
  detailsFailed: (text: string) => vscode.l10n.t('Details could not be read. {0}', text),
  offlineSince: (moment: string) =>
    vscode.l10n.t('Offline since {0}: what is shown may be out of date.', moment),
  notRead: () => vscode.l10n.t('The runs could not be read again: what is shown may be out of date.'),
  noAccount: () => vscode.l10n.t('No account is active.'),
  incomplete: () =>
    vscode.l10n.t('The list may be incomplete: the service says there are more runs, and sends no new ones.'),
  locked: (isMissing: boolean) =>
    isMissing
      ? vscode.l10n.t('The runs are not shown: the API key of this account is not on this machine.')
      : vscode.l10n.t('The runs are not shown: the service does not accept the API key of this account.'),
  sandbox: () => sandboxNote(),
  skipped: (count: number) =>
    count === 1
      ? vscode.l10n.t('1 row of the service could not be read and is not shown.')
      : vscode.l10n.t('{0} rows of the service could not be read and are not shown.', count),
  activeRuns: (count: number) =>
    count === 1 ? vscode.l10n.t('1 active run') : vscode.l10n.t('{0} active runs', count),
  unavailable: () => vscode.l10n.t('not available'),
  modelTooltip: (name: string, id: string, available: boolean) =>
    available
      ? vscode.l10n.t('{0} ({1})', name, id)
      : vscode.l10n.t('{0} ({1}): not available at the moment', name, id),
  unknownProvider: () => vscode.l10n.t('Provider unknown'),
  provider: (name: string, count: number) =>
    count === 1 ? vscode.l10n.t('{0}, 1 model', name) : vscode.l10n.t('{0}, {1} models', name, count),
};
