import type { Client, Connection } from '../api/client.ts';
import { UNTRIED_KEY_ID, type ApiKeys } from '../host/apiKeys.ts';
import { askToReplaceKey } from '../host/dialogs/accountDialogs.ts';
import { COMMANDS } from '../host/ids.ts';
import { tryKey } from '../host/keyTrial.ts';
import {
  tellKeyReplaced,
  tellKeyUntried,
  tellSandboxHasNoKey,
  tellSignedOut,
} from '../host/wording/accounts.ts';
import { originOf } from '../runs/account.ts';
import type { AccountStore } from '../runs/accountStore.ts';

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
