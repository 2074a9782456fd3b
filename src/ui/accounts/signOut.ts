import type { ApiKeys } from './apiKeys.ts';
import { confirmSignOut } from './accountDialogs.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';

/**
 * Signs out of the active account and deletes its API key. What is kept of it is there again when it is signed in to again.
 * @param stakeOf what of an account is not at its end: something that may be or become a charge, or only
 * what can be continued, or downloaded
 * @param forget takes away what is unfinished of the account, such as half of a download
 */
export function signOut(
  accounts: AccountStore,
  apiKeys: ApiKeys,
  stakeOf: (accountId: string) => 'charge' | 'kept' | 'download' | undefined,
  forget: (accountId: string) => Promise<void>,
) {
  return async (): Promise<void> => {
    const account = accounts.active;
    if (account === undefined) return;
    if (!(await confirmSignOut(account, stakeOf(account.id)))) return;
    // The account first: a session that loses its key would ask for another one.
    await accounts.remove(account.id);
    try {
      await apiKeys.delete(account.id);
    } finally {
      // Also where the keyring fails: nothing leads to it any more.
      await forget(account.id);
    }
  };
}
