import { commands, l10n } from 'vscode';
import { websiteOf, type Account } from '../../core/accounts/account.ts';
import type { SessionState } from '../../core/runs/session.ts';
import { COMMANDS } from './ids.ts';
import { askModal, notify, showInformation } from './notifications.ts';
import { openServiceLink } from './open.ts';
import { sanitizeServiceText } from './serviceText.ts';
import { TERMS } from './termMessages.ts';

export const accountWords = {
  signIn: () => l10n.t('Sign In…'),
  useSandbox: () => l10n.t('Use the Sandbox'),
  openWebsite: () => l10n.t('Open Website'),
  sandboxName: () => l10n.t('Sandbox'),
};

/** Returns a link to the website that the user entered for an account; undefined without one. */
export function websiteLink(
  account: Account | undefined,
): { title: string; website: string; open: () => void } | undefined {
  const website = account && websiteOf(account);
  if (website === undefined) return undefined;
  return { title: accountWords.openWebsite(), website, open: () => void openServiceLink(website) };
}

/** Returns the title of the button that asks for another API key; undefined unless the current one is missing or was rejected. */
export function keyAction(state: SessionState): string | undefined {
  if (state === 'key-rejected') return TERMS.replaceApiKey;
  return state === 'key-missing' ? TERMS.enterApiKey : undefined;
}

/** Reports that no account is active, and offers to sign in or to use the sandbox. */
export function notifySignedOut(): void {
  notify(showInformation, TERMS.noAccount, {
    [accountWords.signIn()]: () => commands.executeCommand(COMMANDS.signIn),
    [accountWords.useSandbox()]: () => commands.executeCommand(COMMANDS.useSandbox),
  });
}

/** Asks, before the first use, whether to sign in or to use the sandbox. */
export function askWhereToWork(): Promise<'signIn' | 'sandbox' | undefined> {
  return askModal(
    showInformation,
    l10n.t('Sign in first, or try it in the sandbox.'),
    l10n.t('The sandbox needs no account: no training, no charges.'),
    { [TERMS.signIn]: 'signIn', [accountWords.useSandbox()]: 'sandbox' },
  );
}

/** Asks whether to switch to the account that a command's target belongs to. Modal: other extensions can pass any target. */
export async function offerAccount(name: string): Promise<boolean> {
  const shown = sanitizeServiceText(name);
  const detail = l10n.t('This belongs to {0}, which is not the active account.', shown);
  const buttons = { [l10n.t('Switch to {0}', shown)]: true };
  return (await askModal(showInformation, l10n.t('Switch to {0}?', shown), detail, buttons)) === true;
}

/** Reports that a command's target belongs to an account that is signed out, and offers to sign in. */
export function notifyAccountGone(name?: string): void {
  const sentence =
    name === undefined
      ? l10n.t('This belongs to an account that is signed out.')
      : l10n.t('This belongs to {0}, which is signed out.', name);
  notify(showInformation, sentence, {
    [accountWords.signIn()]: () => commands.executeCommand(COMMANDS.signIn),
  });
}
