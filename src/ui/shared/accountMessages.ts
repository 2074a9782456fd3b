import { commands, l10n } from 'vscode';
import { websiteOf, type Account } from '../../core/accounts/account.ts';
import type { SessionState } from '../../core/runs/session.ts';
import { COMMANDS } from './ids.ts';
import { askModal, notify, showInformation } from './notifications.ts';
import { openServiceLink } from './openMessages.ts';
import { sanitizeServiceText } from './serviceText.ts';
import { TERMS } from './termMessages.ts';

export const accountWords = {
  signIn: () => l10n.t('Sign In…'),
  useSandbox: () => l10n.t('Use the Sandbox'),
  openWebsite: () => l10n.t('Open Website'),
  sandboxName: () => l10n.t('Sandbox'),
};

/** Opens the website that the user gave an account, where there is one: no other address is known. */
export function websiteLink(
  account: Account | undefined,
): { title: string; website: string; open: () => void } | undefined {
  const website = account && websiteOf(account);
  if (website === undefined) return undefined;
  return { title: accountWords.openWebsite(), website, open: () => void openServiceLink(website) };
}

/** What asks for another API key; undefined while nothing is known to be wrong with an account's. */
export function keyAction(state: SessionState): string | undefined {
  if (state === 'key-rejected') return TERMS.replaceApiKey;
  return state === 'key-missing' ? TERMS.enterApiKey : undefined;
}

/** Reports that no account is active, and offers where to work. */
export function notifySignedOut(): void {
  notify(showInformation, TERMS.noAccount, {
    [accountWords.signIn()]: () => commands.executeCommand(COMMANDS.signIn),
    [accountWords.useSandbox()]: () => commands.executeCommand(COMMANDS.useSandbox),
  });
}

/** Before the first use: asks where to work. */
export function askWhereToWork(): Promise<'signIn' | 'sandbox' | undefined> {
  return askModal(
    showInformation,
    l10n.t('Sign in first, or try it in the sandbox.'),
    l10n.t('The sandbox needs no account: no training, no charges.'),
    { [TERMS.signIn]: 'signIn', [accountWords.useSandbox()]: 'sandbox' },
  );
}

/** Asks whether to switch to the account that a notification is about. */
export async function offerAccount(name: string): Promise<boolean> {
  const use = l10n.t('Switch to {0}', sanitizeServiceText(name));
  const choice = await showInformation(
    l10n.t('This belongs to {0}, which is not the active account.', name),
    use,
  );
  return choice === use;
}

/** Reports that something belongs to an account that is signed out, and offers to sign in. */
export function notifyAccountGone(name?: string): void {
  const sentence =
    name === undefined
      ? l10n.t('This belongs to an account that is signed out.')
      : l10n.t('This belongs to {0}, which is signed out.', name);
  notify(showInformation, sentence, {
    [accountWords.signIn()]: () => commands.executeCommand(COMMANDS.signIn),
  });
}
