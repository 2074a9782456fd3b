import { commands, l10n, window } from 'vscode';
import type { RunDetail } from '../../core/api/types.ts';
import { instantOf } from '../../core/base/instant.ts';
import type { Phase } from '../../core/runs/phase.ts';
import { COMMANDS } from '../shared/ids.ts';
import {
  formatCount,
  formatDay,
  formatDuration,
  formatMoment,
  formatPrice,
  formatTime,
  sandboxNote,
  withSandboxNote,
} from '../shared/format.ts';
import { showInformation, showWarning } from '../shared/notifications.ts';
import { runDescription, runStatus, serviceText, type RunView } from '../shared/runMessages.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';

/** Words of the trees. */
export const treeWords = {
  loadMore: () => l10n.t('Load More'),
  showRun: () => l10n.t('Show Run'),
  noneMatch: () => l10n.t('No loaded runs match. Select to clear the filter.'),
  detailsFailed: (reason: string) => l10n.t('Couldn’t load the details. {0}', reason),
  offlineSince: (sinceMs: number) =>
    l10n.t('Offline since {0}. This may be out of date.', formatMoment(sinceMs, Date.now())),
  notRead: () => l10n.t('Couldn’t refresh the runs. This may be out of date.'),
  noAccount: () => l10n.t('No account is active.'),
  incomplete: () => l10n.t('The list may be incomplete: the service reports more runs but sends none.'),
  locked: (isMissing: boolean) =>
    isMissing
      ? l10n.t('Runs are hidden: the API key of this account is not on this machine.')
      : l10n.t('Runs are hidden: the service rejected the API key of this account.'),
  sandbox: () => sandboxNote(),
  skipped: (count: number) =>
    count === 1
      ? l10n.t('1 unreadable entry from the service is hidden.')
      : l10n.t('{0} unreadable entries from the service are hidden.', formatCount(count)),
  activeRuns: (count: number) =>
    count === 1 ? l10n.t('1 active run') : l10n.t('{0} active runs', formatCount(count)),
  unseen: (count: number) =>
    count === 1 ? l10n.t('1 new completed run') : l10n.t('{0} new completed runs', formatCount(count)),
  unavailable: () => l10n.t('not available'),
  modelTooltip: (name: string, id: string, isAvailable: boolean) =>
    isAvailable ? l10n.t('{0} ({1})', name, id) : l10n.t('{0} ({1}), not available at the moment', name, id),
  unknownProvider: () => l10n.t('Provider unknown'),
  provider: (name: string, count: number) =>
    count === 1 ? l10n.t('{0}, 1 model', name) : l10n.t('{0}, {1} models', name, count),
};

/** What a screen reader says of a run's row. */
export function runAccessibleLabel(view: RunView, nowMs: number): string {
  const description = runDescription(view, nowMs).replaceAll(' · ', ', ');
  return l10n.t('Run {0}, {1}', view.label ?? view.modelName, description);
}

export function runTooltip({ run, phase, modelName, label }: RunView): string {
  const isExpiring = run.artifacts_available && run.artifacts_expires_at !== undefined;
  return [
    ...(label === undefined ? [] : [l10n.t('Label: {0}', label)]),
    l10n.t('Model: {0}', modelName),
    l10n.t('Status: {0}', runStatus(run.status, phase)),
    ...(run.created_at === undefined ? [] : [l10n.t('Created: {0}', formatTime(run.created_at))]),
    ...(isExpiring ? [l10n.t('Adapter expires: {0}', formatTime(run.artifacts_expires_at ?? ''))] : []),
    l10n.t('Run ID: {0}', serviceText(run.run_id)),
  ].join('\n');
}

/** One of the details of a run. */
export interface Fact {
  icon: string;
  name: string;
  value: string;
}

/** The rows below a run. @param currency of the account's balance, which is assumed for the price */
export function runFacts(detail: RunDetail, modelName: string, currency: string | undefined): Fact[] {
  const { model_id, price_cents, plan, created_at, started_at, completed_at } = detail;
  const missing = l10n.t('not provided');
  const model = modelName === model_id ? '' : ` (${serviceText(model_id)})`;
  const after = (ms: number, of: (duration: string) => string) =>
    ms >= 0 ? `, ${of(formatDuration(ms))}` : '';
  const inQueue = after(instantOf(started_at) - instantOf(created_at), (of) =>
    l10n.t('after {0} in the queue', of),
  );
  const ofTraining = after(instantOf(completed_at) - instantOf(started_at), (of) =>
    l10n.t('after {0} of training', of),
  );
  return [
    { icon: 'tag', name: l10n.t('Label'), value: serviceText(detail.label ?? '') || l10n.t('none') },
    { icon: 'symbol-misc', name: l10n.t('Model'), value: `${serviceText(modelName)}${model}` },
    { icon: 'info', name: l10n.t('Status'), value: serviceText(detail.status) || l10n.t('unknown') },
    {
      icon: 'credit-card',
      name: l10n.t('Price'),
      value: price_cents === undefined ? missing : formatPrice(price_cents, currency),
    },
    { icon: 'bookmark', name: l10n.t('Plan'), value: plan === undefined ? missing : serviceText(plan) },
    {
      icon: 'calendar',
      name: l10n.t('Created'),
      value: created_at === undefined ? missing : formatTime(created_at),
    },
    ...(started_at === undefined
      ? []
      : [{ icon: 'play', name: l10n.t('Started'), value: formatTime(started_at) + inQueue }]),
    ...(completed_at === undefined
      ? []
      : [{ icon: 'pass', name: l10n.t('Completed'), value: formatTime(completed_at) + ofTraining }]),
    { icon: 'symbol-numeric', name: l10n.t('Run ID'), value: serviceText(detail.run_id) },
  ];
}

/** The row above the runs of a day. @param daysAgo 0 is today; a service's clock may be ahead */
export function dayName(startMs: number, daysAgo: number): string {
  if (daysAgo === 0) return l10n.t('Today');
  return daysAgo === 1 ? l10n.t('Yesterday') : formatDay(startMs);
}

export function runCount(count: number): string {
  return count === 1 ? l10n.t('1 run') : l10n.t('{0} runs', formatCount(count));
}

export function phaseName(phase: Phase): string {
  if (phase === 'waiting') return l10n.t('Queued');
  return phase === 'finished' ? l10n.t('Completed') : l10n.t('Active');
}

export const filterWords = {
  title: () => l10n.t('Filter Runs'),
  placeholder: () => l10n.t('Search labels, models and IDs; check phases and models'),
  phase: () => l10n.t('Phase'),
  model: () => l10n.t('Model'),
};

/** What the filter does. */
export interface FilterView {
  text: string;
  modelNames: readonly string[];
  phases: readonly Phase[];
  shown: number;
  loaded: number;
  /** Loaded runs whose labels are unknown: the service's list has none. */
  unlabelled: number;
  /** Whether the service has runs that are not loaded. */
  hasMore: boolean;
}

/** The line above filtered runs. */
export function filterMessage(view: FilterView): string {
  const { text, modelNames, phases, shown, loaded, unlabelled, hasMore } = view;
  const filter = [
    ...(text === '' ? [] : [`“${sanitizeServiceText(text)}”`]),
    ...(modelNames.length === 0 ? [] : [modelNames.map((name) => sanitizeServiceText(name)).join(', ')]),
    ...(phases.length === 0 ? [] : [phases.map(phaseName).join(', ')]),
  ].join(' · ');
  return [
    l10n.t('Filter {0}: {1} of {2} loaded runs.', filter, formatCount(shown), formatCount(loaded)),
    ...(text === '' || unlabelled === 0
      ? []
      : [
          unlabelled === 1
            ? l10n.t('1 label is not loaded yet and was not searched.')
            : l10n.t('{0} labels are not loaded yet and were not searched.', formatCount(unlabelled)),
        ]),
    ...(hasMore ? [l10n.t('Older runs are not loaded.')] : []),
  ].join(' ');
}

export const loadAllWords = {
  title: () => l10n.t('Loading all runs'),
  soFar: (count: number) => l10n.t('{0} so far', formatCount(count)),
};

export function notifyNoRunsLoaded(): void {
  void showInformation(l10n.t('No runs are loaded yet.'));
}

export function notifyRunIdCopied(): void {
  void window.setStatusBarMessage(l10n.t('Run ID copied'), 3_000);
}

/** @param retry loads the rest */
export function notifyNotAllLoaded(count: number, reason: string, retry: () => void): void {
  const text =
    count === 0
      ? l10n.t('Couldn’t load the runs. {0}', reason)
      : l10n.t('Loaded {0}, but not the older ones. {1}', runCount(count), reason);
  offerMore(text, retry);
}

/** The service reports more runs, but sends no new ones. */
export function notifyMayBeIncomplete(count: number, retry: () => void): void {
  offerMore(l10n.t('Loaded {0}. The service reports more, but sends none.', runCount(count)), retry);
}

function offerMore(text: string, retry: () => void): void {
  const more = l10n.t('Load More');
  void showWarning(text, more).then((choice) => {
    if (choice === more) retry();
  });
}

/** How a notification names a run. */
export interface RunName {
  /** As the user gave it. */
  label: string | undefined;
  modelName: string;
}

function named({ label, modelName }: RunName): string {
  return label === undefined ? sanitizeServiceText(modelName) : `“${sanitizeServiceText(label)}”`;
}

/** @param actions of its buttons; without `download` there is nothing to offer */
export function notifyCompleted(
  run: RunName & { artifactsExpireAt: string | undefined },
  isSandbox: boolean,
  actions: { download: (() => void) | undefined; show: () => void },
): void {
  const download = l10n.t('Download');
  const show = l10n.t('Show Run');
  const text =
    actions.download === undefined || run.artifactsExpireAt === undefined
      ? l10n.t('{0} completed.', named(run))
      : l10n.t(
          '{0} completed. Its adapter expires on {1}.',
          named(run),
          sanitizeServiceText(formatTime(run.artifactsExpireAt)),
        );
  void showInformation(
    withSandboxNote(text, isSandbox),
    ...(actions.download === undefined ? [] : [download]),
    show,
  ).then((choice) => {
    if (choice === download) actions.download?.();
    if (choice === show) actions.show();
  });
}

/** A status that the contract does not name, in the service's own words. */
export function notifyStatus(run: RunName, status: string, isSandbox: boolean, onShow: () => void): void {
  const show = l10n.t('Show Run');
  const word = sanitizeServiceText(status) || l10n.t('unknown');
  const text = l10n.t('{0}: the service reports “{1}”.', named(run), word);
  void showInformation(withSandboxNote(text, isSandbox), show).then((choice) => {
    if (choice === show) onShow();
  });
}

/** Several runs at once. @param isAway whether it became known after an absence */
export function notifySeveral(
  { completed, changed }: { completed: number; changed: number },
  isAway: boolean,
  isSandbox: boolean,
  onShow: () => void,
): void {
  const show = l10n.t('Show Runs');
  const parts = [
    ...(completed === 0 ? [] : [l10n.t('{0} completed', runCount(completed))]),
    ...(changed === 0 ? [] : [l10n.t('{0} changed status', runCount(changed))]),
  ].join(', ');
  const text = isAway ? l10n.t('While you were away: {0}.', parts) : l10n.t('{0}.', parts);
  void showInformation(withSandboxNote(text, isSandbox), show).then((choice) => {
    if (choice === show) onShow();
  });
}

/** Nothing of the link is repeated: whoever made it, its words are not ours. */
export function notifyUnsupportedLink(): void {
  void showWarning(l10n.t('Unsupported link. Fine-Tuning links can only open a run.'));
}

/** @param canSwitch whether there is another account */
export function notifyNoSuchRun(accountName: string, runId: string, canSwitch: boolean): void {
  const switchAccount = l10n.t('Switch Account…');
  void showWarning(
    l10n.t('{0} has no such run: {1}', accountName, runId),
    ...(canSwitch ? [switchAccount] : []),
  ).then((choice) => {
    if (choice === switchAccount) void commands.executeCommand(COMMANDS.switchAccount);
  });
}

export function findingRun(): string {
  return l10n.t('Finding the run…');
}
