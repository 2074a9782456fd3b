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
import { formatMoney, formatPrice, inSandbox } from '../shared/format.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { survivedText, unexpectedPrice } from '../shared/priceText.ts';
import { notify, showInformation, showWarning } from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';
import { exceededSentence } from './budgetText.ts';

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
  const text = chargedText(charged, submissionName(draft), account, {
    balance: current,
    before,
    how,
    attempt: receipt?.settled.how === 'answered' ? receipt.attempts.length : 1,
    once: isOnce ? receipt : undefined,
    exceeded: (price) => receipt && exceededSentence(price, receipt, receipts, session),
  });
  const target = { accountId: account.id, id: run.run_id };
  const show = () => commands.executeCommand(COMMANDS.showRun, target);
  notify(showInformation, text, { [TERMS.showRun]: show });
  return receipt;
}

/** Records that a charge was shown, once the user can have seen it: if the window is killed before, the next start reports it. */
export async function setShownOnceSeen(
  journal: Pick<Journal, 'setShown'>,
  receipt: ChargedReceipt | undefined,
): Promise<void> {
  if (receipt === undefined) return;
  await new Promise((resolve) => setTimeout(resolve, SEEN_MS).unref());
  await journal.setShown(receipt);
}

/** Notifies the user that the run of a submission was found, and so charged. Resolves once the user can have seen it. */
export type ReportFoundRun = (run: RunCreation, draft: Draft, session: Session) => Promise<void>;

/** Returns a function that reports each run once, since an automatic and a manual check can find the same run. */
export function foundRunReporter(journal: Pick<Journal, 'receipts' | 'setShown'>): ReportFoundRun {
  const reported = new Set<string>();
  return async (run, draft, session) => {
    const receipts = chargedReceiptsOf(await journal.receipts().catch(() => []), session.account.id);
    const receipt = receipts.find((one) => isRunOf(one, run.run_id));
    // A further run of the same submission is another fact.
    const runs = receipt === undefined ? [run] : runsOf(receipt.settled);
    const key = runs.map(({ run_id }) => run_id).join(' ');
    if (reported.has(key)) return;
    reported.add(key);
    await setShownOnceSeen(journal, await reportCharged(run, draft, session, journal, 'found'));
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
  /** Says what it cost, if that exceeded a limit of the budget. */
  exceeded: (price: string | undefined) => string | undefined;
}

/** At most two sentences: what was submitted, and what it cost with what is then to be known first. */
function chargedText(
  { balance_after_cents: afterCents, currency, price_cents: cents }: RunCreation,
  name: string,
  account: Account,
  { attempt, balance, before, exceeded, how, once }: ChargeFacts,
): string {
  const isSandbox = account.kind === 'sandbox';
  const label = sanitizeServiceText(name);
  const known = currency ?? balance?.currency;
  const isAssumed = !isSandbox && cents !== undefined && currency === undefined;
  const price = isAssumed ? formatPrice(cents, known) : formatMoney(cents, known);
  const unexpected =
    isSandbox || cents === undefined ? undefined : before && unexpectedPrice(before, cents, known);
  const paid = isSandbox ? l10n.t('{0} of sandbox money', price) : (unexpected ?? price);
  const over = exceeded(cents === undefined ? undefined : paid);
  if (how === 'continued' && cents !== undefined && over === undefined)
    return isSandbox
      ? l10n.t('Sandbox: {0} was continued meanwhile: {1} of sandbox money.', label, price)
      : l10n.t('{0} was continued meanwhile: charged {1}.', label, price);
  const survived =
    over === undefined && cents !== undefined && once && !unexpected && survivedText(once, price, isSandbox);
  const costs = () => {
    if (cents === undefined) return l10n.t('Charged; its price isn’t known yet.');
    if (survived) return l10n.t('{0}.', survived);
    if (how === 'found')
      return isSandbox ? l10n.t('{0} of sandbox money.', price) : l10n.t('Charged {0}.', paid);
    const [leftCents, unit] =
      afterCents === undefined ? [balance?.balance_cents, balance?.currency] : [afterCents, known];
    return isSandbox
      ? l10n.t('{0} of sandbox money; {1} left.', price, formatMoney(leftCents))
      : l10n.t('Charged {0}; balance {1}.', paid, formatMoney(leftCents, unit));
  };
  return l10n.t('{0}. {1}', submittedPhrase(label, account, how, survived ? 1 : attempt), over ?? costs());
}

function submittedPhrase(
  label: string,
  { kind, name }: Pick<Account, 'kind' | 'name'>,
  how: LearnedBy,
  attempt: number,
): string {
  const isSandbox = kind === 'sandbox';
  if (how === 'continued') return inSandbox(l10n.t('{0} was continued meanwhile', label), isSandbox);
  const payer = sanitizeServiceText(name);
  if (how === 'found')
    return isSandbox
      ? l10n.t('Sandbox: {0} was submitted after all', label)
      : l10n.t('{0} was submitted to {1} after all', label, payer);
  if (attempt > 1)
    return isSandbox
      ? l10n.t('Sandbox: submitted {0} at attempt {1}', label, attempt)
      : l10n.t('Submitted {0} to {1} at attempt {2}', label, payer, attempt);
  return isSandbox ? l10n.t('Sandbox: submitted {0}', label) : l10n.t('Submitted {0} to {1}', label, payer);
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
