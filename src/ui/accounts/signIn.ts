import { randomUUID } from 'node:crypto';
import { formerAccountsOf, originOf, type ServiceAccount } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { parseAddress } from '../../core/api/address.ts';
import type { Intent } from '../../core/submission/intent.ts';
import { COMMANDS } from '../shared/ids.ts';
import { baseUrlSetting } from '../shared/settings.ts';
import { ask, pick, runSteps, type Answer, type Place, type Step, type StepEnd } from '../shared/steps.ts';
import { askForKey, verifyKey, type CreateClient } from './apiKeyEntry.ts';
import type { ApiKeys } from './apiKeys.ts';
import { signInWords, notifyKeyUnverified, notifySignedIn, urlProblem } from './messages.ts';

type FormerAccount = ReturnType<typeof formerAccountsOf>[number];

interface Draft {
  url: string;
  baseUrl: string;
  /** Of the account to continue with; undefined for a new one. */
  id: string | undefined;
  name: string;
  apiKey: string;
}

/**
 * Adds an account, or continues with one that was signed out of, and makes it active.
 * @param submissions reads the open submissions and the receipts of all accounts
 */
export async function signIn(
  accounts: AccountStore,
  apiKeys: ApiKeys,
  createClient: CreateClient,
  submissions: () => Promise<readonly Intent[]>,
): Promise<void> {
  // Where they cannot be read nothing can be submitted either.
  const submitted = await submissions().catch(() => []);
  const draft = await askToSignIn((baseUrl) =>
    formerAccountsOf(new URL(baseUrl).origin, accounts, submitted),
  );
  if (draft === undefined) return;
  const { id = randomUUID(), name, baseUrl, apiKey } = draft;
  const result = await verifyKey(createClient, { baseUrl, apiKey }, COMMANDS.signIn);
  if (result === undefined) return;
  const account: ServiceAccount = { kind: 'service', id, name, baseUrl };
  const owner = { accountId: id, origin: originOf(account) };
  await apiKeys.storeWith(owner, apiKey, () => accounts.save(account));
  (result === 'accepted' ? notifySignedIn : notifyKeyUnverified)(name);
}

/** Which step asks for the account. */
const ACCOUNT_STEP = 1;

/** @param formerAt the accounts at a service that were signed out of */
function askToSignIn(formerAt: (baseUrl: string) => readonly FormerAccount[]): Promise<Draft | undefined> {
  const steps: Step<Draft>[] = [
    async (draft, place) => {
      const answer = await ask(place, {
        prompt: signInWords.url(),
        placeholder: 'https://',
        value: draft.url,
        validate: (text) => {
          const parsed = parseAddress(text);
          return parsed.ok ? undefined : urlProblem(parsed.problem);
        },
      });
      return next(answer, (url) => {
        const parsed = parseAddress(url);
        return parsed.ok ? { ...draft, url, baseUrl: parsed.baseUrl } : draft;
      });
    },
    async (draft, place) => {
      const former = formerAt(draft.baseUrl);
      const account = former.length === 0 ? undefined : await pickAccount(place, former);
      if (account !== undefined && account.kind !== 'value') return account;
      const { id, name: known } = account?.value ?? {};
      if (known !== undefined) return { kind: 'next', state: { ...draft, id, name: known } };
      const answer = await ask(place, {
        prompt: signInWords.name(),
        value: draft.name === '' ? new URL(draft.baseUrl).hostname : draft.name,
        validate: (text) => (text.trim() === '' ? signInWords.noName() : undefined),
      });
      // Back to the list of accounts, where there is one.
      if (answer.kind === 'back' && account !== undefined) return { kind: 'go', to: ACCOUNT_STEP };
      return next(answer, (name) => ({ ...draft, id, name: name.trim() }));
    },
    async (draft, place) => next(await askForKey(place, draft.baseUrl), (apiKey) => ({ ...draft, apiKey })),
  ];
  const empty = { url: baseUrlSetting(), baseUrl: '', id: undefined, name: '', apiKey: '' };
  return runSteps(signInWords.title(), steps, empty);
}

/** Which account to continue with, or a new one: submissions, receipts and downloads belong to an account. */
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
      { icon: 'add', label: signInWords.newAccount(), detail: signInWords.newAccountDetail(), value: {} },
    ],
  });
}

function next(answer: Answer<string>, change: (text: string) => Draft): StepEnd<Draft> {
  return answer.kind === 'value' ? { kind: 'next', state: change(answer.value) } : answer;
}
