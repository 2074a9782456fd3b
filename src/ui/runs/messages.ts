import { l10n } from 'vscode';
import type { Phase } from '../../core/runs/phase.ts';
import type { RunFilter } from '../../core/runs/runFilter.ts';
import type { Session } from '../../core/runs/session.ts';
import { compact, formatCount, formatDay, formatRuns, sandboxNote } from '../shared/format.ts';
import { keyProblem, offlineText, runWords, type RunView } from '../shared/runMessages.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/termMessages.ts';

// The texts of the views' rows and of the messages above them. All other texts are loaded at their first use.

export const treeWords = {
  loadMore: () => TERMS.loadMore,
  showRun: () => TERMS.showRun,
  noneMatch: () => l10n.t('No loaded runs match. Select to clear the filter.'),
  noAccount: () => TERMS.noAccount,
  activeRuns: (count: number) => l10n.t('{0} active', formatRuns(count)),
  unseen: (count: number) => l10n.t('{0} ended', formatRuns(count)),
  unavailable: () => l10n.t('not available'),
  modelTooltip: (name: string, id: string, isAvailable: boolean) =>
    compact(l10n.t('{0} ({1})', name, id), !isAvailable && treeWords.unavailable()).join(', '),
  unknownProvider: () => l10n.t('Provider unknown'),
  provider: (name: string, count: number) =>
    count === 1 ? l10n.t('{0}, 1 model', name) : l10n.t('{0}, {1} models', name, count),
};

/** The text of a run's row for screen readers. @param time given if the row would read like another one */
export function runAccessibleLabel(view: RunView, nowMs: number, time?: string): string {
  const words = compact(...runWords(view, nowMs), time);
  return l10n.t('Run {0}, {1}', view.label ?? view.modelName, words.join(', '));
}

/** The name of a day's row. @param daysAgo 0 is today; negative if the service's clock is ahead */
export function dayName(startMs: number, daysAgo: number): string {
  if (daysAgo === 0) return l10n.t('Today');
  return daysAgo === 1 ? l10n.t('Yesterday') : formatDay(startMs);
}

const PHASES: Readonly<Record<Phase, () => string>> = {
  waiting: () => TERMS.queued,
  active: () => l10n.t('Active'),
  finished: () => TERMS.completed,
  ended: () => l10n.t('Failed or canceled'),
};

export function phaseName(phase: Phase): string {
  return PHASES[phase]();
}

/** The line above rows of which some could not be read. */
export function skippedText(count: number): string {
  return l10n.t('Unreadable entries hidden: {0}.', formatCount(count));
}

/** The lines above the rows. @param filter the line about the filter */
export function runsMessage(
  { runs, account, state, isLocked, offlineSince }: Session,
  filter: string | undefined,
  hasSubmissions: boolean,
): string {
  // Runs read with a rejected API key are hidden; in an empty view, the welcome text explains why.
  if (isLocked && !hasSubmissions) return '';
  if (isLocked) return keyProblem(state) ?? '';
  const hasRows = (runs.rows ?? []).length > 0;
  return compact(
    state === 'offline' && hasRows && offlineSince !== undefined && offlineText(offlineSince),
    state === 'ready' &&
      hasRows &&
      runs.failed &&
      l10n.t('Couldn’t refresh the runs. This may be out of date.'),
    hasRows && filter,
    account.kind === 'sandbox' && hasRows && sandboxNote(),
    runs.isIncomplete && l10n.t('The service reports more runs, but sends none.'),
    runs.skipped > 0 && skippedText(runs.skipped),
  ).join('\n');
}

/** The line above filtered runs. */
export function filterMessage(
  { runs, models }: Session,
  { text, modelIds, phases }: RunFilter,
  { rows, loaded }: { rows: readonly unknown[]; loaded: number },
): string {
  const filter = compact(
    text && `“${sanitizeServiceText(text)}”`,
    modelIds.map((id) => sanitizeServiceText(models.nameOf(id))).join(', '),
    phases.map(phaseName).join(', '),
  ).join(' · ');
  // A label is unknown until the details are read: the list has none.
  const isUnknown = (runId: string) => runs.label(runId) === undefined && runs.detail(runId) === undefined;
  const unlabeled = text === '' ? 0 : (runs.rows ?? []).filter(({ run_id }) => isUnknown(run_id)).length;
  return compact(
    l10n.t('Filter {0}: {1} of {2} loaded runs.', filter, formatCount(rows.length), formatCount(loaded)),
    unlabeled > 0 && l10n.t('Labels not searched: {0}.', formatCount(unlabeled)),
    runs.hasMore && l10n.t('Older runs are not loaded.'),
  ).join(' ');
}
