import { l10n, Uri } from 'vscode';
import type { AccountBudget } from '../../core/accounts/account.ts';
import { limitsText } from '../shared/moneyMessages.ts';
import { formatRuns } from '../shared/format.ts';
import { showError, showInformation } from '../shared/notifications.ts';
import { revealOf } from '../shared/openMessages.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';

/** The steps of setting a budget. */
export const budgetSteps = {
  title: (account: string) => l10n.t('Budget of {0}', sanitizeServiceText(account)),
  perRun: (currency: string) =>
    l10n.t('Limit per run in {0}. It only warns you.', sanitizeServiceText(currency)),
  perMonth: (currency: string) =>
    l10n.t('Limit per month (UTC) in {0}. It only warns you.', sanitizeServiceText(currency)),
  placeholder: () => l10n.t('No limit'),
};

/** @param budget undefined where it was removed */
export function notifyBudget(account: string, budget: AccountBudget | undefined): void {
  void showInformation(
    budget === undefined
      ? l10n.t('{0} has no budget.', account)
      : l10n.t('Budget of {0}: {1}. It warns you, but can’t stop a charge.', account, limitsText(budget)),
  );
}

/** The dialog that asks where to save an export. */
export const exportWords = {
  title: () => l10n.t('Export Spending'),
  fileName: (account: string, day: string) => l10n.t('spending of {0} {1}', account, day),
};

/** @param isWhole whether every run and price is known */
export function notifyExported(runs: number, isWhole: boolean, file: Uri): void {
  const sentence = l10n.t('Exported {0} to {1}.', formatRuns(runs), file.fsPath);
  const reveal = revealOf(file);
  const text = isWhole ? sentence : l10n.t('{0} Some runs or prices may be missing.', sentence);
  void showInformation(text, reveal.title).then((choice) => {
    if (choice === reveal.title) reveal.show();
  });
}

export function notifyNotExported(file: Uri): void {
  void showError(l10n.t('Couldn’t write {0}. Choose another folder.', file.fsPath));
}
