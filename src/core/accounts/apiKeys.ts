import { randomUUID } from 'node:crypto';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { ExpectedError } from '../base/errors.ts';
import { Emitter, type Event } from '../base/event.ts';
import type { AccountStore } from './accountStore.ts';

/** What is used of VS Code's SecretStorage. */
interface Secrets {
  get(key: string): PromiseLike<string | undefined>;
  store(key: string, value: string): PromiseLike<void>;
  delete(key: string): PromiseLike<void>;
  readonly onDidChange: Event<{ key: string }>;
}

/** The account of an API key, and the only origin that the key may be sent to. */
export interface KeyOwner {
  accountId: string;
  origin: string;
}

/** A stored API key. */
interface StoredKey {
  apiKey: string;
  /**
   * A random ID, not derived from the API key. Another key gets another ID; a key that an open submission was
   * sent with gets its ID back. A possible charge is only resent, or settled by a check, with the same ID.
   */
  keyId: string;
}

/** Another window replaced this account's API key. This window has the old one until it is reloaded. */
export class KeyOutdatedError extends ExpectedError {
  readonly code = 'key-outdated';

  constructor() {
    super('another window replaced the API key');
  }
}

/** Another window stored or deleted API keys, which a write by this window would undo. */
export class KeysChangedError extends ExpectedError {
  readonly code = 'keys-changed';

  constructor() {
    super('another window changed the API keys');
  }
}

const PREFIX = 'fineTuning.apiKey.';

/**
 * Owns the API keys, in VS Code's SecretStorage. Each is bound to the account and origin it was entered for.
 * A missing key is normal: VS Code deletes secrets that the keyring cannot decrypt.
 * In a browser, VS Code reads its secrets once per page, and each write stores all of them. So a page must
 * not use its API key, or write any, after another page changed one. It learns of that by the `keyId` in the
 * accounts file.
 */
export class ApiKeys implements Disposable {
  readonly #secrets: Secrets;
  readonly #accounts: AccountStore;
  readonly #keyIdOfSent: (owner: KeyOwner, apiKey: string) => Promise<string | undefined>;
  readonly #onDidChange = new Emitter<string>();
  readonly #subscriptions = new DisposableStore();
  /** In a browser, the key IDs of the accounts whose API keys this page knows, by account ID. */
  #ofPage: Map<string, string | undefined> | undefined;
  /** Whether this page could not read the accounts yet: what it reads first is what it knows. */
  #isFirstRead: boolean;
  /** The accounts whose API keys are being written by this window. */
  readonly #writing = new Set<string>();
  #outdated: readonly string[] = [];

  /** Fires with the account ID after its key was stored or deleted, in this window or another. */
  readonly onDidChange = this.#onDidChange.event;

  /**
   * @param accounts must be read already, if they can be
   * @param keyIdOfSent returns the ID of an API key that an open submission to the same origin was sent with.
   * If it fails, signing in still works
   * @param onDidChangeFocus of this window; given if windows are pages of a browser
   */
  constructor(
    secrets: Secrets,
    accounts: AccountStore,
    keyIdOfSent: (owner: KeyOwner, apiKey: string) => Promise<string | undefined>,
    onDidChangeFocus: Event<{ focused: boolean }> | undefined,
  ) {
    this.#secrets = secrets;
    this.#accounts = accounts;
    this.#keyIdOfSent = keyIdOfSent;
    this.#ofPage = onDidChangeFocus && this.#keyIds();
    this.#isFirstRead = accounts.isUnreadable;
    this.#subscriptions.add(
      secrets.onDidChange(({ key }) => {
        if (key.startsWith(PREFIX)) this.#onDidChange.fire(key.slice(PREFIX.length));
      }),
    );
    this.#subscriptions.add(accounts.onDidChange(() => this.#follow()));
    // The system may have no file watcher for this page.
    const followFocus = onDidChangeFocus?.(({ focused }) => {
      if (focused) void accounts.reload().catch(() => undefined);
    });
    if (followFocus !== undefined) this.#subscriptions.add(followFocus);
  }

  /** Whether another page replaced the API key of an account. */
  isOutdated(accountId: string): boolean {
    return this.#outdatedIds().includes(accountId);
  }

  /**
   * Ensures that this window has the current API keys, so that a write doesn't undo another window's.
   * @param accountId the account that the user means, if any
   * @throws KeyOutdatedError, KeysChangedError, AccountsUnreadableError
   */
  async requireCurrent(accountId?: string): Promise<void> {
    if (this.#ofPage === undefined) return;
    await this.#accounts.open();
    if (accountId !== undefined && this.isOutdated(accountId)) throw new KeyOutdatedError();
    if (this.#changedElsewhere().length > 0) throw new KeysChangedError();
  }

  /** Returns the API key of an account, if it was entered for this origin and not replaced since. */
  async read(owner: KeyOwner): Promise<StoredKey | undefined> {
    if (this.isOutdated(owner.accountId)) return undefined;
    const text = await this.#secrets.get(PREFIX + owner.accountId);
    if (text === undefined) return undefined;
    try {
      const { origin, apiKey, keyId } = JSON.parse(text) as Record<string, unknown>;
      return origin === owner.origin && typeof apiKey === 'string' && typeof keyId === 'string'
        ? { apiKey, keyId }
        : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Replaces the API key of an account.
   * @throws KeyOutdatedError, KeysChangedError, and errors of the SecretStorage
   */
  async replace(owner: KeyOwner, apiKey: string): Promise<void> {
    // The API key is stored, even if other pages can't learn of it.
    await this.#store(owner, apiKey, (keyId) =>
      this.#accounts.change(owner.accountId, { keyId }).catch(() => undefined),
    );
  }

  /**
   * Stores an API key, then lets `make` add its account with the key's ID. Deletes the key if `make` fails.
   * @throws KeysChangedError, and errors of `make` and of the SecretStorage
   */
  async storeWith(owner: KeyOwner, apiKey: string, make: (keyId: string) => Promise<void>): Promise<void> {
    await this.#store(owner, apiKey, (keyId) =>
      make(keyId).catch(async (error: unknown) => {
        await this.delete(owner.accountId).catch(() => undefined);
        throw error;
      }),
    );
  }

  /** @throws KeysChangedError, and errors of the SecretStorage */
  async delete(accountId: string): Promise<void> {
    this.#ofPage?.delete(accountId);
    await this.requireCurrent();
    await this.#secrets.delete(PREFIX + accountId);
  }

  /**
   * Keeps the ID of a key that is stored, or that an open submission was sent with to the same origin.
   * @param record writes the ID to the accounts file
   */
  async #store(owner: KeyOwner, apiKey: string, record: (keyId: string) => Promise<void>): Promise<void> {
    const { accountId, origin } = owner;
    await this.requireCurrent(accountId);
    const known = await this.read(owner);
    const sentAs = await this.#keyIdOfSent(owner, apiKey).catch(() => undefined);
    const keyId = sentAs ?? (known?.apiKey === apiKey ? known.keyId : randomUUID());
    this.#writing.add(accountId);
    try {
      await this.#secrets.store(PREFIX + accountId, JSON.stringify({ origin, apiKey, keyId }));
      await record(keyId);
      this.#ofPage?.set(accountId, this.#keyIds().get(accountId));
    } finally {
      this.#writing.delete(accountId);
    }
  }

  /** Reports the accounts whose API key another page just replaced. */
  #follow(): void {
    if (this.#isFirstRead && this.#ofPage !== undefined) this.#ofPage = this.#keyIds();
    this.#isFirstRead = false;
    const before = this.#outdated;
    this.#outdated = this.#outdatedIds();
    for (const id of this.#outdated) if (!before.includes(id)) this.#onDidChange.fire(id);
  }

  /** The IDs of the accounts whose API key another page replaced. */
  #outdatedIds(): string[] {
    const now = this.#keyIds();
    return this.#changedElsewhere().filter((id) => now.has(id) && this.#ofPage?.has(id));
  }

  /** The IDs of the accounts whose API key another page stored, replaced, or deleted. */
  #changedElsewhere(): string[] {
    if (this.#ofPage === undefined) return [];
    const ofPage = this.#ofPage;
    const now = this.#keyIds();
    return [...new Set([...ofPage.keys(), ...now.keys()])].filter(
      (id) => ofPage.get(id) !== now.get(id) && !this.#writing.has(id),
    );
  }

  #keyIds(): Map<string, string | undefined> {
    const ofService = this.#accounts.accounts.filter((account) => account.kind === 'service');
    return new Map(ofService.map(({ id, keyId }) => [id, keyId]));
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#onDidChange.dispose();
  }
}
