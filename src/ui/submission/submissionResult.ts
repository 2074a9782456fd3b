import { commands, l10n } from 'vscode';
import { asDiskError } from '../../core/base/diskError.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { Session } from '../../core/runs/session.ts';
import {
  mayBecomeCharge,
  type SubmissionInProgress,
  type SubmissionResult,
  type SubmissionState,
} from '../../core/submission/pendingSubmission.ts';
import { continuationOf, receiptsAmong } from '../../core/submission/receipts.ts';
import { isCharged, isOver, type Draft, type Submission } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import type { CommandResult } from '../shared/commands.ts';
import { inSandbox } from '../shared/format.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { showInformation, withCancellableProgress, withViewProgress } from '../shared/notifications.ts';
import { setShownOnceSeen, showCharged } from './chargeReport.ts';
import { showNotCharged } from './notCharged.ts';
import { showState } from './showState.ts';
import {
  canceledSentence,
  endSentence,
  findSubmission,
  submissionKindOf,
  progressText,
} from './submissionText.ts';
import { startAnew } from './submitAgain.ts';

/** Services for following a submission to its end. `following`: IDs that this window follows. */
export type EndParts = Pick<Services, 'journal' | 'sessions' | 'submissions'> & { following: Set<string> };

/** Shows the progress of a submission while it is sent. */
export function withSubmissionProgress(
  { account }: Session,
  { dataset }: Draft,
  send: (signal: AbortSignal) => SubmissionInProgress,
): Thenable<{ id: string; result: SubmissionResult }> {
  const title = l10n.t('Submitting {0} to {1}', dataset.filename, account.name);
  return withCancellableProgress(title, async (signal, report) => {
    const { id, onProgress, result } = send(signal);
    let last: SubmissionState | undefined;
    const subscription = onProgress((row) => {
      const { sentBytes, state, totalBytes } = row;
      // Reports of progress may be skipped, new states may not.
      const isProgress = state === 'uploading' && state === last;
      last = state;
      report(progressText(row, Date.now()), isProgress ? sentBytes / totalBytes : undefined);
    });
    return { id, result: await result.finally(() => subscription.dispose()) };
  });
}

/**
 * Notifies the user whether a submission was charged, and offers the next steps. No button sends anything.
 * @returns the end of the command
 */
export async function showResult(
  result: SubmissionResult,
  id: string,
  draft: Draft,
  session: Session,
  services: EndParts & Pick<Services, 'ensureActiveAccount' | 'log' | 'sandboxFault'>,
): Promise<CommandResult> {
  const { journal, log, sandboxFault, submissions } = services;
  switch (result.kind) {
    case 'charged':
      try {
        const how = result.found === true ? 'found' : 'answered';
        void setShownOnceSeen(
          journal,
          await showCharged(result.run, { ...draft, id }, session, journal, how),
        );
      } catch (error) {
        // The submission itself succeeded. It isn't recorded as shown, so the next window reports it.
        log.error('charge-not-reported', error);
      }
      return { outcome: 'charged', id: result.run.run_id };
    case 'not-charged':
      if (result.error instanceof CancelledError)
        void showInformation(inSandbox(canceledSentence(draft), session.account.kind === 'sandbox'));
      else {
        log.error('not-submitted', result.error);
        const error = asDiskError(result.error, 'submissions');
        showNotCharged({ id, draft, error, isKept: result.isKept }, session, services);
      }
      return { outcome: 'not-charged', id };
    case 'unknown':
    case 'unanswered': {
      const { error, kind } = result;
      log.error(kind === 'unknown' ? 'outcome-unknown' : 'not-submitted', error);
      const open = findSubmission(submissions, id);
      // Another window may have found the run meanwhile, or may be about to.
      if (open === undefined || open.state === 'elsewhere') return showEnd(id, services, true);
      if (kind === 'unknown' || !(error instanceof CancelledError)) {
        const failure = { error: asDiskError(error, 'submissions'), faultOf: sandboxFault.get() };
        showState(open, session, failure);
      }
      return { outcome: 'unknown', id };
    }
    case 'ended':
      return startAnew(draft, session.account);
    case 'open': {
      await submissions.probe();
      const open = findSubmission(submissions, result.id);
      return open === undefined || open.state === 'elsewhere'
        ? showEnd(result.id, services, false)
        : commands.executeCommand<CommandResult>(COMMANDS.resolveSubmission, result.id);
    }
    case 'elsewhere':
      return showEnd(id, services, true);
  }
}

/**
 * Notifies the user how a submission ended. If another window works on it, waits in the background until it
 * ends or pauses; the command ends immediately.
 * @param wasResting whether it awaited the user: an answer since then means that it was continued
 * @returns the end of the command
 */
export async function showEnd(id: string, services: EndParts, wasResting: boolean): Promise<CommandResult> {
  const { following, journal, sessions, submissions } = services;
  // A probe of its lease reveals whether another window works on it.
  await submissions.probe();
  const records = await journal.records().catch(() => []);
  const last = latestOf(id, [...records, ...submissions.pending.map(({ submission }) => submission)]);
  const open = findSubmission(submissions, last);
  const receipt = receiptsAmong(records).find((one) => one.id === last);
  const session = sessions.find((open ?? receipt)?.accountId ?? '');
  if (open !== undefined) {
    if (session === undefined) return { outcome: 'unavailable', id };
    const follow = async () => {
      if (following.has(last)) return;
      following.add(last);
      await whileInWork(submissions, last, session);
      following.delete(last);
      await showEnd(last, services, wasResting);
    };
    if (isInWork(submissions, last, session)) void withViewProgress(VIEWS.runs, follow);
    else showState(open, session);
    return { outcome: mayBecomeCharge(open) ? 'unknown' : 'not-charged', id: last };
  }
  if (receipt === undefined || !isCharged(receipt) || session === undefined) {
    void showInformation(inSandbox(endSentence(receipt), receipt?.origin === 'sandbox'));
    if (receipt === undefined) return { outcome: 'unavailable' };
    return { outcome: receipt.reason === 'not-charged' ? 'not-charged' : 'unknown', id: last };
  }
  const { run, foundBy } = receipt.charge;
  const isContinued = last !== id || (foundBy === 'answered' && wasResting);
  const how = isContinued ? 'continued' : foundBy === 'answered' ? foundBy : 'found';
  void setShownOnceSeen(journal, await showCharged(run, receipt, session, journal, how));
  return { outcome: 'charged', id: run.run_id };
}

/** Whether another window works on a submission, or its run is looked for after that window died. */
function isInWork({ pending }: Services['submissions'], id: string, session: Session): boolean {
  const one = pending.find((other) => other.id === id);
  const kind = one && submissionKindOf(one, Date.now(), session);
  return one?.state === 'checking' || kind === 'elsewhere' || kind === 'checking';
}

function whileInWork(submissions: Services['submissions'], id: string, session: Session): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (isInWork(submissions, id, session)) return;
      subscription.dispose();
      resolve();
    };
    const subscription = submissions.onDidChange(check);
    check();
  });
}

/** Returns the ID of the last submission that continued this one after refusals; else its own ID. */
function latestOf(id: string, records: readonly Submission[]): string {
  const record = records.find((one) => one.id === id);
  const next = record && isOver(record) && continuationOf(record, records);
  // Follow each once: times from a clock that was set back may form a circle.
  const others = records.filter((one) => one !== record);
  return next ? latestOf(next.id, others) : id;
}
