import { setTimeout as delay } from 'node:timers/promises';
import { commands, l10n } from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import type { Balance, RunCreation } from '../../core/api/types.ts';
import { currencyOf, estimateBefore, type Estimate } from '../../core/money/estimate.ts';
import type { Session } from '../../core/runs/session.ts';
import { readChargedOnce } from '../../core/submission/chargedOnce.ts';
import {
  chargedReceiptsOf,
  isRunOf,
  runsOf,
  submissionName,
  type ChargedReceipt,
  type Draft,
} from '../../core/submission/intent.ts';
import type { Journal } from '../../core/submission/journal.ts';
import { compact, formatMoney, formatPrice, inSandbox } from '../shared/format.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { survivedText, unexpectedPrice } from '../shared/priceText.ts';
import { notify, showInformation, showWarning } from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';
import { exceededText } from './budgetText.ts';

/** How long a notification of a charge waits for the balance, and for the proof that there is one charge. */
const READ_WAIT_MS = 5_000;
/** How long a notification of a charge must be visible. With the wait for what is read, less than `REPORTING_MS`. */
const SEEN_MS = 3_000;

/**
 * How the user learns of a charge: from its response, from a check, which reveals less about it, or `continued`: when they act on
 * a submission that has been charged since.
 */
export type LearnedBy = 'answered' | 'found' | 'continued';

/** @returns the receipt, as reported */
export async function reportCharged(
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
  const wasHard = sent !== undefined && (sent.attempts.length > 1 || sent.settled.how === 'found');
  const [current, isOnce] = await Promise.all([
    run.balance_after_cents === undefined ? read(balance.refresh()) : undefined,
    wasHard && read(readChargedOnce(sent, runs)),
  ]);
  // What was read may have a further run.
  const receipts = await known();
  const receipt = receipts.find(isReceipt);
  if (receipt?.settled.furtherRuns !== undefined) {
    const show = () => commands.executeCommand(`${VIEWS.runs}.focus`);
    notify(showWarning, chargedTwiceSentence(receipt, account), { [l10n.t('Show Runs')]: show });
    return receipt;
  }
  const before = receipt && estimateBefore(receipts, receipt);
  // The details of a found run have no currency, and the balance may have another one by now.
  const charged = { ...run, currency: run.currency ?? (receipt && currencyOf(receipt)) };
  const text = chargedSentence(charged, submissionName(draft), account, {
    balance: current,
    before,
    how,
    attempt: receipt?.settled.how === 'answered' ? receipt.attempts.length : 1,
    once: isOnce ? receipt : undefined,
  });
  const target = { accountId: account.id, id: run.run_id };
  const show = () => commands.executeCommand(COMMANDS.showRun, target);
  const exceeded = receipt && exceededText(receipt, receipts, session);
  notify(showInformation, compact(text, exceeded).join(' '), { [TERMS.showRun]: show });
  return receipt;
}

/** Removes the notice of a charge once the user can have seen it: if the window is killed before, the next start reports it. */
export async function removeOnceSeen(
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
    await removeOnceSeen(journal, await reportCharged(run, draft, session, journal, 'found'));
  };
}

/** What is known of a charge besides its run. */
interface ChargeFacts {
  /** After the charge, if known; the only source of the currency of a run that was found later. */
  balance: Balance | undefined;
  /** The estimate before the charge. */
  before: Estimate | undefined;
  how: LearnedBy;
  /** The attempt that was answered, from 1. */
  attempt: number;
  /** Its receipt, if the runs prove that it was charged once. */
  once: ChargedReceipt | undefined;
}

function chargedSentence(
  { balance_after_cents, currency, price_cents }: RunCreation,
  name: string,
  account: Account,
  { attempt, balance, before, how, once }: ChargeFacts,
): string {
  const isFound = how === 'found';
  const known = currency ?? balance?.currency;
  const left =
    balance_after_cents === undefined
      ? (balance ?? {})
      : { balance_cents: balance_after_cents, currency: known };
  const label = sanitizeServiceText(name);
  const unpriced = price_cents === undefined && l10n.t('Charged; its price isn’t known yet');
  if (how === 'continued' && unpriced)
    return inSandbox(
      l10n.t('{0} was continued meanwhile. {1}.', label, unpriced),
      account.kind === 'sandbox',
    );
  if (account.kind === 'sandbox') {
    const price = formatMoney(price_cents, known);
    const survived = unpriced || (once && survivedText(once, price, true));
    if (how === 'continued')
      return l10n.t('Sandbox: {0} was continued meanwhile: {1} of sandbox money.', label, price);
    if (survived)
      return isFound
        ? l10n.t('Sandbox: {0} was submitted after all. {1}.', label, survived)
        : l10n.t('Sandbox: submitted {0}. {1}.', label, survived);
    if (isFound) return l10n.t('Sandbox: {0} was submitted after all. {1} of sandbox money.', label, price);
    const money = [price, formatMoney(left.balance_cents)];
    return attempt > 1
      ? l10n.t(
          'Sandbox: submitted {0} at attempt {1}. {2} of sandbox money; {3} left.',
          label,
          attempt,
          ...money,
        )
      : l10n.t('Sandbox: submitted {0}. {1} of sandbox money; {2} left.', label, ...money);
  }
  const unexpected = price_cents !== undefined && before && unexpectedPrice(before, price_cents, known);
  const price =
    price_cents !== undefined && currency === undefined
      ? formatPrice(price_cents, balance?.currency)
      : formatMoney(price_cents, currency);
  if (how === 'continued') return l10n.t('{0} was continued meanwhile: charged {1}.', label, price);
  const values = [label, sanitizeServiceText(account.name)];
  const survived = unpriced || (once && !unexpected && survivedText(once, price, false));
  if (survived)
    return isFound
      ? l10n.t('{0} was submitted to {1} after all. {2}.', ...values, survived)
      : l10n.t('Submitted {0} to {1}. {2}.', ...values, survived);
  if (isFound)
    return l10n.t('{0} was submitted to {1} after all. Charged {2}.', ...values, unexpected || price);
  const money = [unexpected || price, formatMoney(left.balance_cents, left.currency)];
  return attempt > 1
    ? l10n.t('Submitted {0} to {1} at attempt {2}. Charged {3}; balance {4}.', ...values, attempt, ...money)
    : l10n.t('Submitted {0} to {1}. Charged {2}; balance {3}.', ...values, ...money);
}

/** The sentence about a submission with several runs: the service charged more than once, or may have. */
function chargedTwiceSentence({ settled, ...draft }: ChargedReceipt, account: Account): string {
  const runs = runsOf(settled);
  const isKnown = runs.every(({ price_cents = 0 }) => price_cents > 0);
  const values = [
    sanitizeServiceText(submissionName(draft)),
    sanitizeServiceText(runs.map(({ run_id }) => run_id).join(', '), 100),
  ];
  const text = isKnown
    ? l10n.t('Charged twice for {0}: {1}. Contact the service.', ...values)
    : l10n.t('Two runs have the marker of {0}: {1}. You may have been charged twice.', ...values);
  return inSandbox(text, account.kind === 'sandbox');
}
