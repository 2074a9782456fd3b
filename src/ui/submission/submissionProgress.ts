import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Submission, SubmissionResult } from '../../core/submission/pendingSubmission.ts';
import { withCancellableProgress } from '../shared/progress.ts';
import { stateText } from './pendingMessages.ts';

/** How often the time until the next attempt is updated. */
const TICK_MS = 1_000;

/** Shows a submission while it is sent: which attempt it is, bytes and speed, and what it waits for. */
export function withSubmissionProgress(
  title: string,
  send: (signal: AbortSignal) => Submission,
): Thenable<{ id: string; result: SubmissionResult }> {
  return withCancellableProgress(title, async (signal, report) => {
    let last: PendingSubmission | undefined;
    const update = (isProgress: boolean) => {
      if (last === undefined) return;
      // Of progress some may be left out, of states none.
      const fraction =
        isProgress && last.state === 'uploading' ? last.sentBytes / last.totalBytes : undefined;
      report(stateText(last, Date.now()), fraction);
    };
    const { id, onProgress, result } = send(signal);
    const subscription = onProgress((submission) => {
      const isProgress = submission.state === last?.state;
      last = submission;
      update(isProgress);
    });
    const ticking = setInterval(() => {
      if (last?.state === 'waiting') update(false);
    }, TICK_MS);
    try {
      return { id, result: await result };
    } finally {
      clearInterval(ticking);
      subscription.dispose();
    }
  });
}
