import { lazy } from '../../core/base/async.ts';
import { onDisk } from '../../core/base/diskError.ts';
import type { Session } from '../../core/runs/session.ts';
import { followActive } from '../../core/runs/sessions.ts';
import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { inBackground } from '../shared/log.ts';
import type { ReportFoundRun } from './chargeReport.ts';
import { SubmissionRows } from './submissionRows.ts';

/** Activates submitting a dataset, which is charged at most once, and resolving lost responses. */
export function activateSubmission(services: Services): void {
  const { disposables, journal, log, openJournal, commands, reportError } = services;
  const { rowsAboveRuns, sessions, submissions } = services;
  rowsAboveRuns.provide(new SubmissionRows(sessions, submissions, journal));
  const reporter = lazy(async () => (await import('./chargeReport.ts')).foundRunReporter(journal));
  const showFoundRun: ReportFoundRun = async (...found) => (await reporter())(...found);
  const parts = { ...services, showFoundRun, following: new Set<string>() };
  commands.add('nothing', {
    [COMMANDS.submitDataset]: async (argument, selection, preset) =>
      (await import('./submitDataset.ts')).submitDataset(parts, argument, selection, preset),
    [COMMANDS.cancelUpload]: async (submission) =>
      (await import('./cancelUpload.ts')).cancelUpload(services, submission),
  });
  const resolve = async (submission: unknown) =>
    (await import('./resolveSubmission.ts')).resolveSubmission(parts, submission);
  commands.add('accounts', {
    [COMMANDS.resolveSubmission]: resolve,
    // The dialog starts with a check.
    [COMMANDS.checkSubmission]: resolve,
    [COMMANDS.continueSubmission]: async (submission) =>
      (await import('./resolveSubmission.ts')).resolveSubmission(parts, submission, 'continue'),
  });
  commands.add('account', {
    [COMMANDS.submitAgain]: async (run) => (await import('./submitAgain.ts')).submitAgain(services, run),
  });
  // Needed once there is an open submission or an unreported charge.
  const notices = lazy(async () => {
    const { SubmissionNotices } = await import('./submissionNotices.ts');
    return disposables.add(new SubmissionNotices({ ...services, showFoundRun: await reporter() }));
  });
  const started = lazy(async () => {
    await onDisk(openJournal(), 'submissions');
    const isNeeded =
      submissions.pending.length > 0 || (await journal.unreported().catch(() => [])).length > 0;
    if (!isNeeded) return;
    const watch = await notices();
    // A closing window would hide a report from the user, so it leaves that to the next window.
    if (!disposables.disposed) await watch.start();
  });
  const link = async (session: Session) => {
    const linked = await submissions.linkMarked(session);
    await Promise.all(linked.map(({ run, submission }) => showFoundRun(run, submission, session)));
  };
  disposables.add(
    followActive(sessions, (session) => {
      if (session === undefined) return undefined;
      // Its runs may have been loaded while another account was active.
      inBackground(log, link(session));
      return [session.runs.onDidChange(() => inBackground(log, link(session)))];
    }),
  );
  // A failed start is repeated at the next event.
  const startAgain = () => inBackground(log, started());
  disposables.add(submissions.onDidChange(() => inBackground(log, notices())));
  disposables.add(submissions.onDidChange(startAgain));
  disposables.add(sessions.onDidChangeState(startAgain));
  // Another command may have opened the journal.
  disposables.add(journal.onDidChange(startAgain));
  const start = () => void started().catch((error: unknown) => reportError(error, start));
  start();
}
