import { commands, l10n } from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import type { AddressProblem, ApiKeyProblem } from '../../core/api/address.ts';
import { API_KEY_PREFIX } from '../../core/api/types.ts';
import { accountWords, websiteLink } from '../shared/accountMessages.ts';
import { compact, formatDay } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { askModal, notify, showInformation, showWarning } from '../shared/notifications.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { TERMS } from '../shared/termMessages.ts';

/** Texts of the steps of signing in and of replacing an API key. */
export const signInWords = {
  url: () => l10n.t('Service URL (from your provider)'),
  account: () => l10n.t('Which account?'),
  continueAs: (name: string | undefined) =>
    name === undefined ? l10n.t('Continue with an Earlier Account') : l10n.t('Continue as “{0}”', name),
  lastSubmission: (timeMs: number) => l10n.t('last submission: {0}', formatDay(timeMs)),
  keeps: () => l10n.t('Keeps its submissions and downloads'),
  newAccount: () => l10n.t('Add as a New Account'),
  name: () => l10n.t('A name for this account'),
  noName: () => l10n.t('Enter a name.'),
  replaceTitle: (accountName: string) => l10n.t('Replace the API Key of {0}', accountName),
  apiKey: (host: string) => l10n.t('API key for {0}, from the service’s dashboard', host),
  verifying: () => l10n.t('Verifying the API key…'),
};

export const URL_PROBLEMS: Readonly<Record<AddressProblem, string>> = {
  empty: l10n.t('Enter the service URL.'),
  'not-a-url': l10n.t('This is not a URL.'),
  'not-https': l10n.t('Use https://. http:// would expose your API key.'),
  'has-credentials': l10n.t('Remove the user name and password.'),
  'has-query': l10n.t('Remove “?” or “#” and what follows.'),
};

export function apiKeyProblem(problem: ApiKeyProblem): string {
  return problem === 'empty'
    ? l10n.t('Enter the API key.')
    : l10n.t('The API key contains spaces or invalid characters.');
}

/** Asks whether to use a text as an API key although it lacks the prefix of API keys. */
export async function confirmPrefix(): Promise<boolean> {
  const question = l10n.t('API keys start with “{0}”; this doesn’t.', API_KEY_PREFIX);
  const detail = l10n.t('It would be sent as an API key.');
  return (await askModal(showWarning, question, detail, { [l10n.t('Use It')]: true })) === true;
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

/** Says why the service refused an API key that was just entered. */
export function keyRefused(error: unknown): string {
  return asText({ ...explain(error), sentence: l10n.t('The service rejected this API key.') });
}

export function notifySignedIn(name: string): void {
  void showInformation(l10n.t('Signed in to {0}.', name));
}

export function notifyKeyReplaced(name: string): void {
  void showInformation(l10n.t('Replaced the API key of {0}.', name));
}

export function notifyKeyUnverified(name: string): void {
  void showInformation(l10n.t('Saved the API key of {0}. It couldn’t be verified yet.', name));
}

/** Reports that an account's API key was rejected or is missing, and offers to enter one. */
export function notifyKeyNeeded(account: Account, state: 'key-rejected' | 'key-missing'): void {
  const isRejected = state === 'key-rejected';
  const sentence = isRejected
    ? l10n.t('The service rejected the API key of {0}.', account.name)
    : l10n.t('The API key of {0} is not on this machine.', account.name);
  const title = isRejected ? TERMS.replaceApiKey : TERMS.enterApiKey;
  const website = websiteLink(account);
  notify(showWarning, sentence, {
    [title]: () => commands.executeCommand(COMMANDS.replaceKey, account.id),
    ...(website && { [website.title]: website.open }),
  });
}

export function notifySandboxHasNoKey(): void {
  void showInformation(l10n.t('The sandbox creates its own API key.'));
}

/** The unfinished work of an account. */
export interface Unfinished {
  /** `charge`: a submission may be charged; `kept`: submissions can be continued. */
  submissions: 'charge' | 'kept' | undefined;
  hasDownloads: boolean;
}

/** Asks whether to sign out, and explains the consequences. */
export async function confirmSignOut(
  { kind, name }: { kind: 'service' | 'sandbox'; name: string },
  { submissions, hasDownloads }: Unfinished,
): Promise<boolean> {
  const isSandbox = kind === 'sandbox';
  const left = {
    charge: l10n.t('You may be charged for an open submission. Sign in again to check it.'),
    kept: l10n.t(
      'Open submissions were not charged, as far as this machine knows. Sign in again to continue them.',
    ),
  };
  const detail = compact(
    !isSandbox && submissions && left[submissions],
    hasDownloads && l10n.t('Unfinished downloads will be removed.'),
    isSandbox
      ? l10n.t('“{0}” brings back its runs and downloads.', accountWords.useSandbox())
      : l10n.t('Its API key will be deleted from this machine. Runs continue.'),
  ).join(' ');
  const buttons = { [l10n.t('Sign Out')]: true };
  return (await askModal(showWarning, l10n.t('Sign out of {0}?', name), detail, buttons)) === true;
}
