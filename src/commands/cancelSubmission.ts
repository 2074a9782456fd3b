import { submissionIdOf } from '../host/submissionArgument.ts';
import { tellNotNow } from '../host/wording/pendingNotices.ts';
import { tellTooLate } from '../host/wording/submission.ts';
import type { Submitter } from '../runs/submitter.ts';

/** Cancels an upload before it is sent whole; how it ended is told where it began. Takes its row or id. */
export function cancelSubmission(submitter: Submitter) {
  return (argument: unknown): void => {
    const submission = submitter.pending.find(({ id }) => id === submissionIdOf(argument));
    if (submission === undefined || submitter.cancel(submission.id)) return;
    if (submission.state === 'validating') tellTooLate(submission.intent.dataset.filename);
    else tellNotNow(submission);
  };
}
