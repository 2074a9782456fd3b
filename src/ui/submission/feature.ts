import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { asStorageError } from '../shared/storageError.ts';
import { showInterrupted } from './interruptedNotices.ts';
import { tellFoundRunsOnce } from './submissionOutcome.ts';
import { UnknownWatch } from './unknownWatch.ts';

/** From a dataset to a run that is charged once, and what became of a submission whose answer was lost. */
export function activateSubmission(services: Services): void {
  const { digestWorker, disposables, journal, log, openJournal, registerCommands, reportError } = services;
  const { reports, sessions, submitted, submitter } = services;
  const beActive = services.ensureActiveAccount;
  const tellFoundRun = tellFoundRunsOnce(beActive, (runId) => void journal.claimNotice(runId));
  const reveal = (runId: string) => {
    submitted.fire({ runId });
    return Promise.resolve();
  };
  disposables.add(
    registerCommands('nothing', {
      [COMMANDS.submitDataset]: async (...args) => {
        const { sha256OfFile } = await import('../../core/api/dataset.ts');
        const { submitDataset } = await import('./submitDataset.ts');
        await submitDataset({
          sessions,
          submitter,
          journal,
          openJournal,
          reports,
          sha256Of: (file, signal, onProgress) =>
            sha256OfFile(file, {
              worker: digestWorker,
              signal,
              onProgress: (hashedBytes, totalBytes) => onProgress(hashedBytes / totalBytes),
            }),
          beActive,
          reveal,
          log,
        })(...args);
      },
      [COMMANDS.cancelSubmission]: async (submission) =>
        (await import('./cancelSubmission.ts')).cancelSubmission(sessions, submitter)(submission),
    }),
  );
  disposables.add(
    registerCommands('accounts', {
      [COMMANDS.resolveSubmission]: async (submission) =>
        (await import('./resolveSubmission.ts')).resolveSubmission(
          sessions,
          submitter,
          reveal,
          tellFoundRun,
          log,
        )(submission),
      [COMMANDS.checkSubmission]: async (submission) =>
        (await import('./checkSubmission.ts')).checkSubmission(
          sessions,
          submitter,
          beActive,
          reveal,
          tellFoundRun,
        )(submission),
      [COMMANDS.discardSubmission]: async (submission) =>
        (await import('./discardSubmission.ts')).discardSubmission(sessions, submitter)(submission),
    }),
  );
  disposables.add(
    registerCommands('account', {
      [COMMANDS.submitAgain]: async (run) => (await import('./submitAgain.ts')).submitAgain(sessions)(run),
      [COMMANDS.continueSubmission]: async (submission) =>
        (await import('./continueSubmission.ts')).continueSubmission(
          sessions,
          submitter,
          beActive,
          reveal,
          log,
        )(submission),
    }),
  );
  const showOpenOnes = async (): Promise<void> => {
    try {
      await openJournal();
      disposables.add(await showInterrupted(sessions, submitter, beActive));
    } catch (error) {
      reportError(asStorageError(error), () => void showOpenOnes());
    }
  };
  void showOpenOnes().finally(() =>
    disposables.add(new UnknownWatch(sessions, submitter, journal, beActive, tellFoundRun)),
  );
}
