import type { Account } from '../accounts/account.ts';
import type { AccountStore } from '../accounts/accountStore.ts';
import type { Client, Connection } from '../api/client.ts';
import type { RateGate } from '../api/rateGate.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { Session, type SessionState } from './session.ts';

/**
 * Owns one session per account, from its first use until the account is removed. So after a switch back, its data shows
 * at once, and an upload stays with the account that started it.
 */
export class Sessions implements Disposable {
  readonly #accounts: AccountStore;
  readonly #connect: (account: Account) => Promise<Connection | undefined>;
  readonly #createClient: (connection: Connection, gate: RateGate) => Client;
  readonly #sessions = new Map<string, Session>();
  readonly #disposables = new DisposableStore();
  readonly #onDidChangeActive = this.#disposables.add(new Emitter<Session | undefined>());
  readonly #onDidChangeState = this.#disposables.add(
    new Emitter<{ session: Session; state: SessionState }>(),
  );
  #active: Session | undefined;

  /** Fires when the state of any session changes, active or not. */
  readonly onDidChangeState = this.#onDidChangeState.event;

  /** Fires when another account, or none, becomes active; with its session. */
  readonly onDidChangeActive = this.#onDidChangeActive.event;

  /** @param connect resolves an account's address and API key; undefined without a key */
  constructor(
    accounts: AccountStore,
    connect: (account: Account) => Promise<Connection | undefined>,
    createClient: (connection: Connection, gate: RateGate) => Client,
  ) {
    this.#accounts = accounts;
    this.#connect = connect;
    this.#createClient = createClient;
    this.#active = this.#sessionOfActive();
    this.#disposables.add(accounts.onDidChange(() => this.#follow()));
  }

  get active(): Session | undefined {
    return this.#active;
  }

  /** Returns the session of an account, active or not. */
  of(account: Account): Session {
    const known = this.#sessions.get(account.id);
    if (known !== undefined && isSame(known.account, account)) {
      known.account = account;
      return known;
    }
    // The address or name changed: data from the old address doesn't belong to this account.
    known?.dispose();
    const session = new Session(account, () => this.#connect(account), this.#createClient);
    session.onDidChangeState((state) => this.#onDidChangeState.fire({ session, state }));
    this.#sessions.set(account.id, session);
    return session;
  }

  /** Returns the session of an account ID; undefined if this machine has no such account. */
  find(accountId: string): Session | undefined {
    const account = this.#accounts.accounts.find(({ id }) => id === accountId);
    return account && this.of(account);
  }

  /** Returns the name of an account on this machine, unless it is the active one. */
  otherName(accountId: string): string | undefined {
    if (accountId === this.#active?.account.id) return undefined;
    const { accounts, former } = this.#accounts;
    return [...accounts, ...former].find(({ id }) => id === accountId)?.name;
  }

  /** Whether this error caused any session to change to `key-rejected`. */
  isReportedByState(error: unknown): boolean {
    return [...this.#sessions.values()].some((session) => session.isReportedByState(error));
  }

  /** Reconnects one or all sessions after the API key or the proxy settings changed. */
  reconnect(accountId?: string): void {
    for (const [id, session] of this.#sessions)
      if (accountId === undefined || accountId === id) session.reconnect();
  }

  dispose(): void {
    this.#disposables.dispose();
    for (const session of this.#sessions.values()) session.dispose();
    this.#sessions.clear();
  }

  /** After the accounts changed, ends the sessions of removed ones, and follows the active one. */
  #follow(): void {
    for (const [id, session] of this.#sessions) {
      if (this.find(id) !== undefined) continue;
      session.dispose();
      this.#sessions.delete(id);
    }
    const active = this.#sessionOfActive();
    if (active === this.#active) return;
    this.#active = active;
    this.#onDidChangeActive.fire(active);
  }

  #sessionOfActive(): Session | undefined {
    const account = this.#accounts.active;
    return account === undefined ? undefined : this.of(account);
  }
}

/**
 * Calls `follow` with the active session, undefined without one: now and whenever it changes.
 * @param follow returns what to dispose before the next call
 */
export function followActive(
  sessions: Sessions,
  follow: (session: Session | undefined) => readonly Disposable[] | undefined,
): Disposable {
  let followed: readonly Disposable[] | undefined;
  const leave = () => {
    for (const disposable of followed ?? []) disposable.dispose();
    followed = undefined;
  };
  const subscription = sessions.onDidChangeActive((session) => {
    leave();
    followed = follow(session);
  });
  followed = follow(sessions.active);
  return {
    dispose() {
      subscription.dispose();
      leave();
    },
  };
}

/** Whether two versions of an account can share a session: user settings don't affect the connection. */
function isSame(one: Account, other: Account): boolean {
  return one.id === other.id && one.name === other.name && addressOf(one) === addressOf(other);
}

function addressOf(account: Account): string | undefined {
  return account.kind === 'service' ? account.baseUrl : undefined;
}
