import { l10n } from 'vscode';
import type { Phase } from '../../core/runs/run.ts';
import type { RunFilter } from './runFilter.ts';
import type { Session } from '../../core/runs/session.ts';
import { keyProblem, offlineText } from '../shared/connectionText.ts';
import { compact, formatCount, sandboxNote } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';

export const PHASE_NAMES: Readonly<Record<Phase, string>> = {
  waiting: TERMS.queued,
  active: l10n.t('Active'),
  finished: TERMS.completed,
  ended: l10n.t('Failed or canceled'),
};

/** The line above the rows if some could not be read. */
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
    phases.map((phase) => PHASE_NAMES[phase]).join(', '),
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
