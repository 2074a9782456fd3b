import { randomUUID } from 'node:crypto';
import { l10n } from 'vscode';
import { formerAccountsOf, originOf, type ServiceAccount } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { ApiKeys } from '../../core/accounts/apiKeys.ts';
import { parseAddress, type AddressProblem } from '../../core/api/address.ts';
import type { Submission } from '../../core/submission/submission.ts';
import type { CommandResult } from '../shared/commands.ts';
import { formatDay } from '../shared/format.ts';
import { showInformation } from '../shared/notifications.ts';
import { websiteLink } from '../shared/open.ts';
import { setting } from '../shared/settings.ts';
import { ask, mapEnd, pick, runSteps, type DialogTitle, type Step } from '../shared/steps.ts';
import { TERMS } from '../shared/terms.ts';
import { askForVerifiedKey, notifyKeyUnverified, type CreateClient } from './enterApiKey.ts';

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
  submissions: () => Promise<readonly Submission[]>,
): Promise<CommandResult | undefined> {
  // Don't ask for an API key that could not be used.
  accounts.requireChangeable();
  // If they cannot be read, nothing can be submitted either.
  const submitted = await submissions().catch(() => []);
  const draft = await askToSignIn(accounts, createClient, submitted);
  if (draft === undefined) return { outcome: 'cancelled' };
  const { id = randomUUID(), name, baseUrl, apiKey, isVerified } = draft;
  const account: ServiceAccount = { kind: 'service', id, name, baseUrl };
  const owner = { accountId: id, origin: originOf(account) };
  // The key first: a session of an account without one would ask for it.
  await apiKeys.store(owner, apiKey);
  try {
    await accounts.save(account);
  } catch (error) {
    await apiKeys.delete(id).catch(() => undefined);
    throw error;
  }
  if (isVerified) void showInformation(l10n.t('Signed in to {0}.', name));
  else notifyKeyUnverified(name);
}

/** The indices of the steps that ask for the service URL and the account. */
const URL_STEP = 0;
const ACCOUNT_STEP = 1;

function askToSignIn(
  accounts: AccountStore,
  createClient: CreateClient,
  submitted: readonly Submission[],
): Promise<Draft | undefined> {
  const steps: Step<Draft>[] = [
    async (draft, place) => {
      const answer = await ask(place, {
        prompt: l10n.t('Service URL (from your provider)'),
        placeholder: 'https://',
        value: draft.url,
        validate: (text) => {
          const parsed = parseAddress(text);
          return parsed.ok ? undefined : URL_PROBLEMS[parsed.problem];
        },
      });
      return mapEnd(answer, (url) => {
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
        prompt: l10n.t('A name for this account'),
        value: draft.name === '' ? new URL(draft.baseUrl).hostname : draft.name,
        validate: (text) => (text.trim() === '' ? l10n.t('Enter a name.') : undefined),
      });
      // Go back to the list of accounts if it was shown.
      if (answer.kind === 'back' && account !== undefined)
        return { kind: 'go', to: ACCOUNT_STEP, state: draft };
      return mapEnd(answer, (name) => ({ ...draft, id, name: name.trim() }));
    },
    async (draft, place) => {
      const link = websiteLink(accounts.former.find(({ id }) => id === draft.id));
      const answer = await askForVerifiedKey(createClient, { ...place, link }, draft.baseUrl, draft.apiKey);
      if (answer.kind !== 'unreachable') return mapEnd(answer, (verified) => ({ ...draft, ...verified }));
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

const URL_PROBLEMS: Readonly<Record<AddressProblem, string>> = {
  empty: l10n.t('Enter the service URL.'),
  'not-a-url': l10n.t('Enter a valid URL.'),
  'not-https': l10n.t('Use https://. http:// would expose your API key.'),
  'has-credentials': l10n.t('Remove the user name and password.'),
  'has-query': l10n.t('Remove “?” or “#” and everything after it.'),
};

/** Asks for an earlier account or a new one: submissions, receipts, and downloads belong to an account. */
function pickAccount(place: DialogTitle, former: readonly FormerAccount[]) {
  return pick<Partial<FormerAccount>>(place, {
    placeholder: l10n.t('Which account?'),
    items: [
      ...former.map((account) => ({
        icon: 'account',
        label:
          account.name === undefined
            ? l10n.t('Continue with an Earlier Account')
            : l10n.t('Continue as “{0}”', account.name),
        ...(account.lastUsedMs !== undefined && {
          description: l10n.t('last submission: {0}', formatDay(account.lastUsedMs)),
        }),
        detail: l10n.t('Keeps its submissions and downloads'),
        value: account,
      })),
      { icon: 'add', label: l10n.t('Add as a New Account'), value: {} },
    ],
  });
}
