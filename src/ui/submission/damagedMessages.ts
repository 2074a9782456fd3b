import path from 'node:path';
import { l10n, Uri } from 'vscode';
import type { UnreadRecord } from '../../core/submission/unreadRecord.ts';
import { compact, formatCount } from '../shared/format.ts';
import { askModal, showWarning } from '../shared/notifications.ts';
import { revealOf } from '../shared/open.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { factLine, TERMS } from '../shared/termMessages.ts';

/** How many files a question names; the others are counted. */
const MAX_NAMED = 5;

/** The dataset's name if it is known, else the name of the record's file. */
export function damagedName({ file, hint }: UnreadRecord): string {
  return hint?.dataset.filename ?? path.basename(file);
}

/** The gray text of its row. @param accountName given unless the account is active or unknown */
export function damagedDescription({ hint }: UnreadRecord, accountName?: string): string {
  return compact(hint === undefined ? l10n.t('Record damaged') : openState(), accountName).join(' · ');
}

function openState(): string {
  return [TERMS.mayBeCharged, l10n.t('record damaged')].join(' · ');
}

export function damagedTooltip(record: UnreadRecord, accountName?: string): string {
  const { file, hint } = record;
  return compact(
    hint?.dataset.filename,
    damagedDescription(record),
    accountName && factLine(TERMS.account, accountName),
    hint?.marker && factLine(l10n.t('Marker'), hint.marker),
    factLine(l10n.t('File'), path.basename(file)),
  ).join('\n');
}

export const damagedMessages = {
  /** An open submission of the same dataset whose record can't be read. */
  open: () => ({
    money: l10n.t('You may have been charged: its record can’t be read.'),
    state: openState(),
  }),
  changed: (name: string) => l10n.t('The record of {0} has changed and was not discarded.', name),
};

/**
 * Asks whether to end a record that can't be read, which is all that can be done with it. The first button opens its folder.
 * @returns whether to discard it
 */
export async function confirmDiscardRecord(record: UnreadRecord): Promise<boolean> {
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

/** Asks whether to submit although records can't be read, which are named. The first button sends nothing. */
export async function confirmUnread(
  records: readonly [UnreadRecord, ...UnreadRecord[]],
): Promise<'continue' | 'back' | undefined> {
  const [{ file }] = records;
  const names = records.map((record) => sanitizeServiceText(path.basename(record.file)));
  const more = names.length - MAX_NAMED;
  const { title, show } = revealOf(Uri.file(file));
  const choice = await askModal(
    showWarning,
    records.length === 1
      ? l10n.t('A submission record can’t be read.')
      : l10n.t('{0} submission records can’t be read.', formatCount(records.length)),
    compact(
      ...names.slice(0, MAX_NAMED),
      more > 0 && l10n.t('{0} more', formatCount(more)),
      records.length === 1
        ? l10n.t('If it is an open submission of this dataset, you could be charged twice.')
        : l10n.t('If one is an open submission of this dataset, you could be charged twice.'),
    ).join('\n'),
    {
      [TERMS.backToSummary]: 'back',
      [l10n.t('Continue Anyway')]: 'continue',
      [title]: 'show',
    },
  );
  if (choice !== 'show') return choice;
  show();
  return 'back';
}
