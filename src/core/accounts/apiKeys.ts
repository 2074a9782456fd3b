import { randomUUID } from 'node:crypto';
import type { Disposable } from '../base/disposable.ts';
import { Emitter, type Event } from '../base/event.ts';

/** The part of VS Code's SecretStorage that is used. */
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
   * A random ID, not derived from the API key. Another key gets another ID. A key that an open submission was created
   * with gets its ID back. Only with that ID may the submission be sent again, or a check settle it.
   */
  keyId: string;
}

const PREFIX = 'fineTuning.apiKey.';

/**
 * Owns the API keys, in VS Code's SecretStorage. Each is bound to the account and origin it was entered for.
 * A missing key is normal: VS Code deletes secrets that the keyring can't decrypt. In a browser, VS Code reads its
 * secrets once per page, so a page gets the changes of another page only when it is reloaded.
 */
export class ApiKeys implements Disposable {
  readonly #secrets: Secrets;
  readonly #keyIdOfSent: (owner: KeyOwner, apiKey: string) => Promise<string | undefined>;
  readonly #onDidChange = new Emitter<string>();
  readonly #subscription: Disposable;

  /** Fires with the account ID after its key was stored or deleted, in this window or another. */
  readonly onDidChange = this.#onDidChange.event;

  /**
   * @param keyIdOfSent returns the ID of this API key if a submission to the same origin was created with it. If it
   * fails, signing in still works
   */
  constructor(
    secrets: Secrets,
    keyIdOfSent: (owner: KeyOwner, apiKey: string) => Promise<string | undefined>,
  ) {
    this.#secrets = secrets;
    this.#keyIdOfSent = keyIdOfSent;
    this.#subscription = secrets.onDidChange(({ key }) => {
      if (key.startsWith(PREFIX)) this.#onDidChange.fire(key.slice(PREFIX.length));
    });
  }

  /** Returns the API key of an account, if it was entered for this origin. */
  async read(owner: KeyOwner): Promise<StoredKey | undefined> {
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
   * Stores the API key of an account, in place of an earlier one. A key that is stored already, or that an open
   * submission to the same origin was created with, keeps its ID.
   * @throws errors of the SecretStorage
   */
  async store(owner: KeyOwner, apiKey: string): Promise<void> {
    const { accountId, origin } = owner;
    const known = await this.read(owner);
    const sentAs = await this.#keyIdOfSent(owner, apiKey).catch(() => undefined);
    const keyId = sentAs ?? (known?.apiKey === apiKey ? known.keyId : randomUUID());
    await this.#secrets.store(PREFIX + accountId, JSON.stringify({ origin, apiKey, keyId }));
  }

  /** @throws errors of the SecretStorage */
  async delete(accountId: string): Promise<void> {
    await this.#secrets.delete(PREFIX + accountId);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#onDidChange.dispose();
  }
}
