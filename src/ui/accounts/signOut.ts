import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { ApiKeys } from './apiKeys.ts';
import { confirmSignOut, type Unfinished } from './messages.ts';

/**
 * Signs out of the active account, deletes its API key and discards its unfinished downloads. Signing in to it again brings
 * back its submissions, its receipts and the records of its downloads.
 */
export async function signOut(
  accounts: AccountStore,
  apiKeys: ApiKeys,
  unfinishedOf: (accountId: string) => Unfinished,
  discardDownloads: (accountId: string) => Promise<void>,
): Promise<void> {
  const account = accounts.active;
  if (account === undefined || !(await confirmSignOut(account, unfinishedOf(account.id)))) return;
  // The account first: a session that loses its key would ask for another one.
  await accounts.remove(account.id);
  try {
    await apiKeys.delete(account.id);
  } finally {
    // Also where the keyring fails: nothing refers to them.
    await discardDownloads(account.id);
  }
}
