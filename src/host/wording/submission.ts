import * as vscode from 'vscode';
import type { RunCreation } from '../../api/types.ts';
import { ServiceError } from '../../api/errors.ts';
import { CancelledError } from '../../base/errors.ts';
import { COMMANDS } from '../ids.ts';
import { asText, explain } from './errors.ts';
import { formatMoney } from './format.ts';

export const submissionWords = {
  title: (fileName: string, accountName: string) =>
    vscode.l10n.t('Submitting {0} to {1}', fileName, accountName),
  preparing: () => vscode.l10n.t('Fine-Tuning: reading models and balance…'),
};

/** Tells what the run cost, with what the service did not tell called so. */
export function tellCharged(
  run: RunCreation,
  fileName: string,
  isSandbox: boolean,
  showRun: () => void,
): void {
  const { l10n } = vscode;
  const { price_cents, currency, plan_name, balance_after_cents } = run;
  const money = (cents: number | undefined) =>
    cents === undefined
      ? l10n.t('not told')
      : currency === undefined
        ? (cents / 100).toFixed(2)
        : formatMoney(cents, currency);
  const facts = l10n.t(
    '{0} was submitted and charged. Price: {1}. Plan: {2}. New balance: {3}.',
    fileName,
    money(price_cents),
    plan_name ?? l10n.t('not told'),
    money(balance_after_cents),
  );
  const show = l10n.t('Show Run');
  const text = isSandbox ? `${facts} ${l10n.t('Sandbox: nothing is trained and nothing was paid.')}` : facts;
  void vscode.window.showInformationMessage(text, show).then((choice) => {
    if (choice === show) showRun();
  });
}

/** Tells that nothing was charged, and why. @param again starts anew with the same file, model and label */
export function tellNotCharged(
  error: unknown,
  balance: { balance_cents: number; currency: string } | undefined,
  again: () => void,
): void {
  const { l10n } = vscode;
  const explanation = explain(error);
  const isTooLow =
    error instanceof ServiceError && error.code === 'insufficient_balance' && balance !== undefined;
  const have = isTooLow
    ? ` ${l10n.t('The balance is {0}.', formatMoney(balance.balance_cents, balance.currency))}`
    : '';
  // A refused API key has a notice of its own, which names the account.
  const action = explanation.action?.command === COMMANDS.replaceKey ? undefined : explanation.action;
  void vscode.window
    .showErrorMessage(
      `${l10n.t('Not submitted; nothing was charged.')} ${asText(explanation)}${have}`,
      ...(action === undefined ? [] : [action.title]),
    )
    .then((choice) => {
      if (choice === undefined || action === undefined) return;
      if (action.command === COMMANDS.submitDataset) again();
      else void vscode.commands.executeCommand(action.command);
    });
}

/** Tells that the outcome is not known. No plain retry is offered: it could be charged twice. */
export function tellUnknown(fileName: string, error: unknown): void {
  const { l10n } = vscode;
  const look = l10n.t('Look at Runs');
  void vscode.window
    .showWarningMessage(
      l10n.t(
        'It may have been charged: {0} was uploaded whole, and no answer came that says so. {1} Runs and balance are read again for a while; look there before you submit it again.',
        fileName,
        error instanceof CancelledError ? '' : asText(explain(error)),
      ),
      look,
    )
    .then((choice) => {
      if (choice === look) void vscode.commands.executeCommand(COMMANDS.refresh);
    });
}

/** Before a second submission of a file whose first one is open: whether it is meant. */
export async function confirmAnother(name: string, isUnknown: boolean): Promise<boolean> {
  const { l10n } = vscode;
  const all = l10n.t('Submit All the Same');
  const choice = await vscode.window.showWarningMessage(
    isUnknown
      ? l10n.t('{0} may have been charged already.', name)
      : l10n.t('{0} is being submitted already.', name),
    {
      modal: true,
      detail: l10n.t(
        'Another submission would be another run, with another charge. Compare the balance and the newest runs first.',
      ),
    },
    all,
  );
  return choice === all;
}

/** Whether to take a submission of unknown outcome off the list. */
export async function confirmDismiss(name: string): Promise<boolean> {
  const { l10n } = vscode;
  const dismiss = l10n.t('Take Off the List');
  const choice = await vscode.window.showWarningMessage(
    l10n.t('Take {0} off the list?', name),
    {
      modal: true,
      detail: l10n.t('It may have been charged. Compare the balance and the newest runs first.'),
    },
    dismiss,
  );
  return choice === dismiss;
}

export function tellNoModels(): void {
  void vscode.window.showWarningMessage(
    vscode.l10n.t(
      'The service names no model that is available at the moment. Nothing was submitted; try again later.',
    ),
  );
}
