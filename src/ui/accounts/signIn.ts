import { randomUUID } from 'node:crypto';
import {
  formerAccountsOf,
  originOf,
  type Account,
  type ServiceAccount,
} from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { parseAddress, parseApiKey } from '../../core/api/address.ts';
import type { Client, Connection } from '../../core/api/client.ts';
import { isUnauthorized } from '../../core/api/errors.ts';
import { API_KEY_PREFIX } from '../../core/api/types.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { Intent } from '../../core/submission/intent.ts';
import { notifySignedOut, websiteLink } from '../shared/accountMessages.ts';
import { withLateProgress } from '../shared/notifications.ts';
import { setting } from '../shared/settings.ts';
import { ask, mapAnswer, pick, runSteps, type Answer, type Place, type Step } from '../shared/steps.ts';
import { TERMS } from '../shared/termMessages.ts';
import type { ApiKeys } from './apiKeys.ts';
import {
  apiKeyProblem,
  confirmPrefix,
  confirmSignOut,
  confirmUnverifiedKey,
  keyRefused,
  notifyKeyReplaced,
  notifyKeyUnverified,
  notifySandboxHasNoKey,
  notifySignedIn,
  signInWords,
  URL_PROBLEMS,
  type Unfinished,
} from './messages.ts';

type CreateClient = (connection: Connection) => Pick<Client, 'getBalance'>;

type FormerAccount = ReturnType<typeof formerAccountsOf>[number];

interface Draft {
  url: string;
  baseUrl: string;
  /** The ID of an earlier account to continue with; undefined for a new one. */
  id: string | undefined;
  name: string;
  apiKey: string;
  isVerified: boolean;
}

/**
 * Adds an account, or continues with one that was signed out, and makes it active.
 * @param submissions reads the open submissions and the receipts of all accounts
 */
export async function signIn(
  accounts: AccountStore,
  apiKeys: ApiKeys,
  createClient: CreateClient,
  submissions: () => Promise<readonly Intent[]>,
): Promise<void> {
  // Don't ask for an API key that could not be used.
  accounts.requireChangeable();
  await apiKeys.requireCurrent();
  // If they cannot be read, nothing can be submitted either.
  const submitted = await submissions().catch(() => []);
  const draft = await askToSignIn(accounts, createClient, submitted);
  if (draft === undefined) return;
  const { id = randomUUID(), name, baseUrl, apiKey, isVerified } = draft;
  const account: ServiceAccount = { kind: 'service', id, name, baseUrl };
  const owner = { accountId: id, origin: originOf(account) };
  await apiKeys.storeWith(owner, apiKey, (keyId) => accounts.save({ ...account, keyId }));
  (isVerified ? notifySignedIn : notifyKeyUnverified)(name);
}

/** Replaces the API key of an account (by ID) or of the active one. The account keeps its ID and everything it owns. */
export async function replaceKey(
  accounts: AccountStore,
  apiKeys: ApiKeys,
  createClient: CreateClient,
  argument?: unknown,
): Promise<void> {
  // A notification may be about an account that is not active.
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
  await apiKeys.requireCurrent(id);
  const place = { title: signInWords.replaceTitle(name), link: websiteLink(account) };
  let entered = '';
  let answer: VerifiedKey;
  do {
    answer = await askForVerifiedKey(createClient, place, baseUrl, entered);
    if (answer.kind === 'unreachable') entered = answer.apiKey;
  } while (answer.kind === 'unreachable');
  if (answer.kind !== 'value') return;
  const { apiKey, isVerified } = answer.value;
  await apiKeys.replace({ accountId: id, origin: originOf(account) }, apiKey);
  (isVerified ? notifyKeyReplaced : notifyKeyUnverified)(name);
}

/**
 * Signs out of the active account, deletes its API key, and discards its unfinished downloads. Signing in to it again restores
 * its submissions, receipts, and download records.
 */
export async function signOut(
  accounts: AccountStore,
  apiKeys: ApiKeys,
  unfinishedOf: (accountId: string) => Unfinished,
  discardDownloads: (accountId: string) => Promise<void>,
): Promise<void> {
  const account = accounts.active;
  await apiKeys.requireCurrent(account?.id);
  if (account === undefined || !(await confirmSignOut(account, unfinishedOf(account.id)))) return;
  // Another window may have changed a key while the dialog was open; the account would go, and its API key stay.
  await apiKeys.requireCurrent(account.id);
  // Remove the account first: a session that loses its key would ask for another one.
  await accounts.remove(account.id);
  try {
    await apiKeys.delete(account.id);
  } finally {
    // Also if the keyring fails, since the account is already removed.
    await discardDownloads(account.id);
  }
}

/** The indices of the steps that ask for the service URL and the account. */
const URL_STEP = 0;
const ACCOUNT_STEP = 1;

function askToSignIn(
  accounts: AccountStore,
  createClient: CreateClient,
  submitted: readonly Intent[],
): Promise<Draft | undefined> {
  const steps: Step<Draft>[] = [
    async (draft, place) => {
      const answer = await ask(place, {
        prompt: signInWords.url(),
        placeholder: 'https://',
        value: draft.url,
        validate: (text) => {
          const parsed = parseAddress(text);
          return parsed.ok ? undefined : URL_PROBLEMS[parsed.problem];
        },
      });
      return mapAnswer(answer, (url) => {
        const parsed = parseAddress(url);
        return parsed.ok ? { ...draft, url, baseUrl: parsed.baseUrl } : draft;
      });
    },
    async (draft, place) => {
      const former = formerAccountsOf(new URL(draft.baseUrl).origin, accounts, submitted);
      const account = former.length === 0 ? undefined : await pickAccount(place, former);
      if (account !== undefined && account.kind !== 'value') return account;
      const { id, name: known } = account?.value ?? {};
      if (known !== undefined) return { kind: 'value', value: { ...draft, id, name: known } };
      const answer = await ask(place, {
        prompt: signInWords.name(),
        value: draft.name === '' ? new URL(draft.baseUrl).hostname : draft.name,
        validate: (text) => (text.trim() === '' ? signInWords.noName() : undefined),
      });
      // Go back to the list of accounts if it was shown.
      if (answer.kind === 'back' && account !== undefined)
        return { kind: 'go', to: ACCOUNT_STEP, state: draft };
      return mapAnswer(answer, (name) => ({ ...draft, id, name: name.trim() }));
    },
    async (draft, place) => {
      const link = websiteLink(formerOf(accounts, draft.id));
      const answer = await askForVerifiedKey(createClient, { ...place, link }, draft.baseUrl, draft.apiKey);
      if (answer.kind !== 'unreachable') return mapAnswer(answer, (verified) => ({ ...draft, ...verified }));
      return { kind: 'go', to: URL_STEP, state: { ...draft, apiKey: answer.apiKey } };
    },
  ];
  const empty = {
    url: setting('baseUrl'),
    baseUrl: '',
    id: undefined,
    name: '',
    apiKey: '',
    isVerified: false,
  };
  return runSteps(TERMS.signIn, steps, empty);
}

function formerOf({ former }: AccountStore, id: string | undefined): Account | undefined {
  return former.find((account) => account.id === id);
}

/** Asks for an earlier account or a new one: submissions, receipts, and downloads belong to an account. */
function pickAccount(place: Place, former: readonly FormerAccount[]) {
  return pick<Partial<FormerAccount>>(place, {
    placeholder: signInWords.account(),
    items: [
      ...former.map((account) => ({
        icon: 'account',
        label: signInWords.continueAs(account.name),
        ...(account.lastUsedMs !== undefined && {
          description: signInWords.lastSubmission(account.lastUsedMs),
        }),
        detail: signInWords.keeps(),
        value: account,
      })),
      { icon: 'add', label: signInWords.newAccount(), value: {} },
    ],
  });
}

/** `unreachable`: the key could not be verified, and the user wants to change something. */
type VerifiedKey = Answer<{ apiKey: string; isVerified: boolean }> | { kind: 'unreachable'; apiKey: string };

/**
 * Asks for an API key until the service accepts one, or the user saves one that could not be verified (for example, offline).
 * @param entered what the box contains at first
 * @throws CancelledError
 */
async function askForVerifiedKey(
  createClient: CreateClient,
  place: Place,
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
      await withLateProgress(signInWords.verifying(), (signal) => client.getBalance({ signal }));
      return { kind: 'value', value: { apiKey, isVerified: true } };
    } catch (error) {
      if (error instanceof CancelledError) throw error;
      if (isUnauthorized(error)) {
        refused = { apiKey, why: keyRefused(error) };
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
  place: Place,
  baseUrl: string,
  entered: string,
  refused: Refused | undefined,
): Promise<Answer<string>> {
  for (;;) {
    const answer = await ask(place, {
      prompt: signInWords.apiKey(new URL(baseUrl).host),
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
    if (parsed.ok && (parsed.hasPrefix || (await confirmPrefix())))
      return { kind: 'value', value: parsed.apiKey };
  }
}
