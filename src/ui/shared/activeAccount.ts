import { commands, l10n } from 'vscode';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { COMMANDS } from './ids.ts';
import { askModal, notify, showInformation } from './notifications.ts';
import { sanitizeServiceText } from './serviceText.ts';
import { TERMS } from './terms.ts';

/** Reports that no account is active, and offers to sign in or to use the sandbox. */
export function notifySignedOut(): void {
  notify(showInformation, TERMS.noAccount, {
    [TERMS.signInMenu]: () => commands.executeCommand(COMMANDS.signIn),
    [TERMS.useSandbox]: () => commands.executeCommand(COMMANDS.useSandbox),
  });
}

/**
 * Offers to switch to the account of a command's target, or to sign in to it. Modal: other extensions can
 * pass any target.
 * @returns whether it is active afterwards
 */
export async function offerAccount(
  store: Pick<AccountStore, 'accounts' | 'former' | 'active' | 'activate'>,
  accountId: string,
): Promise<boolean> {
  const account = store.accounts.find(({ id }) => id === accountId);
  if (account === undefined) {
    notifyAccountGone(store.former.find(({ id }) => id === accountId)?.name);
    return false;
  }
  const name = sanitizeServiceText(account.name);
  const detail = l10n.t('This belongs to {0}, which isn’t the active account.', name);
  const buttons = { [l10n.t('Switch to {0}', name)]: true };
  if ((await askModal(showInformation, l10n.t('Switch to {0}?', name), detail, buttons)) !== true)
    return false;
  await store.activate(accountId);
  // The user may have signed out of the account meanwhile.
  return store.active?.id === accountId;
}

function notifyAccountGone(name?: string): void {
  const sentence =
    name === undefined
      ? l10n.t('This belongs to an account that is signed out.')
      : l10n.t('This belongs to {0}, which is signed out.', name);
  notify(showInformation, sentence, {
    [TERMS.signInMenu]: () => commands.executeCommand(COMMANDS.signIn),
  });
}
