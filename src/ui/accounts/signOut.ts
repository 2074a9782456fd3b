import { l10n } from 'vscode';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { ApiKeys } from '../../core/accounts/apiKeys.ts';
import type { CommandResult } from '../shared/commands.ts';
import { compact } from '../shared/format.ts';
import { askModal, showWarning } from '../shared/notifications.ts';
import { TERMS } from '../shared/terms.ts';

/** The unfinished work of an account. */
export interface Unfinished {
  hasSubmissions: boolean;
  hasDownloads: boolean;
}

/**
 * Signs out of the active account, deletes its API key, and discards its unfinished downloads. Signing in to it again restores
 * its submissions, receipts, and download records.
 */
export async function signOut(
  accounts: AccountStore,
  apiKeys: ApiKeys,
  unfinishedOf: (accountId: string) => Unfinished,
  discardDownloads: (accountId: string) => Promise<void>,
): Promise<CommandResult | undefined> {
  const account = accounts.active;
  if (account === undefined || !(await confirmSignOut(account, unfinishedOf(account.id))))
    return { outcome: 'cancelled' };
  // Remove the account first: a session that loses its key would ask for another one.
  await accounts.remove(account.id);
  try {
    await apiKeys.delete(account.id);
  } finally {
    // Do so even if the keyring fails: the account is already removed.
    await discardDownloads(account.id);
  }
}

async function confirmSignOut(
  { kind, name }: { kind: 'service' | 'sandbox'; name: string },
  { hasSubmissions, hasDownloads }: Unfinished,
): Promise<boolean> {
  const isSandbox = kind === 'sandbox';
  const detail = compact(
    !isSandbox &&
      hasSubmissions &&
      l10n.t('Open submissions are kept. Sign in again to check or continue them.'),
    hasDownloads && l10n.t('Unfinished downloads will be removed.'),
    isSandbox
      ? l10n.t('To get its runs and downloads back, choose “{0}”.', TERMS.useSandbox)
      : l10n.t('Its API key will be deleted from this machine. Runs continue.'),
  ).join(' ');
  const buttons = { [l10n.t('Sign Out')]: true };
  return (await askModal(showWarning, l10n.t('Sign out of {0}?', name), detail, buttons)) === true;
}
