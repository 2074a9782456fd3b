import { l10n } from 'vscode';
import { isCancellable, type PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Services } from '../../services.ts';
import type { CommandResult } from '../shared/commands.ts';
import { inSandbox } from '../shared/format.ts';
import { showInformation } from '../shared/notifications.ts';
import { findSubmission, pickSubmission, submissionIdOf } from './chooseSubmission.ts';

const NO_UPLOAD = l10n.t('No upload to cancel.');

/**
 * Cancels an upload before it is complete; the command that started it reports the result. Without a row, which VS Code doesn't
 * always pass when its button is pressed, it cancels the only upload or the one that the user picks.
 */
export async function cancelUpload(
  { sessions, submitter }: Pick<Services, 'sessions' | 'submitter'>,
  argument?: unknown,
): Promise<CommandResult> {
  const given = submissionIdOf(argument);
  const { pending } = submitter;
  if (given !== undefined) {
    const submission = findSubmission(submitter, given);
    return submission === undefined ? { outcome: 'unavailable' } : cancelNow(submitter, submission);
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
  return chosen === undefined ? { outcome: 'cancelled' } : cancelNow(submitter, chosen);
}

/** Cancels an upload, or says why it is too late. */
export function cancelNow(
  submitter: Services['submitter'],
  { id, intent }: PendingSubmission,
): CommandResult {
  if (submitter.cancel(id)) return { outcome: 'done', id };
  const isLate = findSubmission(submitter, id)?.state === 'validating';
  const { dataset, origin } = intent;
  const late = l10n.t('{0} is fully uploaded and can no longer be canceled.', dataset.filename);
  void showInformation(isLate ? inSandbox(late, origin === 'sandbox') : NO_UPLOAD);
  return { outcome: 'unavailable', id };
}
