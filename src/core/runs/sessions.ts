import type { Client, Connection } from '../api/client.ts';
import type { RateGate } from '../api/rateGate.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { Account } from '../accounts/account.ts';
import type { AccountStore } from '../accounts/accountStore.ts';
import { Session, type SessionState } from './session.ts';

/**
 * Owns one session per account, made when it is first needed, for as long as the account exists: switching back shows at
 * once what was known, and an upload stays with the session of the account it was started with.
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

  /** Fires when another account became active, or none, with its session. */
  readonly onDidChangeActive = this.#onDidChangeActive.event;

  /** @param connect resolves an account's address and API key; undefined where there is no key */
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

  /** The session of an account, whether it is active or not. */
  of(account: Account): Session {
    const known = this.#sessions.get(account.id);
    if (known !== undefined && isSame(known.account, account)) {
      known.account = account;
      return known;
    }
    // The address or name changed: what was read from the old address is not this account's truth.
    known?.dispose();
    const session = new Session(account, () => this.#connect(account), this.#createClient);
    session.onDidChangeState((state) => this.#onDidChangeState.fire({ session, state }));
    this.#sessions.set(account.id, session);
    return session;
  }

  /** The session of the account of an id; undefined where there is no such account on this machine. */
  find(accountId: string): Session | undefined {
    const account = this.#accounts.accounts.find(({ id }) => id === accountId);
    return account && this.of(account);
  }

  /** The name of an account of this machine, unless it is the active one. */
  otherName(accountId: string): string | undefined {
    if (accountId === this.#active?.account.id) return undefined;
    const { accounts, former } = this.#accounts;
    return [...accounts, ...former].find(({ id }) => id === accountId)?.name;
  }

  /** Whether the change of some session to `key-rejected` was caused by this error. */
  isReportedByState(error: unknown): boolean {
    return [...this.#sessions.values()].some((session) => session.isReportedByState(error));
  }

  /** Lets every session connect again: its API key or the proxy's settings changed. */
  reconnect(accountId?: string): void {
    for (const [id, session] of this.#sessions)
      if (accountId === undefined || accountId === id) session.reconnect();
  }

  dispose(): void {
    this.#disposables.dispose();
    for (const session of this.#sessions.values()) session.dispose();
    this.#sessions.clear();
  }

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

/** Whether one session serves both: what the user set of an account is no matter of the connection. */
function isSame(one: Account, other: Account): boolean {
  return one.id === other.id && one.name === other.name && addressOf(one) === addressOf(other);
}

function addressOf(account: Account): string | undefined {
  return account.kind === 'service' ? account.baseUrl : undefined;
}
