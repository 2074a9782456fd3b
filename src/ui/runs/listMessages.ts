import * as vscode from 'vscode';
import { formatCount, formatDay } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { showInformation, showWarning } from '../shared/notifications.ts';

/** Where a run stands, as `runs/` tells it. */
export type Phase = 'waiting' | 'active' | 'finished';

/** Which runs are shown, as a person reads it. */
export interface FilterView {
  text: string;
  modelNames: readonly string[];
  phases: readonly Phase[];
}

/** What a phase is called: the service has many words for the middle one. */
export function phaseName(phase: Phase): string {
  const { l10n } = vscode;
  if (phase === 'waiting') return l10n.t('Queued');
  return phase === 'finished' ? l10n.t('Finished') : l10n.t('Active');
}

/** Among what a filter looks. */
export interface FilteredView {
  shown: number;
  loaded: number;
  /** Loaded runs in whose labels no word can be found: the service's list tells none. */
  unlabelled: number;
  /** Whether the service has runs that are not loaded. */
  hasMore: boolean;
}

/** The line above the rows while a filter hides some. */
export function filterMessage(
  filter: FilterView,
  { shown, loaded, unlabelled, hasMore }: FilteredView,
): string {
  const { l10n } = vscode;
  const parts = [
    ...(filter.text === '' ? [] : [`“${sanitizeServiceText(filter.text)}”`]),
    ...(filter.modelNames.length === 0
      ? []
      : [filter.modelNames.map((name) => sanitizeServiceText(name)).join(', ')]),
    ...(filter.phases.length === 0 ? [] : [filter.phases.map(phaseName).join(', ')]),
  ].join(' · ');
  const counts = l10n.t(
    'Filter {0}: {1} of {2} loaded runs.',
    parts,
    formatCount(shown),
    formatCount(loaded),
  );
  return [
    counts,
    ...(filter.text === '' || unlabelled === 0 ? [] : [unlabelledText(unlabelled)]),
    ...(hasMore ? [l10n.t('Older runs are not loaded.')] : []),
  ].join(' ');
}

/** "At the latest": those of the newest runs are read without being asked for. */
function unlabelledText(count: number): string {
  const { l10n } = vscode;
  return count === 1
    ? l10n.t('The label of 1 of them is not known; it is read at the latest when the run is opened.')
    : l10n.t(
        'The labels of {0} of them are not known; each is read at the latest when its run is opened.',
        formatCount(count),
      );
}

/** The row above the runs of a day. @param daysAgo 0 is today; a service's clock may be ahead */
export function dayName(startMs: number, daysAgo: number): string {
  if (daysAgo === 0) return vscode.l10n.t('Today');
  return daysAgo === 1 ? vscode.l10n.t('Yesterday') : formatDay(startMs);
}

/** How many runs there are, behind the name of their day or their model. */
export function runCount(count: number): string {
  return count === 1 ? vscode.l10n.t('1 run') : vscode.l10n.t('{0} runs', formatCount(count));
}

export const listWords = {
  loadingAll: () => vscode.l10n.t('Loading all runs'),
  loaded: (count: number) => vscode.l10n.t('{0} so far', formatCount(count)),
  unseen: (count: number) =>
    count === 1
      ? vscode.l10n.t('1 finished run that you have not seen')
      : vscode.l10n.t('{0} finished runs that you have not seen', formatCount(count)),
};

/** Tells that not all runs could be read, and how many stand there. @param again goes on */
export function tellNotAllLoaded(count: number, reason: string, again: () => void): void {
  const { l10n } = vscode;
  const text =
    count === 0
      ? l10n.t('The runs could not be read. {0}', reason)
      : l10n.t('{0} runs are loaded; the older ones could not be read. {1}', formatCount(count), reason);
  offerMore(text, again);
}

/** Tells that the service says there are more runs, and sends none that is new. @param again tries it once more */
export function tellMayBeIncomplete(count: number, again: () => void): void {
  offerMore(
    vscode.l10n.t(
      '{0} runs are loaded, but the list may be incomplete: the service says there are more, and sends no new ones.',
      formatCount(count),
    ),
    again,
  );
}

function offerMore(text: string, again: () => void): void {
  const more = vscode.l10n.t('Load More');
  void showWarning(text, more).then((choice) => {
    if (choice === more) again();
  });
}

/** Tells that there is nothing to filter. */
export function tellNoRunsLoaded(): void {
  void showInformation(vscode.l10n.t('No runs are loaded yet.'));
}
