import * as vscode from 'vscode';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { strangerText } from '../shared/strangerText.ts';
import { showError, showInformation, showWarning } from '../shared/notifications.ts';

/** What is told once when an account's API key is no good. */
export function keyNotice(
  accountName: string,
  state: 'key-rejected' | 'key-missing',
): { sentence: string; replace: string } {
  const { l10n } = vscode;
  return state === 'key-rejected'
    ? {
        sentence: l10n.t(
          'The service does not accept the API key of {0} any more. Nothing is asked of it until there is another one.',
          accountName,
        ),
        replace: l10n.t('Replace API Key…'),
      }
    : {
        sentence: l10n.t('The API key of {0} is not on this machine.', accountName),
        replace: l10n.t('Enter API Key…'),
      };
}

/** Words of accounts that are no sentence of a dialog. */
export const accountWords = {
  sandboxName: () => vscode.l10n.t('Sandbox'),
  sandboxDescription: () => vscode.l10n.t('nothing is trained, nothing is paid'),
  active: () => vscode.l10n.t('active'),
  signIn: () => vscode.l10n.t('Sign In to Another Account…'),
  firstSignIn: () => vscode.l10n.t('Sign In…'),
  useSandbox: () => vscode.l10n.t('Use the Sandbox'),
  replaceKey: () => vscode.l10n.t('Replace API Key…'),
  signOut: () => vscode.l10n.t('Sign Out…'),
  refreshBalance: () => vscode.l10n.t('Refresh Balance'),
  addFunds: () => vscode.l10n.t('Add Play Money…'),
  scenario: () => vscode.l10n.t('Sandbox Scenario…'),
  clockSpeed: () => vscode.l10n.t('Sandbox Clock Speed…'),
  reset: () => vscode.l10n.t('Reset Sandbox…'),
  tryingKey: () => vscode.l10n.t('Trying the API key…'),
};

export function tellSignedIn(name: string): void {
  void showInformation(vscode.l10n.t('Signed in to {0}.', name));
}

/** Tells that an API key was stored of which nobody knows yet whether the service accepts it. */
export function tellKeyUntried(name: string): void {
  void showInformation(vscode.l10n.t('The API key of {0} is stored. It could not be tried yet.', name));
}

/** Tells that the service refused an API key that was just entered. @param again the command that asks for another one */
export function tellKeyRefused(error: unknown, again: CommandId): void {
  const title = again === COMMANDS.signIn ? accountWords.firstSignIn() : accountWords.replaceKey();
  void showError(asText(explain(error)), title).then((choice) => {
    if (choice === title) void vscode.commands.executeCommand(again);
  });
}

export function tellKeyReplaced(name: string): void {
  void showInformation(vscode.l10n.t('The API key of {0} was replaced.', name));
}

export function tellSandboxInUse(): void {
  void showInformation(
    vscode.l10n.t(
      'You are in the sandbox: everything works as with the service, but nothing is trained and nothing is paid.',
    ),
  );
}

/** The sandbox has no API key that a person could replace. */
export function tellSandboxHasNoKey(): void {
  void showInformation(vscode.l10n.t('The sandbox makes its own API key at each start.'));
}

/** Tells that nobody is signed in, and offers where to work. */
export function tellSignedOut(): void {
  const signIn = accountWords.firstSignIn();
  const sandbox = accountWords.useSandbox();
  void showInformation(vscode.l10n.t('No account is active.'), signIn, sandbox).then((choice) => {
    if (choice === signIn) void vscode.commands.executeCommand(COMMANDS.signIn);
    if (choice === sandbox) void vscode.commands.executeCommand(COMMANDS.useSandbox);
  });
}

/** The list of accounts could not be read: nothing of it was deleted. */
export function tellAccountsSetAside(file: string): void {
  void showWarning(
    vscode.l10n.t(
      'The list of accounts could not be read and was moved to {0}. You may have been charged for submissions that are still open: to check them, sign in again before you submit.',
      file,
    ),
  );
}

/** Asks whether to switch to the account that a notification is about. */
export async function offerAccount(name: string): Promise<boolean> {
  const { l10n } = vscode;
  const use = l10n.t('Switch to {0}', strangerText(name));
  const choice = await showInformation(
    l10n.t('This belongs to {0}, which is not the active account.', name),
    use,
  );
  return choice === use;
}

/** Tells that what was asked for belongs to an account that is signed out, and offers to sign in. */
export function tellAccountGone(name?: string): void {
  const { l10n } = vscode;
  const signIn = accountWords.firstSignIn();
  const sentence =
    name === undefined
      ? l10n.t('This belongs to an account that is signed out.')
      : l10n.t('This belongs to {0}, which is signed out.', name);
  void showInformation(sentence, signIn).then((choice) => {
    if (choice === signIn) void vscode.commands.executeCommand(COMMANDS.signIn);
  });
}
