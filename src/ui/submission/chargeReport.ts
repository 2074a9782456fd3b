import { setTimeout as delay } from 'node:timers/promises';
import { commands, l10n } from 'vscode';
import type { RunCreation } from '../../core/api/types.ts';
import { currencyOf, estimateBefore } from '../../core/money/estimate.ts';
import type { Session } from '../../core/runs/session.ts';
import { readChargedOnce } from '../../core/submission/receipts.ts';
import {
  chargedReceiptsOf,
  isRunOf,
  runsOf,
  type ChargedReceipt,
  type Draft,
} from '../../core/submission/intent.ts';
import type { Journal } from '../../core/submission/journal.ts';
import { chargedText, chargedTwiceSentence, type LearnedBy } from '../shared/chargeText.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { notify, showInformation, showWarning } from '../shared/notifications.ts';
import { TERMS } from '../shared/terms.ts';
import { exceededSentence } from './budgetText.ts';

/** How long a notification of a charge waits for the balance and for the proof that there is one charge. */
const READ_WAIT_MS = 5_000;
/** How long a notification of a charge must be visible. With the wait before it, less than `REPORTING_MS`. */
const SEEN_MS = 3_000;

/** @returns the receipt, as reported */
export async function showCharged(
  run: RunCreation,
  draft: Draft,
  session: Session,
  journal: Pick<Journal, 'receipts'>,
  how: LearnedBy,
): Promise<ChargedReceipt | undefined> {
  const { account, balance, runs } = session;
  const read = <T>(what: Promise<T>) =>
    Promise.race([what.catch(() => undefined), delay(READ_WAIT_MS, undefined, { ref: false })]);
  const known = async () => chargedReceiptsOf(await journal.receipts().catch(() => []), account.id);
  const isReceipt = (one: ChargedReceipt) => isRunOf(one, run.run_id);
  const sent = (await known()).find(isReceipt);
  const wasHard = sent !== undefined && (sent.attempts.length > 1 || sent.settled.foundBy === 'found');
  const [current, isProvenOnce] = await Promise.all([
    run.balance_after_cents === undefined ? read(balance.refresh()) : undefined,
    wasHard && read(readChargedOnce(sent, runs)),
  ]);
  // The read may have found a further run.
  const receipts = await known();
  const receipt = receipts.find(isReceipt);
  if (receipt?.settled.furtherRuns !== undefined) {
    const show = () => commands.executeCommand(`${VIEWS.runs}.focus`);
    notify(showWarning, chargedTwiceSentence(receipt, account), { [l10n.t('Show Runs')]: show });
    return receipt;
  }
  const before = receipt && estimateBefore(receipts, receipt);
  // The details of a found run have no currency, and the balance's may have changed since.
  const charged = { ...run, currency: run.currency ?? (receipt && currencyOf(receipt)) };
  const text = chargedText(charged, draft, account, {
    balance: current,
    before,
    how,
    receipt,
    isProvenOnce: isProvenOnce === true,
    exceeded: (price) => receipt && exceededSentence(price, receipt, receipts, session),
  });
  const target = { accountId: account.id, id: run.run_id };
  const show = () => commands.executeCommand(COMMANDS.showRun, target);
  notify(showInformation, text, { [TERMS.showRun]: show });
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
  // The window answers this after it has got the notification. An extension host alone never gets an answer.
  const answered = Promise.resolve(commands.getCommands()).then(
    () => true,
    () => false,
  );
  await new Promise((resolve) => setTimeout(resolve, SEEN_MS).unref());
  // Of what has been answered by now.
  if (await Promise.race([answered, Promise.resolve(false)])) await journal.setShown(receipt);
}

/** Notifies the user of a charge whose run was found. Resolves when it can have been seen. */
export type ReportFoundRun = (
  run: RunCreation,
  draft: Draft,
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
    const runs = receipt === undefined ? [run] : runsOf(receipt.settled);
    const key = runs.map(({ run_id }) => run_id).join(' ');
    if (reported.has(key)) return;
    reported.add(key);
    await setShownOnceSeen(journal, await showCharged(run, draft, session, journal, how));
  };
}
