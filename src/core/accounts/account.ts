import path from 'node:path';

/**
 * A local record of an account at the service, which has no endpoint to identify accounts. Runs, caches, and downloads
 * belong to the `id`, which stays when the API key is replaced.
 */
export type Account = ServiceAccount | SandboxAccount;

export interface ServiceAccount {
  kind: 'service';
  /** A random UUID. */
  id: string;
  /** Chosen by the user. */
  name: string;
  /** The API's URL without `/api/v1` and without a trailing slash. */
  baseUrl: string;
  budget?: AccountBudget | undefined;
  /** The https URL where the user adds funds and creates API keys. Entered by the user. */
  website?: string | undefined;
}

/** The embedded service. Its ID is stored in its database; its address and API key change at each start. */
export interface SandboxAccount {
  kind: 'sandbox';
  id: string;
  name: string;
  budget?: AccountBudget | undefined;
}

/** The user's spending limits. They only cause warnings and cannot stop charges. */
export interface AccountBudget {
  perRunCents?: number | undefined;
  /** Per calendar month in UTC. */
  perMonthCents?: number | undefined;
  /** The currency of the balance when the budget was set. */
  currency: string;
}

/** The properties of an account that can change; undefined removes one. */
export type AccountChange = Partial<Pick<ServiceAccount, 'budget' | 'website'>>;

/** An account that the user signed out of on this machine. */
export interface FormerAccount {
  id: string;
  /** Undefined if only its submissions remain. */
  name: string | undefined;
  /** When its last submission was made, in milliseconds since the epoch; undefined if unknown. */
  lastUsedMs: number | undefined;
}

/** The account data in a submission. */
interface Submitted {
  readonly accountId: string;
  readonly origin: string;
  readonly created: { readonly localMs: number };
}

/** Returns the accounts of a service that the user can sign in to again: latest first, unnamed ones last. */
export function formerAccountsOf(
  origin: string,
  { accounts, former }: { readonly accounts: readonly Account[]; readonly former: readonly Account[] },
  submissions: readonly Submitted[],
): FormerAccount[] {
  const lastUsed = new Map<string, number>();
  for (const { accountId, origin: sentTo, created } of submissions)
    if (sentTo === origin)
      lastUsed.set(accountId, Math.max(created.localMs, lastUsed.get(accountId) ?? -Infinity));
  const named = former
    .filter((account) => serviceOf(account) === origin)
    .map(({ id, name }) => ({ id, name, lastUsedMs: lastUsed.get(id) }))
    .reverse();
  const known = new Set([...accounts, ...former].map(({ id }) => id));
  const nameless = [...lastUsed]
    .filter(([id]) => !known.has(id))
    .map(([id, lastUsedMs]) => ({ id, name: undefined, lastUsedMs }))
    .sort((one, other) => other.lastUsedMs - one.lastUsedMs);
  return [...named, ...nameless];
}

export function websiteOf(account: Account): string | undefined {
  return account.kind === 'service' ? account.website : undefined;
}

/** Returns the only origin that may receive the account's API key. */
export function originOf(account: ServiceAccount): string {
  return new URL(account.baseUrl).origin;
}

/** Returns the only destination of an account's submissions. The sandbox's address changes at each start. */
export function serviceOf(account: Account): string {
  return account.kind === 'sandbox' ? 'sandbox' : originOf(account);
}

/**
 * Returns the folder with the data of one account's runs, for all windows; it may not exist. The user can edit the file
 * with the IDs, so unusual ones are encoded: the result is always inside `runsFolder`.
 * @param runsFolder the folder of all accounts, in the extension's storage
 */
export function accountFolder(runsFolder: string, accountId: string): string {
  const isPlain = /^[0-9a-z-]{1,64}$/.test(accountId);
  return path.join(runsFolder, isPlain ? accountId : `_${Buffer.from(accountId).toString('hex')}`);
}

/** Returns the file through which windows share what they read from an account. A later format has another name. */
export function cacheFileOf(runsFolder: string, accountId: string): string {
  return path.join(accountFolder(runsFolder, accountId), 'cache.1.json');
}
