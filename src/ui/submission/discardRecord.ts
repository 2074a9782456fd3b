import path from 'node:path';
import { l10n, Uri } from 'vscode';
import { onDisk } from '../../core/base/diskError.ts';
import type { Journal } from '../../core/submission/journal.ts';
import type { UnreadRecord } from '../../core/submission/unreadRecord.ts';
import type { CommandResult } from '../shared/commands.ts';
import { askModal, showInformation, showWarning } from '../shared/notifications.ts';
import { revealOf } from '../shared/open.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';
import { damagedName } from './submissionState.ts';

/** Discards a record that can't be read, if the user confirms it. @throws DiskError */
export async function discardRecord(
  { journal }: { journal: Pick<Journal, 'endDamaged'> },
  record: UnreadRecord,
): Promise<CommandResult> {
  if (!(await confirmDiscardRecord(record))) return { outcome: 'cancelled' };
  if (await onDisk(journal.endDamaged(record), 'submissions')) return { outcome: 'done' };
  void showInformation(l10n.t('The record of {0} has changed and was not discarded.', damagedName(record)));
  return { outcome: 'failed' };
}

/**
 * Asks whether to end a record that can't be read, which is all that can be done with it. The first button opens its folder.
 * @returns whether to discard it
 */
async function confirmDiscardRecord(record: UnreadRecord): Promise<boolean> {
  const { file, hint } = record;
  const name = path.basename(file);
  const look =
    hint?.marker === undefined
      ? l10n.t('Compare your balance and runs first.')
      : l10n.t('Look for a run with {0} in its label, and compare your balance first.', hint.marker);
  const charge =
    hint === undefined
      ? l10n.t('You may have been charged if it is an open submission.')
      : l10n.t('You may have been charged.');
  const { title, show } = revealOf(Uri.file(file));
  const choice = await askModal(
    showWarning,
    l10n.t('Discard the damaged record of {0}?', sanitizeServiceText(damagedName(record))),
    [`${charge} ${look}`, l10n.t('The file {0} can’t be read. It is renamed, not deleted.', name)].join('\n'),
    { [title]: 'show', [TERMS.discard]: 'discard' },
  );
  if (choice === 'show') show();
  return choice === 'discard';
}
