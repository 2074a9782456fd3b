import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { offerAccount, notifyAccountGone } from './accountMessages.ts';

/** Whether an account is the active one, or the user agrees to switch to it: a notification may be older than a switch. */
export async function ensureActiveAccount(
  accounts: Pick<AccountStore, 'accounts' | 'former' | 'active' | 'activate'>,
  accountId: string,
): Promise<boolean> {
  if (accounts.active?.id === accountId) return true;
  const account = accounts.accounts.find(({ id }) => id === accountId);
  if (account === undefined) {
    notifyAccountGone(accounts.former.find(({ id }) => id === accountId)?.name);
    return false;
  }
  if (!(await offerAccount(account.name))) return false;
  await accounts.activate(accountId);
  // Meanwhile the account may have been signed out of.
  return accounts.active?.id === accountId;
}
