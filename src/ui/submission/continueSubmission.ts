import * as vscode from 'vscode';
import { confirmResend } from './confirmDialogs.ts';
import { COMMANDS } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { chooseSubmission } from './submissionChoice.ts';
import { tellOutcome } from './submissionOutcome.ts';
import { withSubmissionProgress } from './submissionProgress.ts';
import { tellNotNow } from './noticeMessages.ts';
import { submissionWords } from './messages.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import { canContinue } from '../../core/submission/pendingSubmission.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { Submitter } from '../../core/submission/submitter.ts';

/**
 * Goes on with a submission that is not settled, of its row or id: the same bytes with the same Idempotency-Key, when a
 * person confirms it. One that was refused leads through the steps again, with fresh consents.
 * @param beActive makes an account the active one, if it is not and the person agrees
 * @param reveal shows a loaded run
 */
export function continueSubmission(
  sessions: Sessions,
  submitter: Submitter,
  beActive: (accountId: string) => Promise<boolean>,
  reveal: (runId: string) => Promise<void>,
  log: Log,
) {
  return async (argument: unknown): Promise<void> => {
    const isWanted = (one: (typeof submitter.pending)[number]) => canContinue(one, Date.now());
    const submission = await chooseSubmission(argument, submitter.pending, sessions, beActive, isWanted);
    const session = sessions.active;
    if (submission === undefined || session === undefined) return;
    if (!isWanted(submission)) {
      tellNotNow(submission);
      return;
    }
    const { id, intent } = submission;
    const { dataset, model_id, label = '', priority_processing } = intent;
    const preset = { modelId: model_id, label: withoutMarker(label), priority: priority_processing };
    if (submission.state === 'refused') {
      const uri = vscode.Uri.file(dataset.path);
      await vscode.commands.executeCommand(COMMANDS.submitDataset, uri, undefined, {
        ...preset,
        replaces: id,
      });
      return;
    }
    const { account, models, balance } = session;
    const model = models.models?.find((one) => one.model_id === model_id) ?? {
      name: models.nameOf(model_id),
    };
    const answer = await confirmResend(
      { account, dataset, model, priority: priority_processing, balance: balance.current },
      submission,
    );
    if (answer === 'back') await vscode.commands.executeCommand(COMMANDS.resolveSubmission, id);
    if (answer !== 'submit') return;
    const { result: outcome } = await withSubmissionProgress(
      submissionWords.title(dataset.filename, account.name),
      (signal) => submitter.resume(session, id, signal),
    );
    const { path, filename } = dataset;
    const readBalance = () => balance.refresh();
    await tellOutcome(outcome, { id, path, filename, preset, account, readBalance }, beActive, log);
    if (outcome.kind === 'charged') await reveal(outcome.run.run_id).catch(() => undefined);
  };
}
