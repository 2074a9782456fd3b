import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { Intent } from '../../core/submission/intent.ts';

/** The account of an API key, and the only origin that the key may be sent to. */
interface KeyOwner {
  accountId: string;
  origin: string;
}

/** A stored API key. */
interface StoredKey {
  apiKey: string;
  /**
   * A random ID, not derived from the API key, that changes when another API key is entered, and returns with a key that an open
   * submission was sent with: what may have been charged is never resent with another API key, nor settled by its checks.
   */
  keyId: string;
}

const PREFIX = 'fineTuning.apiKey.';

/**
 * Owns the API keys, in VS Code's SecretStorage, each bound to the account and origin that it was entered for. A missing key is
 * normal: VS Code deletes secrets that the keyring cannot decrypt.
 */
export class ApiKeys implements vscode.Disposable {
  readonly #secrets: vscode.SecretStorage;
  readonly #readSubmissions: () => Promise<readonly Intent[]>;
  readonly #onDidChange = new vscode.EventEmitter<string>();
  readonly #subscription: vscode.Disposable;

  /** Fires with the account ID after its key was stored or deleted, in this window or (on the desktop) in another. */
  readonly onDidChange = this.#onDidChange.event;

  /** @param readSubmissions reads the submissions of all accounts */
  constructor(secrets: vscode.SecretStorage, readSubmissions: () => Promise<readonly Intent[]>) {
    this.#secrets = secrets;
    this.#readSubmissions = readSubmissions;
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

  /** Stores an API key. A key that is stored, or with which an open submission was sent to the same origin, retains its ID. */
  async store(owner: KeyOwner, apiKey: string): Promise<void> {
    const known = await this.read(owner);
    const sentAs = await this.#sentAs(owner, apiKey).catch(() => undefined);
    const keyId = sentAs ?? (known?.apiKey === apiKey ? known.keyId : randomUUID());
    await this.#secrets.store(
      PREFIX + owner.accountId,
      JSON.stringify({ origin: owner.origin, apiKey, keyId }),
    );
  }

  /**
   * Stores the API key of an account before `make` adds the account, and deletes the key if `make` fails.
   * @throws errors of `make` and of the SecretStorage
   */
  async storeWith(owner: KeyOwner, apiKey: string, make: () => Promise<void>): Promise<void> {
    await this.store(owner, apiKey);
    try {
      await make();
    } catch (error) {
      await this.delete(owner.accountId).catch(() => undefined);
      throw error;
    }
  }

  async delete(accountId: string): Promise<void> {
    await this.#secrets.delete(PREFIX + accountId);
  }

  /** @throws if the submissions can't be read, which must not prevent signing in */
  async #sentAs(owner: KeyOwner, apiKey: string): Promise<string | undefined> {
    const { keyIdOfOpen } = await import('../../core/submission/enteredKey.ts');
    return keyIdOfOpen(await this.#readSubmissions(), owner, apiKey);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#onDidChange.dispose();
  }
}
