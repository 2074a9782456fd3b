import { submissionIdOf } from '../host/submissionArgument.ts';
import { confirmDismiss } from '../host/wording/submission.ts';
import type { Submitter } from '../runs/submitter.ts';

/** Takes a submission of unknown outcome off the list, after a warning. Takes its row. */
export function dismissSubmission(submitter: Submitter) {
  return async (argument: unknown): Promise<void> => {
    const submission = submitter.pending.find(({ id }) => id === submissionIdOf(argument));
    if (submission === undefined) return;
    if (await confirmDismiss(submission.draft.dataset.filename)) submitter.dismiss(submission.id);
  };
}
