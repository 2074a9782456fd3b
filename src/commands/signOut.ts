import type { ApiKeys } from '../host/apiKeys.ts';
import { confirmSignOut } from '../host/dialogs/accountDialogs.ts';
import type { AccountStore } from '../runs/accountStore.ts';

/**
 * Forgets the active account and deletes its API key; the sandbox keeps its runs.
 * @param isBusy whether something of an account is under way or not known yet
 */
export function signOut(accounts: AccountStore, apiKeys: ApiKeys, isBusy: (accountId: string) => boolean) {
  return async (): Promise<void> => {
    const account = accounts.active;
    if (account === undefined) return;
    if (!(await confirmSignOut(account.name, isBusy(account.id)))) return;
    // The account first: a session that loses its key would ask for another one.
    await accounts.remove(account.id);
    await apiKeys.delete(account.id);
  };
}
