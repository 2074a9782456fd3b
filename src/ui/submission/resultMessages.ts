import * as vscode from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import { NetworkError, ServiceError, UnexpectedAnswerError } from '../../core/api/errors.ts';
import type { Balance, RunCreation } from '../../core/api/types.ts';
import { CancelledError, ExpectedError } from '../../core/base/errors.ts';
import { mayBeCharged, type Draft } from '../../core/submission/intent.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { formatCount, formatMoney, formatPrice, withSandboxNote } from '../shared/format.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { showWarning } from '../shared/notifications.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { stateText, submissionName } from './rowMessages.ts';

/** Buttons, and sentences with nothing to decide. */
export const submissionMessages = {
  submitting: (fileName: string, accountName: string) =>
    vscode.l10n.t('Submitting {0} to {1}', fileName, accountName),
  elsewhere: (name: string) =>
    vscode.l10n.t('Nothing was sent: {0} is resolved or open in another window.', name),
  canceled: (fileName: string) => vscode.l10n.t('Not charged: the upload of {0} was canceled.', fileName),
  showRun: () => vscode.l10n.t('Show Run'),
  checkNow: () => vscode.l10n.t('Check Now'),
  continue: () => vscode.l10n.t('Continue…'),
  resend: () => vscode.l10n.t('Resend…'),
};

/** What is known of the money, in a sentence. */
export function moneySentence(submission: PendingSubmission, nowMs: number): string {
  const { l10n } = vscode;
  const { intent, state } = submission;
  switch (state) {
    case 'unsent':
      return l10n.t('Not charged: the upload wasn’t completed.');
    case 'not-charged':
      return l10n.t('Not charged: two checks found no such run and no lower balance.');
    case 'unknown':
      return intent.attempts.at(-1)?.code === 'cancelled'
        ? l10n.t('You may have been charged: you canceled after the upload finished.')
        : l10n.t('You may have been charged: the service didn’t confirm it.');
    case 'refused':
      return stateText(submission, nowMs);
    // What this window last read may be older than what the other one did.
    case 'elsewhere':
      return mayBeCharged(intent)
        ? l10n.t('You may have been charged. Continue in the other window.')
        : l10n.t('Open in another window. Continue there.');
    default:
      return mayBeCharged(intent)
        ? l10n.t('You may have been charged. {0}', stateText(submission, nowMs))
        : l10n.t('Not charged so far. {0}', stateText(submission, nowMs));
  }
}

/** @param balance after the charge, if it is known; only it names the currency of a run that was found later */
export function chargedSentence(
  { balance_after_cents, currency, price_cents }: RunCreation,
  name: string,
  account: Account,
  balance: Balance | undefined,
  isFound: boolean,
): string {
  const { l10n } = vscode;
  const cents = balance_after_cents ?? balance?.balance_cents;
  const price =
    price_cents === undefined
      ? l10n.t('an unknown amount')
      : currency === undefined
        ? formatPrice(price_cents, balance?.currency)
        : formatMoney(price_cents, currency);
  const values = [
    name,
    sanitizeServiceText(account.name),
    price,
    cents === undefined ? l10n.t('unknown') : formatMoney(cents, currency ?? balance?.currency),
  ];
  const text = isFound
    ? l10n.t('{0} was submitted to {1} after all. You were charged {2}; balance {3}.', ...values)
    : l10n.t('Submitted {0} to {1}. You were charged {2}; balance {3}.', ...values);
  return withSandboxNote(text, account.kind === 'sandbox');
}

/**
 * A notification and its buttons, each with the command that it runs; `again` starts from the first question.
 * @param isKept whether it is still in the Runs view, to be continued
 */
export function notChargedNotification(
  error: unknown,
  draft: Draft,
  modelName: string,
  account: Account,
  isKept: boolean,
): { text: string; buttons: ReadonlyMap<string, CommandId | 'again'> } {
  const { l10n } = vscode;
  const { filename } = draft.dataset;
  const buttons = new Map<string, CommandId | 'again'>();
  const isSandbox = account.kind === 'sandbox';
  const explanation = explain(error);
  const { action } = explanation;
  let sentence: string;
  switch (error instanceof ServiceError ? error.code : undefined) {
    case 'insufficient_balance':
      sentence = l10n.t(
        'Not charged: the balance of {0} is too low for {1}. Add funds, then continue.',
        account.name,
        submissionName(draft),
      );
      if (isSandbox) buttons.set(l10n.t('Add Sandbox Funds'), COMMANDS.sandboxAddFunds);
      break;
    case 'validation_failed':
      sentence = asText({
        ...explanation,
        sentence: l10n.t('Not charged: the service rejected {0} as invalid.', filename),
      });
      buttons.set(l10n.t('Check Dataset'), COMMANDS.checkDataset);
      break;
    case 'model_not_available':
      sentence = l10n.t('Not charged: {0} isn’t available.', sanitizeServiceText(modelName));
      break;
    // Another notification asks for a new API key.
    case 'invalid_api_key':
      sentence = l10n.t('Not charged: the service rejected the API key of {0}.', account.name);
      break;
    case 'consent_required':
      sentence = l10n.t(
        'Not charged: the service rejected the submission of {0}. {1}',
        filename,
        asText(explanation),
      );
      break;
    default:
      sentence = l10n.t('Not charged: the upload of {0} failed. {1}', filename, asText(explanation));
      if (action.command !== 'again' && action.command !== COMMANDS.replaceKey)
        buttons.set(action.title, action.command);
  }
  if (isKept) buttons.set(submissionMessages.continue(), COMMANDS.resolveSubmission);
  else if (action.command === 'again') buttons.set(l10n.t('Submit Again…'), 'again');
  return { text: withSandboxNote(sentence, isSandbox), buttons };
}

/** The answer was lost: how says nothing about the charge. */
const UNINFORMATIVE = [CancelledError, NetworkError, UnexpectedAnswerError] as const;

/** Names the reason only if it keeps the user from resending, or the extension from checking. */
export function mayBeChargedSentence(name: string, error: unknown, isSandbox: boolean): string {
  const { l10n } = vscode;
  const isReason =
    error instanceof ServiceError
      ? error.code === 'invalid_api_key'
      : error instanceof ExpectedError && !UNINFORMATIVE.some((type) => error instanceof type);
  const text = l10n.t(
    'You may have been charged for {0}: the service didn’t confirm it. {1}',
    name,
    isReason ? asText(explain(error)) : l10n.t('The extension keeps checking.'),
  );
  return withSandboxNote(text, isSandbox);
}

export function noChargeFoundSentence(name: string, isSandbox: boolean): string {
  const text = vscode.l10n.t('Not charged for {0}: two checks found no such run and no lower balance.', name);
  return withSandboxNote(text, isSandbox);
}

/** What an earlier window left open: one submission, or several. */
export function leftOpenSentence(
  [first, ...others]: readonly [PendingSubmission, ...PendingSubmission[]],
  isUnknown: boolean,
  isSandbox: boolean,
): string {
  const { l10n } = vscode;
  const { intent } = first;
  const count = formatCount(others.length + 1);
  const text =
    others.length === 0
      ? isUnknown
        ? l10n.t('You may have been charged for {0}: the service didn’t confirm it.', submissionName(intent))
        : l10n.t('Not charged: the upload of {0} was interrupted.', intent.dataset.filename)
      : isUnknown
        ? l10n.t('You may have been charged for {0} submissions: the service didn’t confirm them.', count)
        : l10n.t('Not charged: {0} uploads were interrupted.', count);
  return withSandboxNote(text, isSandbox);
}

/** A file of the journal that could not be read, or was set aside: nothing of it was deleted. */
export function notifyUnreadableRecord(file: string): void {
  void showWarning(
    vscode.l10n.t(
      'A submission record can’t be read. You may have been charged for it: compare your balance and runs. File: {0}',
      file,
    ),
  );
}
