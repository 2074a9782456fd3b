import * as vscode from 'vscode';
import type { RunCreation } from '../../api/types.ts';
import { ServiceError } from '../../api/errors.ts';
import { CancelledError } from '../../base/errors.ts';
import { COMMANDS, VIEWS, type CommandId } from '../ids.ts';
import { asText, explain } from './errors.ts';
import { formatMoney } from './format.ts';
import { withSandboxNote } from './sandbox.ts';

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
  const facts = l10n.t(
    '{0} was submitted and charged. Price: {1}. Plan: {2}. New balance: {3}.',
    fileName,
    formatMoney(price_cents, currency),
    plan_name ?? l10n.t('not told'),
    formatMoney(balance_after_cents, currency),
  );
  const show = l10n.t('Show Run');
  void vscode.window.showInformationMessage(withSandboxNote(facts, isSandbox), show).then((choice) => {
    if (choice === show) showRun();
  });
}

/**
 * Tells that nothing was charged, and why.
 * @param again starts anew with the same file, model and label
 * @param run runs a command for the account of the submission
 */
export function tellNotCharged(
  error: unknown,
  balance: { balance_cents: number; currency: string } | undefined,
  isSandbox: boolean,
  again: () => void,
  run: (command: CommandId) => void,
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
  // Nothing is sent again by itself: the steps and the consents are gone through anew.
  const title = action?.command === 'again' ? l10n.t('Submit Again…') : action?.title;
  const text = `${l10n.t('Not submitted; nothing was charged.')} ${asText(explanation)}${have}`;
  void vscode.window
    .showErrorMessage(withSandboxNote(text, isSandbox), ...(title === undefined ? [] : [title]))
    .then((choice) => {
      if (choice === undefined || action === undefined) return;
      if (action.command === 'again') again();
      else run(action.command);
    });
}

/** Tells that the outcome is not known. No plain retry is offered: it could be charged twice. */
export function tellUnknown(fileName: string, error: unknown, isSandbox: boolean, refresh: () => void): void {
  const { l10n } = vscode;
  const look = l10n.t('Look at Runs');
  void vscode.window
    .showWarningMessage(
      withSandboxNote(
        l10n.t(
          'It may have been charged: {0} was uploaded whole, and no answer came that says so. {1} Runs and balance are read again for a while; look there before you submit it again.',
          fileName,
          error instanceof CancelledError ? '' : asText(explain(error)),
        ),
        isSandbox,
      ),
      look,
    )
    .then((choice) => {
      if (choice !== look) return;
      void vscode.commands.executeCommand(`${VIEWS.runs}.focus`);
      refresh();
    });
}

/** Tells that a cancelled submission ended before anything could be charged. */
export function tellCancelled(fileName: string): void {
  void vscode.window.showInformationMessage(
    vscode.l10n.t('{0} was not submitted; nothing was charged.', fileName),
  );
}

/** Tells that a submission cannot be cancelled any more. */
export function tellTooLate(fileName: string): void {
  void vscode.window.showInformationMessage(
    vscode.l10n.t('{0} was uploaded whole: it cannot be cancelled any more.', fileName),
  );
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
