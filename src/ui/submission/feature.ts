import { asDiskError } from '../../core/base/diskError.ts';
import { lazy } from '../../core/base/lazy.ts';
import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import type { ReportFoundRun } from './submissionResult.ts';

/** From a dataset to a run that is charged once, and what became of a submission whose answer was lost. */
export function activateSubmission(services: Services): void {
  const { disposables, journal, journalOpened, openJournal, registerCommands, reportError, submitter } =
    services;
  const reporter = lazy(async () =>
    (await import('./submissionResult.ts')).foundRunReporter((runId) => journal.claimNotice(runId)),
  );
  const reportFoundRun: ReportFoundRun = async (...found) => (await reporter())(...found);
  const parts = { ...services, reportFoundRun };
  disposables.add(
    registerCommands('nothing', {
      [COMMANDS.submitDataset]: async (argument, selection, preset) =>
        (await import('./submitDataset.ts')).submitDataset(services, argument, selection, preset),
      [COMMANDS.cancelUpload]: async (submission) =>
        (await import('./resolveSubmission.ts')).cancelUpload(services, submission),
    }),
  );
  disposables.add(
    registerCommands('accounts', {
      [COMMANDS.resolveSubmission]: async (submission, action) =>
        (await import('./resolveSubmission.ts')).resolveSubmission(parts, submission, action),
    }),
  );
  disposables.add(
    registerCommands('account', {
      [COMMANDS.submitAgain]: async (run) => (await import('./submitDataset.ts')).submitAgain(services, run),
    }),
  );
  // Needed once there is an open submission, or a charge that was not reported.
  const notices = lazy(async () => {
    const { SubmissionNotices } = await import('./submissionNotices.ts');
    return disposables.add(new SubmissionNotices(parts));
  });
  disposables.add(submitter.onDidChange(() => void notices()));
  disposables.add(
    journalOpened.event(async () => {
      const isNeeded =
        submitter.pending.length > 0 || (await journal.unreported().catch(() => [])).length > 0;
      if (isNeeded) await (await notices()).start();
    }),
  );
  const open = (): void => {
    openJournal().catch((error: unknown) => reportError(asDiskError(error, 'submissions'), open));
  };
  open();
}
