import { l10n } from 'vscode';
import type { Session } from '../../core/runs/session.ts';
import { keyProblem, offlineText } from '../shared/connectionText.ts';
import { compact, formatCount, sandboxNote } from '../shared/format.ts';

/** The line above the rows if some could not be read. */
export function skippedText(count: number): string {
  return l10n.t('Unreadable entries hidden: {0}.', formatCount(count));
}

/** The lines above the rows. */
export function runsMessage(
  { runs, account, state, isLocked, offlineSince }: Session,
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
      runs.hasFailed &&
      l10n.t('Couldn’t refresh the runs. This list may be out of date.'),
    account.kind === 'sandbox' && hasRows && sandboxNote(),
    runs.isIncomplete && l10n.t('The service reports more runs but didn’t send them.'),
    runs.skipped > 0 && skippedText(runs.skipped),
  ).join('\n');
}
