import { confirmDiscard } from './pendingDialogs.ts';
import { usingStorage } from '../shared/storageError.ts';
import { chooseSubmission } from './submissionChoice.ts';
import { tellNotNow } from './noticeMessages.ts';
import { tellElsewhere } from './messages.ts';
import { canDiscard } from '../../core/submission/pendingSubmission.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { Submitter } from '../../core/submission/submitter.ts';

/**
 * Gives up a submission that is not settled, of its row or id, after a warning where it may have been charged.
 * @throws StorageError, LeaseUnavailableError
 */
export function discardSubmission(sessions: Sessions, submitter: Submitter) {
  return async (argument: unknown): Promise<void> => {
    const submission = await chooseSubmission(argument, submitter.pending, sessions, undefined, canDiscard);
    if (submission === undefined) return;
    if (!canDiscard(submission)) {
      tellNotNow(submission);
      return;
    }
    if (!(await confirmDiscard(submission))) return;
    const isDone = await usingStorage(() => submitter.discard(submission.id));
    if (!isDone) tellElsewhere(submission.intent.dataset.filename);
  };
}
