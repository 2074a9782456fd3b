import { randomUUID } from 'node:crypto';
import type { Client, Connection } from '../api/client.ts';
import { UNTRIED_KEY_ID, type ApiKeys } from '../host/apiKeys.ts';
import { askToSignIn } from '../host/dialogs/accountDialogs.ts';
import { COMMANDS } from '../host/ids.ts';
import { tryKey } from '../host/keyTrial.ts';
import { baseUrlSetting } from '../host/settings.ts';
import { tellKeyUntried, tellSignedIn } from '../host/wording/accounts.ts';
import { originOf, type ServiceAccount } from '../runs/account.ts';
import type { AccountStore } from '../runs/accountStore.ts';

/** Adds an account whose API key was tried, and makes it active. */
export function signIn(
  accounts: AccountStore,
  apiKeys: ApiKeys,
  createClient: (connection: Connection) => Pick<Client, 'getBalance'>,
) {
  return async (): Promise<void> => {
    const form = await askToSignIn(baseUrlSetting());
    if (form === undefined) return;
    const client = createClient({ baseUrl: form.baseUrl, apiKey: form.apiKey, keyId: UNTRIED_KEY_ID });
    const trial = await tryKey((signal) => client.getBalance({ signal }), COMMANDS.signIn);
    if (trial === undefined) return;
    const account: ServiceAccount = {
      kind: 'service',
      id: randomUUID(),
      name: form.name,
      baseUrl: form.baseUrl,
    };
    const owner = { accountId: account.id, origin: originOf(account) };
    await apiKeys.storeWith(owner, form.apiKey, () => accounts.save(account));
    (trial === 'accepted' ? tellSignedIn : tellKeyUntried)(account.name);
  };
}
