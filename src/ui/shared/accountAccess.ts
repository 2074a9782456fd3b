import { offerAccount, tellAccountGone } from '../accounts/messages.ts';

/** The list of accounts, as far as a switch needs it. */
interface Accounts {
  readonly accounts: readonly { id: string; name: string }[];
  readonly former: readonly { id: string; name: string }[];
  readonly active: { id: string } | undefined;
  activate(id: string): Promise<void>;
}

/** Whether an account is the active one, or the person agrees to switch to it: a notification may be older than a switch. */
export function accountAccess(accounts: Accounts) {
  return async (accountId: string): Promise<boolean> => {
    if (accounts.active?.id === accountId) return true;
    const account = accounts.accounts.find(({ id }) => id === accountId);
    if (account === undefined) {
      tellAccountGone(accounts.former.find(({ id }) => id === accountId)?.name);
      return false;
    }
    if (!(await offerAccount(account.name))) return false;
    await accounts.activate(accountId);
    return true;
  };
}
