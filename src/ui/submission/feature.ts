import { asDiskError } from '../../core/base/diskError.ts';
import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { SubmissionNotices } from './submissionNotices.ts';
import { foundRunReporter } from './submissionResult.ts';

/** From a dataset to a run that is charged once, and what became of a submission whose answer was lost. */
export function activateSubmission(services: Services): void {
  const { disposables, journal, journalOpened, openJournal, registerCommands, reportError } = services;
  const reportFoundRun = foundRunReporter((runId) => journal.claimNotice(runId));
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
  const notices = disposables.add(new SubmissionNotices(parts));
  disposables.add(journalOpened.event(() => void notices.start()));
  const open = (): void => {
    openJournal().catch((error: unknown) => reportError(asDiskError(error, 'submissions'), open));
  };
  open();
}
