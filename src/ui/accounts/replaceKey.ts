import { originOf } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { notifySignedOut } from '../shared/accountMessages.ts';
import { COMMANDS } from '../shared/ids.ts';
import { askForKey, verifyKey, type CreateClient } from './apiKeyEntry.ts';
import type { ApiKeys } from './apiKeys.ts';
import { signInWords, notifyKeyReplaced, notifyKeyUnverified, notifySandboxHasNoKey } from './messages.ts';

/** Gives an account, by its id, or the active one another API key; its id, and with it what it owns, stays. */
export async function replaceKey(
  accounts: AccountStore,
  apiKeys: ApiKeys,
  createClient: CreateClient,
  argument?: unknown,
): Promise<void> {
  // The account that a notice named may not be the active one.
  const account = accounts.accounts.find(({ id }) => id === argument) ?? accounts.active;
  if (account === undefined) {
    notifySignedOut();
    return;
  }
  if (account.kind === 'sandbox') {
    notifySandboxHasNoKey();
    return;
  }
  const { id, name, baseUrl } = account;
  const place = { title: signInWords.replaceTitle(name), step: 1, totalSteps: 1 };
  const answer = await askForKey(place, baseUrl);
  if (answer.kind !== 'value') return;
  const apiKey = answer.value;
  const result = await verifyKey(createClient, { baseUrl, apiKey }, COMMANDS.replaceKey);
  if (result === undefined) return;
  await apiKeys.store({ accountId: id, origin: originOf(account) }, apiKey);
  (result === 'accepted' ? notifyKeyReplaced : notifyKeyUnverified)(name);
}
