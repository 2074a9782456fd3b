import { commands, l10n, Uri } from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import { NetworkError, ServiceError, UnexpectedAnswerError } from '../../core/api/errors.ts';
import type { Balance, RunCreation } from '../../core/api/types.ts';
import { CancelledError, ExpectedError } from '../../core/base/errors.ts';
import type { Estimate } from '../../core/money/estimate.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import { KeyMissingError, KeyRejectedError, type Session } from '../../core/runs/session.ts';
import { SubmissionError } from '../../core/submission/errors.ts';
import {
  lacksEnd,
  runsOf,
  submissionName,
  type Receipt,
  type ChargedReceipt,
  type Draft,
  type Intent,
} from '../../core/submission/intent.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { isCheckedAutomatically } from '../../core/submission/reconcilePolicy.ts';
import { revealOf, websiteLink } from '../shared/open.ts';
import { formatCount, formatMoney, formatPrice, inSandbox } from '../shared/format.ts';
import { COMMANDS, VIEWS, type CommandId } from '../shared/ids.ts';
import { notify, showWarning } from '../shared/notifications.ts';
import { survivedText, unexpectedPrice } from '../shared/priceText.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';
import { moneySentence } from './submissionMoney.ts';

/** Buttons and simple sentences. */
export const submissionMessages = {
  submitting: (fileName: string, accountName: string) =>
    l10n.t('Submitting {0} to {1}', fileName, accountName),
  canceled: (fileName: string, isSandbox: boolean) =>
    inSandbox(
      l10n.t('Not charged: the upload of {0} was canceled.', sanitizeServiceText(fileName)),
      isSandbox,
    ),
  showRun: () => TERMS.showRun,
  showRuns: () => l10n.t('Show Runs'),
  checkNow: () => l10n.t('Check Now'),
  continue: () => l10n.t('Continue…'),
  resend: () => l10n.t('Resend…'),
  resending: () =>
    l10n.t('Resending sends the same request ID; the service documents that this prevents a second charge.'),
};

/** What is known of a charge besides its run. */
export interface ChargeFacts {
  /** After the charge, if known; the only source of the currency of a run that was found later. */
  balance: Balance | undefined;
  /** The estimate before the charge. */
  before: Estimate | undefined;
  isFound: boolean;
  /** The attempt that was answered, from 1. */
  attempt: number;
  /** Its receipt, if the runs prove that it was charged once. */
  once: ChargedReceipt | undefined;
}

/** The sentence about a submission that this window could not act on. A charge is reported as a charge. */
export function endSentence(
  receipt: Receipt | undefined,
  open: PendingSubmission | undefined,
  nowMs: number,
): string {
  const intent = receipt ?? open?.intent;
  const name = intent && sanitizeServiceText(submissionName(intent));
  const text = () => {
    if (name === undefined) return undefined;
    if (receipt === undefined) return open && l10n.t('{0}: {1}', name, moneySentence(open, nowMs));
    if (receipt.settled.kind === 'discarded')
      return l10n.t('You may have been charged for {0}: the submission was discarded.', name);
    if (receipt.settled.kind === 'charged') return undefined;
    return lacksEnd(receipt)
      ? l10n.t(
          'Not charged, as far as this machine knows: the submission of {0} was canceled or discarded.',
          name,
        )
      : l10n.t('Not charged: the submission of {0} was canceled or discarded.', name);
  };
  const sentence = text() ?? l10n.t('This submission is already resolved.');
  return inSandbox(sentence, intent?.origin === 'sandbox');
}

export function chargedSentence(
  { balance_after_cents, currency, price_cents }: RunCreation,
  name: string,
  account: Account,
  { attempt, balance, before, isFound, once }: ChargeFacts,
): string {
  const cents = balance_after_cents ?? balance?.balance_cents;
  const known = currency ?? balance?.currency;
  const label = sanitizeServiceText(name);
  if (account.kind === 'sandbox') {
    const price = formatMoney(price_cents, known);
    const survived = once && survivedText(once, price, true);
    if (survived !== undefined)
      return isFound
        ? l10n.t('Sandbox: {0} was submitted after all. {1}.', label, survived)
        : l10n.t('Sandbox: submitted {0}. {1}.', label, survived);
    if (isFound) return l10n.t('Sandbox: {0} was submitted after all. {1} of sandbox money.', label, price);
    const money = [price, formatMoney(cents)];
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
    price_cents === undefined
      ? l10n.t('an unknown amount')
      : currency === undefined
        ? formatPrice(price_cents, balance?.currency)
        : formatMoney(price_cents, currency);
  const values = [label, sanitizeServiceText(account.name)];
  const survived = once && !unexpected && survivedText(once, price, false);
  if (survived)
    return isFound
      ? l10n.t('{0} was submitted to {1} after all. {2}.', ...values, survived)
      : l10n.t('Submitted {0} to {1}. {2}.', ...values, survived);
  if (isFound)
    return l10n.t('{0} was submitted to {1} after all. Charged {2}.', ...values, unexpected || price);
  const money = [unexpected || price, formatMoney(cents, known)];
  return attempt > 1
    ? l10n.t('Submitted {0} to {1} at attempt {2}. Charged {3}; balance {4}.', ...values, attempt, ...money)
    : l10n.t('Submitted {0} to {1}. Charged {2}; balance {3}.', ...values, ...money);
}

/** The sentence about a submission with several runs: the service charged more than once, or may have. */
export function chargedTwiceSentence({ settled, ...draft }: ChargedReceipt, account: Account): string {
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

/**
 * The notification about a submission that was not charged: its text, and its buttons with their actions.
 * @param isKept whether the submission is still in the Runs view and can be continued
 */
export function notChargedNotification(
  error: unknown,
  id: string,
  draft: Draft,
  { account, models }: Pick<Session, 'account' | 'models'>,
  isKept: boolean,
  ensureActiveAccount: (accountId: string) => Promise<boolean>,
): { text: string; buttons: Record<string, () => unknown> } {
  const filename = sanitizeServiceText(draft.dataset.filename);
  const accountName = sanitizeServiceText(account.name);
  const buttons: Record<string, () => unknown> = {};
  const isSandbox = account.kind === 'sandbox';
  const explanation = explain(error);
  const { action } = explanation;
  const file = Uri.file(draft.dataset.path);
  const go = (command: CommandId, ...args: unknown[]) => commands.executeCommand(command, ...args);
  // The account may have been switched since the notification appeared.
  const goInAccount = async (command: CommandId, ...args: unknown[]) => {
    if (await ensureActiveAccount(account.id)) await go(command, ...args);
  };
  const addContinue = () => {
    if (isKept) buttons[submissionMessages.continue()] = () => go(COMMANDS.continueSubmission, id);
    else if (action.command === 'again')
      buttons[TERMS.submitAgain] = () =>
        goInAccount(COMMANDS.submitDataset, file, undefined, presetOf(draft));
  };
  const isMissing = error instanceof KeyMissingError;
  const isKeyRejected = isMissing || error instanceof KeyRejectedError;
  const code = error instanceof ServiceError ? error.code : undefined;
  const website = websiteLink(account);
  let sentence: string;
  switch (isKeyRejected ? 'invalid_api_key' : code) {
    case 'insufficient_balance':
      sentence = l10n.t(
        'Not charged: the balance of {0} is too low for {1}. Add funds, then continue.',
        accountName,
        sanitizeServiceText(submissionName(draft)),
      );
      if (isSandbox) buttons[TERMS.addSandboxFunds] = () => goInAccount(COMMANDS.sandboxAddFunds);
      else if (website !== undefined) buttons[website.title] = website.open;
      addContinue();
      break;
    case 'validation_failed':
      sentence = asText({
        ...explanation,
        sentence: l10n.t('Not charged: the service rejected {0} as invalid.', filename),
      });
      buttons[TERMS.checkDataset] = () => go(COMMANDS.checkDataset, file);
      break;
    case 'model_not_available': {
      const modelName = sanitizeServiceText(models.nameOf(draft.model_id));
      sentence = l10n.t('Not charged: {0} isn’t available.', modelName);
      addContinue();
      break;
    }
    case 'invalid_api_key':
      sentence = isMissing
        ? l10n.t(
            'Not charged: the API key of {0} is not on this machine. Enter it, then continue {1}.',
            accountName,
            filename,
          )
        : l10n.t(
            'Not charged: the service rejected the API key of {0}. Replace it, then continue {1}.',
            accountName,
            filename,
          );
      buttons[action.title] = () => go(COMMANDS.replaceKey, account.id);
      break;
    case 'consent_required':
      sentence = l10n.t(
        'Not charged: the service rejected the submission of {0}. {1}',
        filename,
        asText(explanation),
      );
      addContinue();
      break;
    default:
      sentence = l10n.t('Not charged: the upload of {0} failed. {1}', filename, asText(explanation));
      addContinue();
      if (error instanceof SubmissionError && error.file !== undefined) {
        const { title, show } = revealOf(Uri.file(error.file));
        buttons[title] = show;
      }
      buttons[TERMS.showLog] = () => go(COMMANDS.showLog);
  }
  return { text: inSandbox(sentence, isSandbox), buttons };
}

/** The choices of an earlier submission, which a new one starts with. */
export function presetOf({ model_id, label = '', priority_processing }: Draft) {
  return { modelId: model_id, label: withoutMarker(label), priority: priority_processing };
}

/** Errors that mean a lost response. How it was lost says nothing about the charge. */
const UNINFORMATIVE = [CancelledError, NetworkError, UnexpectedAnswerError] as const;

/** Whether automatic checks follow, or what prevents them; undefined after the last one. */
function checkingText({ state }: Pick<Session, 'state'>, intents: readonly Intent[]): string | undefined {
  if (state === 'key-rejected') return asText(explain(new KeyRejectedError()));
  if (state === 'key-missing') return asText(explain(new KeyMissingError()));
  const nowMs = Date.now();
  const isChecked = intents.every((intent) => isCheckedAutomatically(intent, nowMs));
  return isChecked ? l10n.t('We’ll keep checking.') : undefined;
}

/**
 * Gives the reason only if it prevents the user from resending, or the extension from checking.
 * @param intent undefined if it has been resolved meanwhile
 */
export function mayBeChargedSentence(
  draft: Draft,
  intent: Intent | undefined,
  error: unknown,
  session: Pick<Session, 'account' | 'state'>,
): string {
  const isReason =
    error instanceof ServiceError
      ? error.code === 'invalid_api_key'
      : error instanceof ExpectedError && !UNINFORMATIVE.some((type) => error instanceof type);
  const known = intent && checkingText(session, [intent]);
  return unconfirmedSentence([draft], isReason ? asText(explain(error)) : known, session);
}

function unconfirmedSentence(
  [first, ...others]: readonly [Draft, ...Draft[]],
  rest: string | undefined,
  { account }: Pick<Session, 'account'>,
): string {
  const text =
    others.length === 0
      ? l10n.t(
          'You may have been charged for {0}: the service didn’t confirm it.',
          sanitizeServiceText(submissionName(first)),
        )
      : l10n.t(
          'You may have been charged for {0} submissions: the service didn’t confirm them.',
          formatCount(others.length + 1),
        );
  return inSandbox(rest === undefined ? text : `${text} ${rest}`, account.kind === 'sandbox');
}

/** @param id undefined if there are several, so that the user chooses */
export function warnMayBeCharged(text: string, id: string | undefined): void {
  notify(showWarning, text, {
    [submissionMessages.checkNow()]: () => commands.executeCommand(COMMANDS.resolveSubmission, id),
    [TERMS.show]: () => commands.executeCommand(`${VIEWS.runs}.focus`),
  });
}

export function noChargeFoundSentence({ lastCheck, ...draft }: Intent, isSandbox: boolean): string {
  const name = sanitizeServiceText(submissionName(draft));
  const text = lastCheck?.explained
    ? l10n.t(
        'Not charged for {0}: two checks found no such run, and your other runs explain the lower balance.',
        name,
      )
    : l10n.t('Not charged for {0}: two checks found no such run and no lower balance.', name);
  return inSandbox(text, isSandbox);
}

/** The sentence about one or more submissions that an earlier window left open. */
export function leftOpenSentence(
  intents: readonly [Intent, ...Intent[]],
  isUnknown: boolean,
  session: Pick<Session, 'account' | 'state'>,
): string {
  if (isUnknown) return unconfirmedSentence(intents, checkingText(session, intents), session);
  const [{ dataset }, ...others] = intents;
  const text =
    others.length === 0
      ? l10n.t(
          'Not charged, as far as this machine knows: the upload of {0} was interrupted.',
          sanitizeServiceText(dataset.filename),
        )
      : l10n.t(
          'Not charged, as far as this machine knows: {0} uploads were interrupted.',
          formatCount(intents.length),
        );
  return inSandbox(text, session.account.kind === 'sandbox');
}
