import { commands, l10n } from 'vscode';
import { originOf, type Account } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { ApiKeys } from '../../core/accounts/apiKeys.ts';
import { parseApiKey, type ApiKeyProblem } from '../../core/api/address.ts';
import type { Client, Connection } from '../../core/api/client.ts';
import { isUnauthorized } from '../../core/api/errors.ts';
import { API_KEY_PREFIX } from '../../core/api/types.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { notifySignedOut } from '../shared/activeAccount.ts';
import type { CommandResult } from '../shared/commands.ts';
import { COMMANDS } from '../shared/ids.ts';
import { askModal, notify, showInformation, showWarning, withLateProgress } from '../shared/notifications.ts';
import { websiteLink } from '../shared/open.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { ask, type DialogEnd, type DialogTitle } from '../shared/steps.ts';
import { TERMS } from '../shared/terms.ts';

export type CreateClient = (connection: Connection) => Pick<Client, 'getBalance'>;

/** Reports that an account's API key was rejected or is missing, and offers to enter one. */
export function notifyKeyNeeded(account: Account, state: 'key-rejected' | 'key-missing'): void {
  const isRejected = state === 'key-rejected';
  const sentence = isRejected
    ? l10n.t('The service rejected the API key for {0}.', account.name)
    : l10n.t('The API key for {0} isn’t on this machine.', account.name);
  const title = isRejected ? TERMS.replaceApiKey : TERMS.enterApiKey;
  const website = websiteLink(account);
  notify(showWarning, sentence, {
    [title]: () => commands.executeCommand(COMMANDS.replaceKey, account.id),
    ...(website && { [website.title]: website.open }),
  });
}

/** Replaces the API key of an account (by ID) or of the active one. The account keeps its ID and its data. */
export async function replaceKey(
  accounts: AccountStore,
  apiKeys: ApiKeys,
  createClient: CreateClient,
  argument?: unknown,
): Promise<CommandResult | undefined> {
  // A notification may be about an account that is not active.
  const account = accounts.accounts.find(({ id }) => id === argument) ?? accounts.active;
  if (account === undefined) {
    notifySignedOut();
    return { outcome: 'unavailable' };
  }
  if (account.kind === 'sandbox') {
    void showInformation(l10n.t('The sandbox creates its own API key.'));
    return { outcome: 'unavailable' };
  }
  const { id, name, baseUrl } = account;
  const place = { title: l10n.t('Replace the API Key for {0}', name), link: websiteLink(account) };
  let entered = '';
  let answer: VerifiedKey;
  do {
    answer = await askForVerifiedKey(createClient, place, baseUrl, entered);
    if (answer.kind === 'unreachable') entered = answer.apiKey;
  } while (answer.kind === 'unreachable');
  if (answer.kind !== 'value') return { outcome: 'cancelled' };
  const { apiKey, isVerified } = answer.value;
  await apiKeys.store({ accountId: id, origin: originOf(account) }, apiKey);
  if (isVerified) void showInformation(l10n.t('Replaced the API key for {0}.', name));
  else notifyKeyUnverified(name);
}

export function notifyKeyUnverified(name: string): void {
  void showInformation(l10n.t('Saved the API key for {0}. It hasn’t been verified yet.', name));
}

/** `unreachable`: the key could not be verified, and the user wants to change something. */
type VerifiedKey =
  | DialogEnd<{ apiKey: string; isVerified: boolean }>
  | { kind: 'unreachable'; apiKey: string };

/**
 * Asks for an API key until the service accepts one, or the user saves one that could not be verified (for example, offline).
 * Reads the balance, which is free; stores nothing.
 * @param entered what the box contains at first
 * @throws CancelledError
 */
export async function askForVerifiedKey(
  createClient: CreateClient,
  place: DialogTitle,
  baseUrl: string,
  entered: string,
): Promise<VerifiedKey> {
  let refused: Refused | undefined;
  for (;;) {
    const answer = await askForKey(place, baseUrl, refused?.apiKey ?? entered, refused);
    if (answer.kind !== 'value') return answer;
    const apiKey = answer.value;
    const client = createClient({ baseUrl, apiKey, keyId: 'untried' });
    try {
      // A free request that needs the API key.
      await withLateProgress(l10n.t('Verifying the API key…'), (signal) => client.getBalance({ signal }));
      return { kind: 'value', value: { apiKey, isVerified: true } };
    } catch (error) {
      if (error instanceof CancelledError) throw error;
      if (isUnauthorized(error)) {
        refused = {
          apiKey,
          why: asText({ ...explain(error), sentence: l10n.t('The service rejected this API key.') }),
        };
        continue;
      }
      const choice = await confirmUnverifiedKey(error, baseUrl);
      if (choice === 'back') return { kind: 'unreachable', apiKey };
      return choice === 'save' ? { kind: 'value', value: { apiKey, isVerified: false } } : { kind: 'cancel' };
    }
  }
}

/** An API key that the service has just refused. */
interface Refused {
  apiKey: string;
  why: string;
}

/** Asks for an API key, and for confirmation if it lacks the prefix of the service's keys. */
async function askForKey(
  place: DialogTitle,
  baseUrl: string,
  entered: string,
  refused: Refused | undefined,
): Promise<DialogEnd<string>> {
  const { host } = new URL(baseUrl);
  for (;;) {
    const answer = await ask(place, {
      prompt: l10n.t('API key for {0}, from the service’s dashboard', host),
      placeholder: `${API_KEY_PREFIX}…`,
      value: entered,
      password: true,
      validate: (text) => {
        if (refused !== undefined && text.trim() === refused.apiKey) return refused.why;
        const parsed = parseApiKey(text);
        return parsed.ok ? undefined : apiKeyProblem(parsed.problem);
      },
    });
    if (answer.kind !== 'value') return answer;
    const parsed = parseApiKey(answer.value);
    if (parsed.ok && (parsed.hasPrefix || (await confirmPrefix(host))))
      return { kind: 'value', value: parsed.apiKey };
  }
}

function apiKeyProblem(problem: ApiKeyProblem): string {
  return problem === 'empty'
    ? l10n.t('Enter the API key.')
    : l10n.t('The API key contains spaces or invalid characters.');
}

/** Asks whether to use a text as an API key although it lacks the prefix of API keys. */
async function confirmPrefix(host: string): Promise<boolean> {
  const question = l10n.t(
    'This API key doesn’t start with “{0}”. Send it to {1} anyway?',
    API_KEY_PREFIX,
    host,
  );
  const detail = l10n.t('If it’s another service’s key, sending it exposes it.');
  // The first button has the focus.
  const buttons = { [l10n.t('Enter Another')]: false, [l10n.t('Send Anyway')]: true };
  return (await askModal(showWarning, question, detail, buttons)) === true;
}

/** Asks whether to save an API key that could not be verified, or to change it or the service URL first. */
export function confirmUnverifiedKey(error: unknown, baseUrl: string): Promise<'back' | 'save' | undefined> {
  return askModal(
    showWarning,
    l10n.t('Couldn’t verify the API key. Save it anyway?'),
    l10n.t('Tried {0}. {1}', baseUrl, asText(explain(error))),
    { [l10n.t('Go Back')]: 'back', [l10n.t('Save')]: 'save' },
  );
}
