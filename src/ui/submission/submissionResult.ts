import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { asDiskError } from '../../core/base/diskError.ts';
import type { RunCreation } from '../../core/api/types.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { readChargedOnce } from '../../core/submission/chargedOnce.ts';
import { currencyOf, estimateBefore } from '../../core/money/estimate.ts';
import type { Session } from '../../core/runs/session.ts';
import {
  chargedReceiptsOf,
  isCharged,
  isRunOf,
  runsOf,
  submissionName,
  type ChargedReceipt,
  type Draft,
} from '../../core/submission/intent.ts';
import type { Journal } from '../../core/submission/journal.ts';
import type {
  PendingSubmission,
  Submission,
  SubmissionResult,
} from '../../core/submission/pendingSubmission.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import {
  notify,
  showError,
  showInformation,
  showWarning,
  withCancellableProgress,
} from '../shared/notifications.ts';
import {
  chargedSentence,
  chargedTwiceSentence,
  endSentence,
  mayBeChargedSentence,
  notChargedNotification,
  submissionMessages,
  warnMayBeCharged,
} from './resultMessages.ts';
import { stateText } from './submissionState.ts';

/** How often the times until the next attempt and since validation began are updated. */
const TICK_MS = 1_000;
/** How long a notification of a charge waits for the balance, and for the proof that there is one charge. */
const READ_WAIT_MS = 5_000;
/** How long a notification of a charge must be visible. With the wait for what is read, less than `REPORTING_MS`. */
const SEEN_MS = 3_000;

/** Shows the progress of a submission while it is sent. */
export function withSubmissionProgress(
  { account }: Session,
  { dataset }: Draft,
  send: (signal: AbortSignal) => Submission,
): Thenable<{ id: string; result: SubmissionResult }> {
  const title = submissionMessages.submitting(dataset.filename, account.name);
  return withCancellableProgress(title, async (signal, report) => {
    const { id, onProgress, result } = send(signal);
    let last: PendingSubmission | undefined;
    const subscription = onProgress((submission) => {
      const { sentBytes, state, totalBytes } = submission;
      // Reports of progress may be skipped, new states may not.
      const isProgress = state === 'uploading' && state === last?.state;
      last = submission;
      report(stateText(submission, Date.now()), isProgress ? sentBytes / totalBytes : undefined);
    });
    const ticking = setInterval(() => {
      if (last?.state === 'waiting' || last?.state === 'validating') report(stateText(last, Date.now()));
    }, TICK_MS);
    try {
      return { id, result: await result };
    } finally {
      clearInterval(ticking);
      subscription.dispose();
    }
  });
}

/** Notifies the user whether a submission was charged, and offers the next steps. No button sends anything. */
export async function reportResult(
  result: SubmissionResult,
  id: string,
  draft: Draft,
  session: Session,
  {
    ensureActiveAccount,
    journal,
    log,
    sessions,
    submitted,
    submitter,
  }: Pick<Services, 'ensureActiveAccount' | 'journal' | 'log' | 'sessions' | 'submitted' | 'submitter'>,
): Promise<void> {
  const isSandbox = session.account.kind === 'sandbox';
  switch (result.kind) {
    case 'charged':
      void removeOnceSeen(
        journal,
        await reportCharged(result.run, draft, session, journal, result.found === true),
      );
      submitted.fire({ runId: result.run.run_id });
      return;
    case 'not-charged': {
      if (result.error instanceof CancelledError) {
        void showInformation(submissionMessages.canceled(draft.dataset.filename, isSandbox));
        return;
      }
      log.error('not-submitted', result.error);
      const error = asDiskError(result.error, 'submissions');
      const { kept } = result;
      const { text, buttons } = notChargedNotification(error, id, draft, session, kept, ensureActiveAccount);
      notify(showError, text, buttons);
      return;
    }
    case 'unknown': {
      log.error('outcome-unknown', result.error);
      const error = asDiskError(result.error, 'submissions');
      const intent = journal.intents.find((one) => one.id === id);
      // Another window may have found the run meanwhile.
      const receipts = intent === undefined ? await journal.receipts().catch(() => []) : [];
      if (receipts.some((one) => one.id === id && isCharged(one))) {
        await reportEnd(id, { journal, sessions, submitter });
        return;
      }
      warnMayBeCharged(mayBeChargedSentence(draft, intent, error, session), id);
      return;
    }
    case 'open':
      await vscode.commands.executeCommand(COMMANDS.resolveSubmission, result.id);
      return;
    case 'elsewhere':
      await reportEnd(id, { journal, sessions, submitter });
  }
}

/** Notifies the user what became of a submission that this window could not act on, since another one did, or still does. */
export async function reportEnd(
  id: string,
  { journal, sessions, submitter }: Pick<Services, 'journal' | 'sessions' | 'submitter'>,
): Promise<void> {
  // Another window's work is known once its lease was probed.
  await submitter.probe();
  const receipt = (await journal.receipts().catch(() => [])).find((one) => one.id === id);
  const session = receipt && sessions.find(receipt.accountId);
  if (receipt === undefined || !isCharged(receipt) || session === undefined) {
    const open = submitter.pending.find((one) => one.id === id);
    void showInformation(endSentence(receipt, open, Date.now()));
    return;
  }
  const { run, how } = receipt.settled;
  void removeOnceSeen(journal, await reportCharged(run, receipt, session, journal, how !== 'answered'));
}

/**
 * @param isFound whether a check found the run, which reveals less about the charge than the response would
 * @returns the receipt, as reported
 */
async function reportCharged(
  run: RunCreation,
  draft: Draft,
  { account, balance, runs }: Session,
  journal: Pick<Journal, 'receipts'>,
  isFound: boolean,
): Promise<ChargedReceipt | undefined> {
  const read = <T>(what: Promise<T>) =>
    Promise.race([what.catch(() => undefined), delay(READ_WAIT_MS, undefined, { ref: false })]);
  const known = async () => chargedReceiptsOf(await journal.receipts().catch(() => []), account.id);
  const isReceipt = (one: ChargedReceipt) => isRunOf(one, run.run_id);
  const sent = (await known()).find(isReceipt);
  const wasHard = sent !== undefined && (sent.attempts.length > 1 || sent.settled.how === 'found');
  const [current, isOnce] = await Promise.all([
    run.balance_after_cents === undefined ? read(balance.refresh()) : undefined,
    wasHard && read(readChargedOnce(sent, runs)),
  ]);
  // What was read may have a further run.
  const receipts = await known();
  const receipt = receipts.find(isReceipt);
  if (receipt?.settled.furtherRuns !== undefined) {
    const show = () => vscode.commands.executeCommand(`${VIEWS.runs}.focus`);
    notify(showWarning, chargedTwiceSentence(receipt, account), { [submissionMessages.showRuns()]: show });
    return receipt;
  }
  const before = receipt && estimateBefore(receipts, receipt);
  // The details of a found run have no currency, and the balance may have another one by now.
  const charged = { ...run, currency: run.currency ?? (receipt && currencyOf(receipt)) };
  const text = chargedSentence(charged, submissionName(draft), account, {
    balance: current,
    before,
    isFound,
    attempt: receipt?.settled.how === 'answered' ? receipt.attempts.length : 1,
    once: isOnce ? receipt : undefined,
  });
  const target = { accountId: account.id, id: run.run_id };
  const show = () => vscode.commands.executeCommand(COMMANDS.showRun, target);
  notify(showInformation, text, { [submissionMessages.showRun()]: show });
  return receipt;
}

/** Removes the notice of a charge once the user can have seen it: if the window is killed before, the next start reports it. */
async function removeOnceSeen(
  journal: Pick<Journal, 'removeNotice'>,
  receipt: ChargedReceipt | undefined,
): Promise<void> {
  if (receipt === undefined) return;
  await new Promise((resolve) => setTimeout(resolve, SEEN_MS).unref());
  await journal.removeNotice(receipt);
}

/** Notifies the user that the run of a submission was found, and so charged. Resolves once the user can have seen it. */
export type ReportFoundRun = (run: RunCreation, draft: Draft, session: Session) => Promise<void>;

/** Returns a function that reports each run once, since an automatic and a manual check can find the same run. */
export function foundRunReporter(journal: Pick<Journal, 'receipts' | 'removeNotice'>): ReportFoundRun {
  const reported = new Set<string>();
  return async (run, draft, session) => {
    const receipts = chargedReceiptsOf(await journal.receipts().catch(() => []), session.account.id);
    const receipt = receipts.find((one) => isRunOf(one, run.run_id));
    // A further run of the same submission is another fact.
    const runs = receipt === undefined ? [run] : runsOf(receipt.settled);
    const key = runs.map(({ run_id }) => run_id).join(' ');
    if (reported.has(key)) return;
    reported.add(key);
    await removeOnceSeen(journal, await reportCharged(run, draft, session, journal, true));
  };
}
