import path from 'node:path';

/**
 * A local record of an account at the service, which has no call that says who one is. Runs, caches and
 * downloads belong to the `id`; replacing the API key does not change it.
 */
export type Account = ServiceAccount | SandboxAccount;

export interface ServiceAccount {
  kind: 'service';
  /** A random UUID. */
  id: string;
  /** Given by the user. */
  name: string;
  /** Where the API is, without `/api/v1` and without a trailing slash. */
  baseUrl: string;
  budget?: AccountBudget | undefined;
  /** Where the user adds funds and makes API keys: an https address that the user typed, the service names none. */
  website?: string | undefined;
}

/** The embedded service: its id lives in its database, its address and API key are resolved at each start. */
export interface SandboxAccount {
  kind: 'sandbox';
  id: string;
  name: string;
  budget?: AccountBudget | undefined;
}

/** What the user wants to spend at most; it warns, and cannot stop the service from charging. */
export interface AccountBudget {
  perRunCents?: number | undefined;
  /** In a calendar month, in UTC. */
  perMonthCents?: number | undefined;
  /** Of the balance when it was set. */
  currency: string;
}

/** What can be changed of an account while it is used; undefined removes it. */
export type AccountChange = Partial<Pick<ServiceAccount, 'budget' | 'website'>>;

/** An account of a service that was used on this machine and is signed out of. */
export interface FormerAccount {
  id: string;
  /** Undefined where only its submissions are left of it. */
  name: string | undefined;
  /** When its last submission was made; milliseconds since the epoch, undefined where none is known. */
  lastUsedMs: number | undefined;
}

/** What a submission says of its account. */
interface Submitted {
  readonly accountId: string;
  readonly origin: string;
  readonly created: { readonly localMs: number };
}

/** The accounts of a service that can be continued with, the last one first; those without a name last. */
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
    .filter((account) => placeOf(account) === origin)
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

/** The only origin that may receive the account's API key. */
export function originOf(account: ServiceAccount): string {
  return new URL(account.baseUrl).origin;
}

/** Where an account's submissions go, and nowhere else; the sandbox has another address at each start. */
export function placeOf(account: Account): string {
  return account.kind === 'sandbox' ? 'sandbox' : originOf(account);
}

/**
 * Where the lock files of one account are; all windows of the machine share them. It need not exist. IDs are UUIDs, but come
 * from a file that the user may edit: whatever it says, the folder is inside the one of all accounts.
 * @param runsFolder the folder of all accounts, in the extension's storage
 */
export function accountFolder(runsFolder: string, accountId: string): string {
  const isPlain = /^[0-9a-z-]{1,64}$/.test(accountId);
  return path.join(runsFolder, isPlain ? accountId : `_${Buffer.from(accountId).toString('hex')}`);
}

/** The lock file of who watches an account's runs: for `Lease` alone. */
export function watchLockOf(runsFolder: string, accountId: string): string {
  return path.join(accountFolder(runsFolder, accountId), 'watch.lock');
}
