import * as vscode from 'vscode';
import { parseAddress, type AddressProblem } from '../../core/api/address.ts';
import { parseApiKey } from '../../core/api/apiKey.ts';
import { API_KEY_PREFIX } from '../../core/api/types.ts';
import { accountWords } from './messages.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { formatDay } from '../shared/format.ts';
import { ask, runSteps, type Choice, pick, type Place, type Step, type StepEnd } from '../shared/steps.ts';
import { showWarning } from '../shared/notifications.ts';

/** What a person enters to sign in. */
interface SignInForm {
  baseUrl: string;
  /** Of the account that is gone on with; undefined for a new one. */
  id: string | undefined;
  name: string;
  apiKey: string;
}

/** An account that can be gone on with. */
interface FormerAccount {
  id: string;
  /** Undefined where only its submissions are left of it. */
  name: string | undefined;
  /** Milliseconds since the epoch; undefined where no submission is known. */
  lastUsedMs: number | undefined;
}

interface Draft {
  address: string;
  baseUrl: string;
  id: string | undefined;
  name: string;
  apiKey: string;
}

/**
 * Asks for address, name and API key; undefined when given up.
 * @param formerAt the accounts of the service at an address that were signed out of
 */
export async function askToSignIn(
  address: string,
  formerAt: (baseUrl: string) => readonly FormerAccount[],
): Promise<SignInForm | undefined> {
  const { l10n } = vscode;
  const steps: Step<Draft>[] = [
    async (draft, place) =>
      next(
        await ask(place, {
          prompt: l10n.t('Address of the service, as its provider gave it to you'),
          placeholder: 'https://',
          value: draft.address,
          validate: (text) => addressProblem(text),
        }),
        (text) => {
          const parsed = parseAddress(text);
          return parsed.ok ? { ...draft, address: text, baseUrl: parsed.baseUrl } : draft;
        },
      ),
    async (draft, place) => {
      const former = formerAt(draft.baseUrl);
      const account = former.length === 0 ? undefined : await pickFormer(place, former);
      if (account !== undefined && account.kind !== 'value') return account;
      const { id, name: known } = account?.value ?? {};
      if (known !== undefined) return { kind: 'next', state: { ...draft, id, name: known } };
      const answer = await ask(place, {
        prompt: l10n.t('A name for this account, shown in the status bar'),
        value: draft.name === '' ? new URL(draft.baseUrl).hostname : draft.name,
        validate: (text) => (text.trim() === '' ? l10n.t('Give the account a name.') : undefined),
      });
      // Back to the list of accounts, where there is one.
      if (answer.kind === 'back' && account !== undefined) return { kind: 'go', to: NAME_STEP };
      return next(answer, (name) => ({ ...draft, id, name: name.trim() }));
    },
    async (draft, place) => {
      const answer = await askForKey(place, draft.baseUrl);
      return next(answer, (apiKey) => ({ ...draft, apiKey }));
    },
  ];
  return runSteps(l10n.t('Sign In'), steps, { address, baseUrl: '', id: undefined, name: '', apiKey: '' });
}

/** Where the step of the name stands among those of a sign-in. */
const NAME_STEP = 1;

/** Which account to go on with, or a new one: to that belongs what was submitted, downloaded and kept. */
function pickFormer(place: Place, former: readonly FormerAccount[]) {
  const { l10n } = vscode;
  return pick<Partial<FormerAccount>>(place, {
    placeholder: l10n.t('You used this service before'),
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
        detail: l10n.t('Keeps its submissions, receipts and downloads'),
        value: account,
      })),
      {
        icon: 'add',
        label: l10n.t('Add as a New Account'),
        detail: l10n.t('For another account of the service'),
        value: {},
      },
    ],
  });
}

/** Asks for another API key of an account; undefined when given up. */
export async function askToReplaceKey(accountName: string, baseUrl: string): Promise<string | undefined> {
  const title = vscode.l10n.t('Replace the API Key of {0}', accountName);
  const answer = await askForKey({ title, step: 1, totalSteps: 1 }, baseUrl);
  return answer.kind === 'value' ? answer.value : undefined;
}

async function askForKey(place: Place, baseUrl: string) {
  const { l10n } = vscode;
  for (;;) {
    const answer = await ask(place, {
      prompt: l10n.t(
        'API key for {0}. Keys are made in the API section of the service’s dashboard: at most 3 active ones, each shown only once.',
        new URL(baseUrl).host,
      ),
      placeholder: `${API_KEY_PREFIX}…`,
      password: true,
      validate: (text) => keyProblem(text),
    });
    if (answer.kind !== 'value') return answer;
    const parsed = parseApiKey(answer.value);
    if (!parsed.ok) continue;
    if (parsed.hasPrefix || (await confirmPrefix())) return { kind: 'value' as const, value: parsed.apiKey };
  }
}

async function confirmPrefix(): Promise<boolean> {
  const { l10n } = vscode;
  const use = l10n.t('Use It');
  const choice = await showWarning(
    l10n.t('API keys of the service start with “{0}”; this text does not.', API_KEY_PREFIX),
    { modal: true, detail: l10n.t('It would be sent to the service as an API key.') },
    use,
  );
  return choice === use;
}

/** After a key could not be tried: whether to store it all the same. */
export async function confirmUntriedKey(error: unknown): Promise<boolean> {
  const { l10n } = vscode;
  const store = l10n.t('Store It');
  const choice = await showWarning(
    l10n.t('The API key could not be tried. Store it all the same?'),
    { modal: true, detail: asText(explain(error)) },
    store,
  );
  return choice === store;
}

/** What of an account is not at its end: something may be or become a charge, submissions can still be continued, or a download. */
type Stake = 'charge' | 'kept' | 'download' | undefined;

/** Whether to sign out; says what becomes of what the account has. */
export async function confirmSignOut(
  { kind, name }: { kind: 'service' | 'sandbox'; name: string },
  stake: Stake,
): Promise<boolean> {
  const { l10n } = vscode;
  const signOut = l10n.t('Sign Out');
  const choice = await showWarning(
    l10n.t('Sign out of {0}?', name),
    { modal: true, detail: (kind === 'sandbox' ? leavingSandbox(stake) : leavingService(stake)).join(' ') },
    signOut,
  );
  return choice === signOut;
}

function leavingService(stake: Stake): string[] {
  const { l10n } = vscode;
  return [
    ...(stake === 'charge'
      ? [
          l10n.t(
            'A submission is still in progress or unresolved. You may be charged, and can check that only after you sign in to this account again.',
          ),
        ]
      : stake === 'kept'
        ? [
            l10n.t(
              'Nothing was charged for its open submissions. They’re kept until you sign in to this account again.',
            ),
          ]
        : unfinishedDownloads(stake)),
    l10n.t('Its API key is deleted from this machine. Runs on the service go on.'),
  ];
}

/** It comes back as the same account, with its submissions, and nothing of it costs money. */
function leavingSandbox(stake: Stake): string[] {
  const { l10n } = vscode;
  return [
    ...unfinishedDownloads(stake),
    l10n.t(
      'Its runs and finished downloads stay, and are there again with “{0}”.',
      accountWords.useSandbox(),
    ),
  ];
}

function unfinishedDownloads(stake: Stake): string[] {
  return stake === 'download' ? [vscode.l10n.t('What of its downloads is not finished is discarded.')] : [];
}

/** One row of the account menu. */
export interface MenuRow<T> {
  icon: string;
  label: string;
  description?: string;
  value: T;
}

/** The account menu: accounts first, so that a switch is one click, then what can be done. */
export async function pickFromAccountMenu<T>(
  accounts: readonly MenuRow<T>[],
  actions: readonly MenuRow<T>[],
): Promise<T | undefined> {
  const { l10n } = vscode;
  const separator = (label: string) => ({ label, kind: vscode.QuickPickItemKind.Separator }) as Choice<T>;
  const rows = (list: readonly MenuRow<T>[]): Choice<T>[] =>
    list.map(({ icon, label, description, value }) => ({
      icon,
      label,
      value,
      ...(description === undefined ? {} : { description }),
    }));
  const answer = await pick(
    { title: l10n.t('Account'), step: 1, totalSteps: 1 },
    {
      placeholder:
        accounts.length > 0
          ? l10n.t('Switch to an account, or choose what to do')
          : l10n.t('Choose what to do'),
      items: [
        ...(accounts.length > 0
          ? [separator(l10n.t('accounts')), ...rows(accounts), separator(l10n.t('actions'))]
          : []),
        ...rows(actions),
      ],
    },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}

function next(
  answer: { kind: 'value'; value: string } | { kind: 'back' } | { kind: 'cancel' },
  take: (text: string) => Draft,
): StepEnd<Draft> {
  return answer.kind === 'value' ? { kind: 'next', state: take(answer.value) } : answer;
}

function addressProblem(text: string): string | undefined {
  const parsed = parseAddress(text);
  return parsed.ok ? undefined : addressSentence(parsed.problem);
}

function addressSentence(problem: AddressProblem): string {
  const { l10n } = vscode;
  switch (problem) {
    case 'empty':
      return l10n.t('Enter the address of the service.');
    case 'not-a-url':
      return l10n.t('This is not a web address.');
    case 'not-https':
      return l10n.t(
        'The address must start with https://: the API key would travel readable. (http:// is taken for this machine alone.)',
      );
    case 'has-credentials':
      return l10n.t('Leave the user name and password out of the address.');
    case 'has-query':
      return l10n.t('Leave everything from “?” or “#” on out of the address.');
  }
}

function keyProblem(text: string): string | undefined {
  const { l10n } = vscode;
  const parsed = parseApiKey(text);
  if (parsed.ok) return undefined;
  switch (parsed.problem) {
    case 'empty':
      return l10n.t('Enter the API key.');
    case 'inner-blank':
      return l10n.t('An API key has no blanks inside. Was more copied than the key?');
    case 'not-header-safe':
      return l10n.t('An API key has only plain letters, digits and signs.');
  }
}
