/**
 * A local record of somebody the person works as: the service has no call that tells who one is. Runs, caches and
 * downloads belong to the `id`; "replace key" keeps it.
 */
export type Account = ServiceAccount | SandboxAccount;

export interface ServiceAccount {
  kind: 'service';
  /** A random UUID. */
  id: string;
  /** Given by the person. */
  name: string;
  /** Where the API is, without `/api/v1` and without a trailing slash. */
  baseUrl: string;
}

/** The embedded service: its id lives in its database, its address and API key are resolved anew at each start. */
export interface SandboxAccount {
  kind: 'sandbox';
  id: string;
  name: string;
}

/** The only origin that may receive the account's API key. */
export function originOf(account: ServiceAccount): string {
  return new URL(account.baseUrl).origin;
}

/** Where an account's submissions go, and nowhere else; the sandbox has another address at each start. */
export function placeOf(account: Account): string {
  return account.kind === 'sandbox' ? 'sandbox' : originOf(account);
}
