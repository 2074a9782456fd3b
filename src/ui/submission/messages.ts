import * as vscode from 'vscode';
import type { Balance, RunCreation } from '../../core/api/types.ts';
import { ServiceError } from '../../core/api/errors.ts';
import { CancelledError, ExpectedError } from '../../core/base/errors.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { asText, explain, type Explanation } from '../shared/serviceErrors.ts';
import { formatMoney, formatPrice } from '../shared/format.ts';
import { withSandboxNote } from '../shared/sandboxMessages.ts';
import { strangerText } from '../shared/strangerText.ts';
import { showError, showInformation, showWarning } from '../shared/notifications.ts';

/** Errors after which nothing checks by itself. */
const UNWATCHED: ReadonlySet<string> = new Set([
  'window-closed',
  'invalid_api_key',
  'key-missing',
  'key-rejected',
]);

export const submissionWords = {
  title: (fileName: string, accountName: string) =>
    vscode.l10n.t('Submitting {0} to {1}', fileName, accountName),
  preparing: () => vscode.l10n.t('Fine-Tuning: reading models and balance…'),
  checking: (fileName: string) => vscode.l10n.t('Checking whether {0} was charged', fileName),
};

/** The account that a submission is told with. */
interface PayingAccount {
  name: string;
  kind: 'service' | 'sandbox';
}

/**
 * Tells what the run cost, and what its account has now.
 * @param balance as it was read since, where the answer had none
 */
export function tellCharged(
  run: RunCreation,
  fileName: string,
  account: PayingAccount,
  balance: Balance | undefined,
  showRun: () => void,
): void {
  const { l10n } = vscode;
  const { price_cents, currency, plan_name, balance_after_cents } = run;
  const facts = l10n.t(
    '{0} was submitted and charged. Price: {1}. Plan: {2}. New balance of {3}: {4}.',
    fileName,
    price_cents === undefined
      ? l10n.t('not provided')
      : currency === undefined
        ? formatPrice(price_cents, balance?.currency)
        : formatMoney(price_cents, currency),
    plan_name === undefined ? l10n.t('not provided') : strangerText(plan_name),
    strangerText(account.name),
    balanceText(balance_after_cents ?? balance?.balance_cents, currency ?? balance?.currency),
  );
  offerRun(withSandboxNote(facts, account.kind === 'sandbox'), showRun);
}

function balanceText(cents: number | undefined, currency: string | undefined): string {
  return cents === undefined ? vscode.l10n.t('unknown') : formatMoney(cents, currency);
}

/**
 * Tells that a submission whose answer got lost was charged after all.
 * @param balance as it is now; only it names a currency
 */
export function tellFound(
  run: Pick<RunCreation, 'run_id' | 'price_cents'>,
  fileName: string,
  account: PayingAccount,
  balance: Balance | undefined,
  showRun: () => void,
): void {
  const { l10n } = vscode;
  const facts = l10n.t(
    '{0} was submitted and charged: its run was found. Price: {1}. Balance of {2}: {3}.',
    fileName,
    run.price_cents === undefined ? l10n.t('not provided') : formatPrice(run.price_cents, balance?.currency),
    account.name,
    balanceText(balance?.balance_cents, balance?.currency),
  );
  offerRun(withSandboxNote(facts, account.kind === 'sandbox'), showRun);
}

function offerRun(text: string, showRun: () => void): void {
  const show = vscode.l10n.t('Show Run');
  void showInformation(text, show).then((choice) => {
    if (choice === show) showRun();
  });
}

/** What can be done about a submission that did not become a run; each acts on the account of the submission. */
export interface SubmissionActions {
  /** Goes on with what is kept in the Runs view. */
  goOn: () => void;
  /** Starts anew with the same file, model and label. */
  again: () => void;
  run: (command: CommandId) => void;
}

/**
 * Tells that nothing was charged, and why.
 * @param fileName of the dataset: several can be under way
 * @param kept whether it stands in the Runs view, to be continued
 * @param balance as it is now, where it was too low
 */
export function tellNotCharged(
  fileName: string,
  error: unknown,
  kept: boolean,
  balance: Balance | undefined,
  isSandbox: boolean,
  actions: SubmissionActions,
): void {
  const { l10n } = vscode;
  const explanation = ofSubmission(error, isSandbox) ?? explain(error);
  // A refused API key has a notice of its own, which names the account.
  const action = explanation.action?.command === COMMANDS.replaceKey ? undefined : explanation.action;
  const buttons = new Map<string, () => void>();
  // Nothing is sent again by itself: the steps and the consents are gone through anew, or the person confirms.
  if (kept) buttons.set(l10n.t('Continue…'), actions.goOn);
  if (action !== undefined && action.command !== 'again') {
    const { command } = action;
    buttons.set(action.title, () => actions.run(command));
  } else if (action !== undefined && !kept) buttons.set(l10n.t('Submit Again…'), actions.again);
  const text = [
    l10n.t('{0} was not submitted; nothing was charged.', fileName),
    asText(explanation),
    ...(isTooLow(error) && balance !== undefined
      ? [l10n.t('The balance is {0}.', formatMoney(balance.balance_cents, balance.currency))]
      : []),
    ...(kept ? [l10n.t('The submission is kept in the Runs view.')] : []),
  ].join(' ');
  void showError(withSandboxNote(text, isSandbox), ...buttons.keys()).then((choice) =>
    buttons.get(choice ?? '')?.(),
  );
}

/** What helps a submission, where an error says more of it than of other requests. */
function ofSubmission(error: unknown, isSandbox: boolean): Explanation | undefined {
  const { l10n } = vscode;
  if (error instanceof ServiceError && error.code === 'validation_failed')
    return {
      ...explain(error),
      sentence: l10n.t('The service rejected the dataset or a setting as invalid.'),
      action: { title: l10n.t('Check Dataset'), command: COMMANDS.checkDataset },
    };
  // The sandbox has no dashboard.
  if (!isSandbox || !isTooLow(error)) return undefined;
  return {
    sentence: l10n.t(
      'The balance is too low for this run. The service does not tell the price. Add play money, then continue.',
    ),
    action: { title: l10n.t('Add Play Money…'), command: COMMANDS.sandboxAddFunds },
  };
}

function isConflict(error: unknown): boolean {
  return error instanceof ServiceError && error.httpStatus === 409;
}

/** Whether the service refused for the sake of the balance. */
export function isTooLow(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'insufficient_balance';
}

/** Tells that the outcome is not known. No plain retry is offered: what can be done stands beside what is known. */
export function tellUnknown(
  fileName: string,
  error: unknown,
  isSandbox: boolean,
  actions: { check: () => void; show: () => void },
): void {
  const { l10n } = vscode;
  const check = l10n.t('Check Now');
  const show = l10n.t('Show');
  const text = [
    l10n.t('{0} may have been charged: the service didn’t confirm it.', fileName),
    // A conflict is what the earlier attempts are the reason of: its words would only mislead.
    ...(error instanceof CancelledError || isConflict(error) ? [] : [asText(explain(error))]),
    ...(isWatched(error) ? [l10n.t('We’ll keep checking.')] : []),
  ].join(' ');
  void showWarning(withSandboxNote(text, isSandbox), check, show).then((choice) => {
    if (choice === check) actions.check();
    if (choice === show) actions.show();
  });
}

/** Whether it is still checked without being asked for: not after a day, and not while the API key is refused. */
function isWatched(error: unknown): boolean {
  return !(error instanceof ExpectedError && UNWATCHED.has(error.code));
}

/** Tells that nothing was sent from here. */
export function tellElsewhere(fileName: string): void {
  void showInformation(
    vscode.l10n.t(
      'Nothing was sent: the submission of {0} is open in another window or already resolved. See Runs.',
      fileName,
    ),
  );
}

/** Tells that a cancelled submission ended before anything could be charged. */
export function tellCancelled(fileName: string): void {
  void showInformation(vscode.l10n.t('{0} was not submitted; nothing was charged.', fileName));
}

/** Tells that a submission cannot be cancelled any more. */
export function tellTooLate(fileName: string): void {
  void showInformation(vscode.l10n.t('{0} is fully uploaded and can no longer be canceled.', fileName));
}

export function tellNoModels(): void {
  void showWarning(
    vscode.l10n.t(
      'The service names no model that is available at the moment. Nothing was submitted; try again later.',
    ),
  );
}
