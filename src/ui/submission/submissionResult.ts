import { commands, l10n } from 'vscode';
import { asDiskError } from '../../core/base/diskError.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { Session } from '../../core/runs/session.ts';
import {
  isCharged,
  isDuplicate,
  isSettled,
  type Draft,
  type Intent,
  type Receipt,
} from '../../core/submission/intent.ts';
import {
  mayBecomeCharge,
  type PendingSubmission,
  type Submission,
  type SubmissionResult,
  type SubmissionState,
} from '../../core/submission/pendingSubmission.ts';
import { continuationOf, receiptsAmong } from '../../core/submission/receipts.ts';
import type { Services } from '../../services.ts';
import { canceledSentence, endSentence, progressText } from '../shared/chargeText.ts';
import type { CommandResult } from '../shared/commands.ts';
import { inSandbox } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { showInformation, withCancellableProgress } from '../shared/notifications.ts';
import { setShownOnceSeen, showCharged } from './chargeReport.ts';
import { warnMayBeCharged } from './mayBeCharged.ts';
import { showNotCharged } from './notCharged.ts';
import { showUnanswered } from './notSent.ts';
import { startAnew } from './submitAgain.ts';

/** Shows the progress of a submission while it is sent. */
export function withSubmissionProgress(
  { account }: Session,
  { dataset }: Draft,
  send: (signal: AbortSignal) => Submission,
): Thenable<{ id: string; result: SubmissionResult }> {
  const title = l10n.t('Submitting {0} to {1}', dataset.filename, account.name);
  return withCancellableProgress(title, async (signal, report) => {
    const { id, onProgress, result } = send(signal);
    let last: SubmissionState | undefined;
    const subscription = onProgress((submission) => {
      const { sentBytes, state, totalBytes } = submission;
      // Reports of progress may be skipped, new states may not.
      const isProgress = state === 'uploading' && state === last;
      last = state;
      report(progressText(submission, Date.now()), isProgress ? sentBytes / totalBytes : undefined);
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
  services: Pick<
    Services,
    'ensureActiveAccount' | 'journal' | 'log' | 'sandboxFault' | 'sessions' | 'submissions'
  >,
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
    case 'not-charged': {
      const end = { outcome: 'not-charged', id } as const;
      if (result.error instanceof CancelledError) {
        const text = canceledSentence(draft.dataset.filename);
        void showInformation(inSandbox(text, session.account.kind === 'sandbox'));
        return end;
      }
      log.error('not-submitted', result.error);
      const error = asDiskError(result.error, 'submissions');
      const isResting = () => submissions.pending.some((one) => one.id === id && !mayBecomeCharge(one.state));
      const showIfGoneOn = async () => {
        if (!result.kept || isResting()) return false;
        await showEnd(id, services, true);
        return true;
      };
      const what = { id, draft, error, isKept: result.kept, showIfGoneOn };
      showNotCharged(what, session, services);
      return end;
    }
    case 'unknown': {
      log.error('outcome-unknown', result.error);
      const error = asDiskError(result.error, 'submissions');
      const intent = journal.intents.find((one) => one.id === id);
      // Another window may have found the run meanwhile.
      const receipts = intent === undefined ? await journal.receipts().catch(() => []) : [];
      if (receipts.some((one) => one.id === id && isCharged(one))) return showEnd(id, services, true);
      warnMayBeCharged({ id, draft, intent, error }, session, sandboxFault.get());
      return { outcome: 'unknown', id };
    }
    case 'unanswered':
      log.error('not-submitted', result.error);
      showUnanswered({ id, draft, error: result.error }, session, sandboxFault.get());
      return { outcome: 'unknown', id };
    case 'withdrawn':
      return startAnew(draft, session.account);
    case 'open':
      return commands.executeCommand<CommandResult>(COMMANDS.resolveSubmission, result.id);
    case 'elsewhere':
      return showEnd(id, services, true);
  }
}

/**
 * Notifies the user what became of a submission that another window worked on, or works on.
 * @param wasResting whether it awaited the user: an answer since then means that it was continued
 * @returns the end of the command
 */
export async function showEnd(
  id: string,
  { journal, sessions, submissions }: Pick<Services, 'journal' | 'sessions' | 'submissions'>,
  wasResting: boolean,
): Promise<CommandResult> {
  // A probe of its lease reveals whether another window works on it.
  await submissions.probe();
  const records = await journal.records().catch(() => []);
  const receipts = receiptsAmong(records);
  const rivals = rivalsOf(id, records);
  const first = submissions.pending.find(({ intent }) => rivals.includes(intent.id));
  if (first) return commands.executeCommand<CommandResult>(COMMANDS.resolveSubmission, first.id);
  const ended = receipts.filter((one) => rivals.includes(one.id));
  const instead = (ended.find(isCharged) ?? ended[0])?.id;
  const last = instead ?? latestOf(id, [...receipts, ...submissions.pending.map(({ intent }) => intent)]);
  const receipt = receipts.find((one) => one.id === last);
  const session = receipt && sessions.find(receipt.accountId);
  const open = submissions.pending.find((one) => one.id === last);
  const end = endOf(last, receipt, open);
  if (receipt === undefined || !isCharged(receipt) || session === undefined) {
    void showInformation(endSentence(receipt, open));
    return end;
  }
  const { run, foundBy: how } = receipt.settled;
  const isContinued = last !== id || (how === 'answered' && wasResting);
  const known = instead ? 'instead' : isContinued ? 'continued' : how === 'answered' ? how : 'found';
  void setShownOnceSeen(journal, await showCharged(run, receipt, session, journal, known));
  return end;
}

/**
 * Returns the IDs of what was submitted instead of a draft that gave way, or that was too old: the same bytes
 * and model, open, or ended since.
 */
function rivalsOf(id: string, records: readonly Intent[]): string[] {
  const draft = records.find((one) => one.id === id && one.settled?.kind === 'withdrawn');
  const sinceMs = draft?.settled?.at.localMs ?? NaN;
  const isSince = ({ settled }: Intent) => (settled?.at.localMs ?? Infinity) >= sinceMs;
  return records.flatMap((one) =>
    draft && one !== draft && isDuplicate(one, draft) && isSince(one) ? one.id : [],
  );
}

/** Returns the ID of the last submission that continued this one after refusals; else its own ID. */
function latestOf(id: string, records: readonly Intent[]): string {
  const record = records.find((one) => one.id === id);
  const next = record && isSettled(record) && continuationOf(record, records);
  // Follow each once: times from a clock that was set back may form a circle.
  const others = records.filter((one) => one !== record);
  return next ? latestOf(next.id, others) : id;
}

/** What is known of a submission's charge. */
function endOf(id: string, receipt: Receipt | undefined, open: PendingSubmission | undefined): CommandResult {
  if (receipt !== undefined && isCharged(receipt))
    return { outcome: 'charged', id: receipt.settled.run.run_id };
  if (receipt === undefined && open === undefined) return { outcome: 'unavailable' };
  const isNotCharged =
    receipt?.settled.kind === 'not-charged' || (open !== undefined && !mayBecomeCharge(open.state));
  return { outcome: isNotCharged ? 'not-charged' : 'unknown', id };
}
