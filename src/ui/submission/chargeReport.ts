import { setTimeout as delay } from 'node:timers/promises';
import { commands, l10n } from 'vscode';
import type { RunCreation } from '../../core/api/types.ts';
import { estimateBefore } from '../../core/money/estimate.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Journal } from '../../core/submission/journal.ts';
import { readRunsSince } from '../../core/submission/receipts.ts';
import {
  chargedReceiptsOf,
  isRunOf,
  runsOf,
  type ChargedReceipt,
  type Draft,
  type Submission,
} from '../../core/submission/submission.ts';
import { chargedText, severalRunsSentence, type LearnedBy } from '../shared/chargeText.ts';
import { inSandbox } from '../shared/format.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { notify, showInformation, showWarning } from '../shared/notifications.ts';
import { TERMS } from '../shared/terms.ts';
import { exceededSentence } from './budgetText.ts';

/** How long a notification of a charge waits for the balance. */
const READ_WAIT_MS = 5_000;
/** How long a notification of a charge must be visible. With the wait before it, less than `REPORTING_MS`. */
const SEEN_MS = 3_000;

/** @returns the receipt, as reported */
export async function showCharged(
  run: RunCreation,
  draft: Draft & Pick<Submission, 'id'>,
  session: Session,
  journal: Pick<Journal, 'receipts'>,
  how: LearnedBy,
): Promise<ChargedReceipt | undefined> {
  const { account, balance, runs } = session;
  const known = await journal.receipts().then(
    (all) => chargedReceiptsOf(all, account.id),
    () => undefined,
  );
  const receipt = known?.find((one) => isRunOf(one, run.run_id));
  if (receipt?.charge.furtherRuns !== undefined) {
    const show = () => commands.executeCommand(`${VIEWS.runs}.focus`);
    const text = inSandbox(severalRunsSentence(receipt), account.kind === 'sandbox');
    notify(showWarning, text, { [l10n.t('Show Runs')]: show });
    return receipt;
  }
  // A further run is linked, and reported, when it is read.
  if (receipt !== undefined && (receipt.attempts.length > 1 || receipt.charge.foundBy === 'found'))
    void readRunsSince(receipt, runs).catch(() => undefined);
  const wait = delay(READ_WAIT_MS, undefined, { ref: false });
  const current =
    run.balance_after_cents === undefined
      ? await Promise.race([balance.refresh().catch(() => undefined), wait])
      : undefined;
  const isUnrecorded = known !== undefined && receipt === undefined;
  const text = chargedText(run, draft, account, {
    balance: current,
    before: receipt && estimateBefore(known ?? [], receipt),
    how,
    receipt,
    isUnrecorded,
    exceeded: (price) => receipt && exceededSentence(price, receipt, known ?? [], session),
  });
  const target = { accountId: account.id, id: run.run_id };
  const show = () => commands.executeCommand(COMMANDS.showRun, target);
  notify(isUnrecorded ? showWarning : showInformation, text, { [TERMS.showRun]: show });
  return receipt;
}

/**
 * Records that a charge was shown, once it can have been seen: else the next window reports it. After a lost
 * connection, an extension host works on for hours, but its notifications reach nobody.
 */
export async function setShownOnceSeen(
  journal: Pick<Journal, 'setShown'>,
  receipt: ChargedReceipt | undefined,
): Promise<void> {
  if (receipt === undefined) return;
  // The window answers this after it has received the notification. An extension host alone gets no answer.
  const answered = Promise.resolve(commands.getCommands()).then(
    () => true,
    () => false,
  );
  await new Promise((resolve) => setTimeout(resolve, SEEN_MS).unref());
  // Don't wait: only an answer that has already come counts.
  if (!(await Promise.race([answered, Promise.resolve(false)]))) return;
  await journal.setShown(receipt);
}

/** Notifies the user of a charge whose run was found. Resolves when it can have been seen. */
export type ReportFoundRun = (
  run: RunCreation,
  draft: Draft & Pick<Submission, 'id'>,
  session: Session,
  how?: LearnedBy,
) => Promise<void>;

/** Returns a function that reports each run once: an automatic and a manual check may find the same one. */
export function foundRunReporter(journal: Pick<Journal, 'receipts' | 'setShown'>): ReportFoundRun {
  const reported = new Set<string>();
  return async (run, draft, session, how = 'found') => {
    const receipts = chargedReceiptsOf(await journal.receipts().catch(() => []), session.account.id);
    const receipt = receipts.find((one) => isRunOf(one, run.run_id));
    // A further run of the same submission is news.
    const runs = receipt === undefined ? [run] : runsOf(receipt.charge);
    const key = runs.map(({ run_id }) => run_id).join(' ');
    if (reported.has(key)) return;
    reported.add(key);
    await setShownOnceSeen(journal, await showCharged(run, draft, session, journal, how));
  };
}
