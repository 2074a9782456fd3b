import { l10n } from 'vscode';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { shortText } from '../shared/chargeText.ts';
import { compact, formatCount } from '../shared/format.ts';

/** Buttons of an open submission, in its dialog and in notifications. */
export const BUTTONS = {
  checkNow: l10n.t('Check Now'),
  continue: l10n.t('Continue…'),
  resend: l10n.t('Resend…'),
} as const;

/** Why a run that was submitted elsewhere may be of this dataset. Its bytes aren't known here. */
export const SAME_LABEL = l10n.t('same label');

/** The gray text of a row. @param accountName given unless the account is active */
export function submissionDescription(
  submission: PendingSubmission,
  nowMs: number,
  accountName?: string,
): string {
  return compact(shortText(submission, nowMs), accountName).join(' · ');
}

/** How many records can't be read; empty if all can. */
export function unreadableText(count: number): string {
  if (count === 0) return '';
  return count === 1
    ? l10n.t('A submission record can’t be read.')
    : l10n.t('{0} submission records can’t be read.', formatCount(count));
}
