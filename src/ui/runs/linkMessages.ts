import * as vscode from 'vscode';
import { COMMANDS } from '../shared/ids.ts';
import { pageWords } from './pageMessages.ts';
import { showWarning } from '../shared/notifications.ts';

/** A link named something else than the page of a run. Nothing of it is repeated: whoever made it, its words are not ours. */
export function tellStrangeLink(): void {
  void showWarning(
    vscode.l10n.t(
      'This link was not followed: links of Fine-Tuning open the page of a run, and do nothing else.',
    ),
  );
}

/** The active account has no run of that id. @param canSwitch whether there is another account */
export function tellNoSuchRun(accountName: string, runId: string, canSwitch: boolean): void {
  const switchAccount = pageWords.switchAccount();
  void showWarning(
    vscode.l10n.t('{0} has no such run: {1}', accountName, runId),
    ...(canSwitch ? [switchAccount] : []),
  ).then((choice) => {
    if (choice === switchAccount) void vscode.commands.executeCommand(COMMANDS.switchAccount);
  });
}

export function lookingForRun(): string {
  return vscode.l10n.t('Looking for the run…');
}
