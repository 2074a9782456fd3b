import { pickSubmission } from './pendingDialogs.ts';
import { openOnes, otherAccount } from './submissionChoice.ts';
import { submissionIdOf } from './submissionArgument.ts';
import { tellNoUpload, tellNotNow } from './noticeMessages.ts';
import { tellTooLate } from './messages.ts';
import { isCancellable } from '../../core/submission/pendingSubmission.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { Submitter } from '../../core/submission/submitter.ts';

/**
 * Cancels an upload before it is sent whole; how it ended is told where it began. Takes its row or id. Without one it is the
 * only upload there is, or the one that the person picks: VS Code does not always know the row whose button was pressed.
 */
export function cancelSubmission(sessions: Sessions, submitter: Submitter) {
  async function choose(): Promise<string | undefined> {
    const { pending } = submitter;
    const uploads = pending.filter(isCancellable);
    if (uploads.length === 0) {
      tellNoUpload(openOnes(pending, sessions));
      return undefined;
    }
    // It may have been meant for one that has just been sent whole.
    const isClear = uploads.length === 1 && pending.every(({ state }) => state !== 'validating');
    if (isClear) return uploads[0]?.id;
    return (await pickSubmission(uploads, (one) => otherAccount(one, sessions)))?.id;
  }

  return async (argument: unknown): Promise<void> => {
    const id = submissionIdOf(argument) ?? (await choose());
    const submission = submitter.pending.find((one) => one.id === id);
    if (submission === undefined || submitter.cancel(submission.id)) return;
    if (submission.state === 'validating') tellTooLate(submission.intent.dataset.filename);
    else tellNotNow(submission);
  };
}
