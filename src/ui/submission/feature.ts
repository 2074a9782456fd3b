import { onDisk } from '../../core/base/diskError.ts';
import { lazy } from '../../core/base/async.ts';
import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { inBackground } from '../shared/log.ts';
import type { ReportFoundRun } from './submissionResult.ts';

/** From a dataset to a run that is charged once, and what became of a submission whose answer was lost. */
export function activateSubmission(services: Services): void {
  const { disposables, journal, log, openJournal, commands, reportError } = services;
  const { sessions, submitter } = services;
  const reporter = lazy(async () => (await import('./submissionResult.ts')).foundRunReporter(journal));
  const reportFoundRun: ReportFoundRun = async (...found) => (await reporter())(...found);
  const parts = { ...services, reportFoundRun };
  commands.add('nothing', {
    [COMMANDS.submitDataset]: async (argument, selection, preset) =>
      (await import('./submitDataset.ts')).submitDataset(services, argument, selection, preset),
    [COMMANDS.cancelUpload]: async (submission) =>
      (await import('./resolveSubmission.ts')).cancelUpload(services, submission),
  });
  const resolve = async (submission: unknown) =>
    (await import('./resolveSubmission.ts')).resolveSubmission(parts, submission);
  commands.add('accounts', {
    [COMMANDS.resolveSubmission]: resolve,
    // Its dialog begins with the check.
    [COMMANDS.checkSubmission]: resolve,
    [COMMANDS.continueSubmission]: async (submission) =>
      (await import('./resolveSubmission.ts')).resolveSubmission(parts, submission, 'continue'),
  });
  commands.add('account', {
    [COMMANDS.submitAgain]: async (run) => (await import('./submitDataset.ts')).submitAgain(services, run),
  });
  // Needed once there is an open submission, or a charge that was not reported.
  const notices = lazy(async () => {
    const { watchSubmissions } = await import('./submissionNotices.ts');
    // Loaded before anything is claimed that it has to report.
    return disposables.add(watchSubmissions({ ...services, reportFoundRun: await reporter() }));
  });
  const started = lazy(async () => {
    await onDisk(openJournal(), 'submissions');
    const isNeeded = submitter.pending.length > 0 || (await journal.unreported().catch(() => [])).length > 0;
    if (!isNeeded) return;
    const watch = await notices();
    // Once the window is closing, reporting a charge is left to the next one: here nobody would see it.
    if (!disposables.disposed) await watch.start();
  });
  // What failed is tried again at the next event.
  const startAgain = () => inBackground(log, started());
  disposables.add(submitter.onDidChange(() => inBackground(log, notices())));
  disposables.add(submitter.onDidChange(startAgain));
  disposables.add(sessions.onDidChangeState(startAgain));
  // Another command may have opened it.
  disposables.add(journal.onDidChange(startAgain));
  const start = () => void started().catch((error: unknown) => reportError(error, start));
  start();
}
