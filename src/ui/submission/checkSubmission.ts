import * as vscode from 'vscode';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { withCancellableProgress } from '../shared/progress.ts';
import { usingStorage } from '../shared/storageError.ts';
import { chooseSubmission } from './submissionChoice.ts';
import type { TellFoundRun } from './submissionOutcome.ts';
import { tellAccountGone } from '../shared/accountMessages.ts';
import { tellCannotTell, tellNotNow, tellNothingCharged } from './noticeMessages.ts';
import { submissionWords, tellElsewhere } from './messages.ts';
import { canCheck, canContinue } from '../../core/submission/pendingSubmission.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { Submitter } from '../../core/submission/submitter.ts';

/**
 * Looks what became of a submission, of its row or id, whose outcome is not known, and tells it; nothing but reads.
 * It is looked for with the session of its own account, whichever is active.
 * @param beActive makes an account the active one, if it is not and the person agrees
 * @param reveal shows a loaded run
 * @throws ApiError, CancelledError, KeyMissingError, StorageError, LeaseUnavailableError
 */
export function checkSubmission(
  sessions: Sessions,
  submitter: Submitter,
  beActive: (accountId: string) => Promise<boolean>,
  reveal: (runId: string) => Promise<void>,
  tellFoundRun: TellFoundRun,
) {
  return async (argument: unknown): Promise<void> => {
    const submission = await chooseSubmission(argument, submitter.pending, sessions, undefined, canCheck);
    if (submission === undefined) return;
    const session = sessions.find(submission.accountId);
    if (session === undefined) {
      tellAccountGone();
      return;
    }
    if (!canCheck(submission)) {
      tellNotNow(submission);
      return;
    }
    const { id } = submission;
    const { filename } = submission.intent.dataset;
    const isSandbox = session.account.kind === 'sandbox';
    const finding = await withCancellableProgress(submissionWords.checking(filename), (signal) =>
      usingStorage(() => submitter.check(session, id, signal)),
    );
    const now = submitter.pending.find((pending) => pending.id === id);
    const act = async (command: CommandId, argument: string) => {
      if (await beActive(session.account.id)) await vscode.commands.executeCommand(command, argument);
    };
    if (finding?.verdict === 'charged') {
      const { account, balance } = session;
      await tellFoundRun(finding.run, { filename, account, readBalance: () => balance.refresh() });
      await reveal(finding.run.run_id).catch(() => undefined);
    } else if (finding === undefined || now === undefined) tellElsewhere(filename);
    else if (finding.verdict === 'not-charged') {
      const goOn = () => void act(COMMANDS.continueSubmission, id);
      tellNothingCharged(filename, session.account, canContinue(now, Date.now()) ? goOn : undefined);
    } else {
      // Of any account: it switches to none.
      const resolve = () => void vscode.commands.executeCommand(COMMANDS.resolveSubmission, id);
      tellCannotTell(now, finding.reason, isSandbox, resolve);
    }
  };
}
