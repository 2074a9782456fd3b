import { l10n } from 'vscode';
import { isCancellable, type PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Services } from '../../services.ts';
import type { CommandResult } from '../shared/commands.ts';
import { inSandbox } from '../shared/format.ts';
import { showInformation } from '../shared/notifications.ts';
import { pickSubmission, submissionIdOf } from './chooseSubmission.ts';
import { findSubmission } from './submissionText.ts';

const NO_UPLOAD = l10n.t('No upload to cancel.');

/**
 * Cancels an upload before it is complete; the command that started it reports the result. VS Code doesn't
 * always pass the row of a pressed button. Then it cancels the only upload, or the one that the user picks.
 */
export async function cancelUpload(
  { sessions, submissions }: Pick<Services, 'sessions' | 'submissions'>,
  argument?: unknown,
): Promise<CommandResult> {
  const given = submissionIdOf(argument);
  const { pending } = submissions;
  if (given !== undefined) {
    const row = findSubmission(submissions, given);
    return row === undefined ? { outcome: 'unavailable' } : cancelNow(submissions, row);
  }
  const uploads = pending.filter(isCancellable);
  const [only] = uploads;
  if (only === undefined) {
    void showInformation(NO_UPLOAD);
    return { outcome: 'unavailable' };
  }
  // The user may have meant a submission whose upload was just completed.
  const isClear = uploads.length === 1 && pending.every(({ state }) => state !== 'validating');
  const chosen = isClear ? only : await pickSubmission(uploads, sessions);
  return chosen === undefined ? { outcome: 'cancelled' } : cancelNow(submissions, chosen);
}

export function cancelNow(
  submissions: Services['submissions'],
  { id, submission }: PendingSubmission,
): CommandResult {
  if (submissions.cancel(id)) return { outcome: 'done', id };
  const isLate = findSubmission(submissions, id)?.state === 'validating';
  const { dataset, origin } = submission;
  const late = l10n.t('{0} is fully uploaded and can no longer be canceled.', dataset.filename);
  void showInformation(isLate ? inSandbox(late, origin === 'sandbox') : NO_UPLOAD);
  return { outcome: 'unavailable', id };
}
