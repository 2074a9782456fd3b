import { randomUUID } from 'node:crypto';
import type { Client, Connection } from '../../core/api/client.ts';
import { UNTRIED_KEY_ID, type ApiKeys } from './apiKeys.ts';
import { askToSignIn } from './accountDialogs.ts';
import { COMMANDS } from '../shared/ids.ts';
import { tryKey } from './keyTrial.ts';
import { baseUrlSetting } from '../shared/settings.ts';
import { tellKeyUntried, tellSignedIn } from './messages.ts';
import { formerAccountsOf, originOf, type ServiceAccount } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { Intent } from '../../core/submission/intent.ts';

/**
 * Adds an account whose API key was tried, or goes on with one that was signed out of, and makes it active.
 * @param submissions reads the open submissions and the receipts of all accounts
 */
export function signIn(
  accounts: AccountStore,
  apiKeys: ApiKeys,
  createClient: (connection: Connection) => Pick<Client, 'getBalance'>,
  submissions: () => Promise<readonly Intent[]>,
) {
  return async (): Promise<void> => {
    // Where they cannot be read nothing can be submitted either.
    const submitted = await submissions().catch(() => []);
    const form = await askToSignIn(baseUrlSetting(), (baseUrl) =>
      formerAccountsOf(new URL(baseUrl).origin, accounts, submitted),
    );
    if (form === undefined) return;
    const client = createClient({ baseUrl: form.baseUrl, apiKey: form.apiKey, keyId: UNTRIED_KEY_ID });
    const trial = await tryKey((signal) => client.getBalance({ signal }), COMMANDS.signIn);
    if (trial === undefined) return;
    const account: ServiceAccount = {
      kind: 'service',
      id: form.id ?? randomUUID(),
      name: form.name,
      baseUrl: form.baseUrl,
    };
    const owner = { accountId: account.id, origin: originOf(account) };
    await apiKeys.storeWith(owner, form.apiKey, () => accounts.save(account));
    (trial === 'accepted' ? tellSignedIn : tellKeyUntried)(account.name);
  };
}
