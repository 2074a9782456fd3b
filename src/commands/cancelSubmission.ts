import { submissionIdOf } from '../host/submissionArgument.ts';
import { tellTooLate } from '../host/wording/submission.ts';
import type { Submitter } from '../runs/submitter.ts';

/** Cancels an upload while nothing can have been charged; how it ended is told where it began. Takes its row. */
export function cancelSubmission(submitter: Submitter) {
  return (argument: unknown): void => {
    const submission = submitter.pending.find(({ id }) => id === submissionIdOf(argument));
    if (submission !== undefined && !submitter.cancel(submission.id))
      tellTooLate(submission.draft.dataset.filename);
  };
}
