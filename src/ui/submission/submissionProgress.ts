import type { Event } from '../../core/base/event.ts';
import { withCancellableProgress } from '../shared/progress.ts';
import { stateText, type SubmissionView } from './pendingMessages.ts';

/** How often the time until the next attempt is told. */
const TICK_MS = 1_000;

/**
 * Shows a submission while it is sent: which attempt it is, bytes and speed, and what it waits for.
 * @param isMine tells it from the others that the event is about
 */
export function withSubmissionProgress<S extends SubmissionView, T>(
  title: string,
  onDidChange: Event<S>,
  isMine: (submission: S) => boolean,
  work: (signal: AbortSignal) => Promise<T>,
): Thenable<T> {
  return withCancellableProgress(title, async (signal, report) => {
    let last: S | undefined;
    const tell = (isProgress: boolean) => {
      if (last === undefined) return;
      // Of progress some may be left out, of states none.
      const fraction =
        isProgress && last.state === 'uploading' ? last.sentBytes / last.totalBytes : undefined;
      report(stateText(last, Date.now()), fraction);
    };
    const subscription = onDidChange((submission) => {
      if (!isMine(submission)) return;
      const isProgress = submission.state === last?.state;
      last = submission;
      tell(isProgress);
    });
    const ticking = setInterval(() => {
      if (last?.state === 'waiting') tell(false);
    }, TICK_MS);
    try {
      return await work(signal);
    } finally {
      clearInterval(ticking);
      subscription.dispose();
    }
  });
}
