import type { Client, Connection } from '../../core/api/client.ts';
import { UNTRIED_KEY_ID, type ApiKeys } from './apiKeys.ts';
import { askToReplaceKey } from './accountDialogs.ts';
import { COMMANDS } from '../shared/ids.ts';
import { tryKey } from './keyTrial.ts';
import { tellKeyReplaced, tellKeyUntried, tellSandboxHasNoKey, tellSignedOut } from './messages.ts';
import { originOf } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';

/** Gives an account, by its id, or the active one another API key; its id, and with it what it owns, stays. */
export function replaceKey(
  accounts: AccountStore,
  apiKeys: ApiKeys,
  createClient: (connection: Connection) => Pick<Client, 'getBalance'>,
) {
  return async (argument?: unknown): Promise<void> => {
    // The account that a notice named may not be the active one any more.
    const account = accounts.accounts.find(({ id }) => id === argument) ?? accounts.active;
    if (account === undefined) {
      tellSignedOut();
      return;
    }
    if (account.kind === 'sandbox') {
      tellSandboxHasNoKey();
      return;
    }
    const apiKey = await askToReplaceKey(account.name, account.baseUrl);
    if (apiKey === undefined) return;
    const client = createClient({ baseUrl: account.baseUrl, apiKey, keyId: UNTRIED_KEY_ID });
    const trial = await tryKey((signal) => client.getBalance({ signal }), COMMANDS.replaceKey);
    if (trial === undefined) return;
    await apiKeys.store({ accountId: account.id, origin: originOf(account) }, apiKey);
    (trial === 'accepted' ? tellKeyReplaced : tellKeyUntried)(account.name);
  };
}
