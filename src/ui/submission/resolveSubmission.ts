import * as vscode from 'vscode';
import { CancelledError } from '../../core/base/errors.ts';
import { askToResolve, confirmAdopt, type Resolution } from './pendingDialogs.ts';
import { COMMANDS } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { withCancellableProgress } from '../shared/progress.ts';
import { asStorageError, usingStorage } from '../shared/storageError.ts';
import { chooseSubmission } from './submissionChoice.ts';
import type { TellFoundRun } from './submissionOutcome.ts';
import { tellAccountGone } from '../shared/accountMessages.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { tellSettled } from './noticeMessages.ts';
import { submissionWords, tellElsewhere } from './messages.ts';
import type { RunCreation } from '../../core/api/types.ts';
import type { ReconcileResult } from '../../core/submission/reconciler.ts';
import { uncertaintyOf } from '../../core/submission/reconcilePolicy.ts';
import { canCheck, canContinue, canDiscard } from '../../core/submission/pendingSubmission.ts';
import { isCancellable, type PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { Submitter } from '../../core/submission/submitter.ts';

/** What a look of just now came to; `failure` where it did not succeed. */
interface Looked {
  finding?: ReconcileResult | undefined;
  failure?: string;
}

/**
 * Shows what is known of a submission that is not settled, of its row or id, and does what the person decides. Where its
 * outcome is not known it looks first; nothing is sent but by "Continue…".
 * @param reveal shows a loaded run
 */
export function resolveSubmission(
  sessions: Sessions,
  submitter: Submitter,
  reveal: (runId: string) => Promise<void>,
  tellFoundRun: TellFoundRun,
  log: Log,
) {
  const find = (id: string) => submitter.pending.find((pending) => pending.id === id);

  /** Where the person stops waiting, what is known already is shown. */
  async function look(session: Session, { id, intent }: PendingSubmission): Promise<Looked> {
    try {
      const finding = await withCancellableProgress(
        submissionWords.checking(intent.dataset.filename),
        (signal) => submitter.check(session, id, signal),
      );
      return { finding };
    } catch (error) {
      if (error instanceof CancelledError) return {};
      log.error('not-looked', error);
      return { failure: asText(explain(asStorageError(error))) };
    }
  }

  async function found(session: Session, filename: string, run: RunCreation): Promise<void> {
    const { account, balance } = session;
    await tellFoundRun(run, { filename, account, readBalance: () => balance.refresh() });
    await reveal(run.run_id).catch(() => undefined);
  }

  /** @returns whether the person has to decide again */
  async function act(session: Session, { id }: PendingSubmission, chosen: Resolution): Promise<boolean> {
    if (chosen.kind === 'check') return true;
    if (chosen.kind !== 'adopt') {
      await vscode.commands.executeCommand(VERBS[chosen.kind], id);
      return false;
    }
    const submission = find(id);
    if (submission === undefined) return true;
    const { currency } = session.balance.current ?? {};
    if (!(await confirmAdopt(submission, chosen.run, currency))) return true;
    const { filename } = submission.intent.dataset;
    if (await usingStorage(() => submitter.adopt(session, id, chosen.run.run_id)))
      await found(session, filename, chosen.run);
    else tellElsewhere(filename);
    return false;
  }

  return async (argument: unknown): Promise<void> => {
    const submission = await chooseSubmission(argument, submitter.pending, sessions, undefined);
    if (submission === undefined) return;
    const session = sessions.find(submission.accountId);
    if (session === undefined) {
      tellAccountGone();
      return;
    }
    for (;;) {
      const before = find(submission.id);
      const looked =
        before !== undefined && (canCheck(before) || before.state === 'checking')
          ? await look(session, before)
          : {};
      if (looked.finding?.verdict === 'charged') {
        await found(session, submission.intent.dataset.filename, looked.finding.run);
        return;
      }
      const view = find(submission.id);
      if (view === undefined) {
        tellSettled();
        return;
      }
      const chosen = await askToResolve(knownOf(session, view, looked), possibleFor(view, looked));
      if (chosen === undefined || !(await act(session, view, chosen))) return;
    }
  };
}

const VERBS = {
  continue: COMMANDS.continueSubmission,
  discard: COMMANDS.discardSubmission,
  cancel: COMMANDS.cancelSubmission,
} as const;

function knownOf({ account, models }: Session, view: PendingSubmission, { finding, failure }: Looked) {
  const cannotTell = finding?.verdict === 'cannot-tell' ? finding : undefined;
  const isLookedAt = view.state === 'unknown' && view.intent.lastLook !== undefined;
  return {
    view,
    accountName: account.name,
    isSandbox: account.kind === 'sandbox',
    modelName: models.nameOf(view.intent.model_id),
    doubt: cannotTell?.reason ?? (isLookedAt ? uncertaintyOf(view.intent) : undefined),
    againAtMs: cannotTell?.againAtMs,
    failure,
  };
}

function possibleFor(view: PendingSubmission, { finding }: Looked) {
  return {
    continue: canContinue(view, Date.now()),
    check: canCheck(view),
    discard: canDiscard(view),
    cancel: isCancellable(view),
    candidates: finding?.verdict === 'cannot-tell' && view.state === 'unknown' ? finding.candidates : [],
  };
}
