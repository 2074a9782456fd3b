import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';

/** Whose key, and the only origin it may be sent to. */
interface KeyOwner {
  accountId: string;
  origin: string;
}

/** An API key as it is stored. */
interface StoredKey {
  apiKey: string;
  /**
   * A random id, not derived from the API key: another one whenever another API key was entered. A submission that was
   * begun with one API key is not sent again with another.
   */
  keyId: string;
}

const PREFIX = 'fineTuning.apiKey.';

/**
 * Owns the API keys, in the editor's SecretStorage, each bound to the account and origin that it was entered for. "Gone"
 * is a normal state: a keyring that cannot decrypt makes VS Code delete the secret.
 */
export class ApiKeys implements vscode.Disposable {
  readonly #secrets: vscode.SecretStorage;
  readonly #onDidChange = new vscode.EventEmitter<string>();
  readonly #subscription: vscode.Disposable;

  /** Fires with the account id when its key was stored or deleted, in this window or (on the desktop) in another. */
  readonly onDidChange = this.#onDidChange.event;

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
    this.#subscription = secrets.onDidChange(({ key }) => {
      if (key.startsWith(PREFIX)) this.#onDidChange.fire(key.slice(PREFIX.length));
    });
  }

  /** The API key, if there is one that was entered for this very origin. */
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

  /** Stores an API key; the same one for the same origin keeps its id. */
  async store(owner: KeyOwner, apiKey: string): Promise<void> {
    const known = await this.read(owner);
    const keyId = known?.apiKey === apiKey ? known.keyId : randomUUID();
    await this.#secrets.store(
      PREFIX + owner.accountId,
      JSON.stringify({ origin: owner.origin, apiKey, keyId }),
    );
  }

  /**
   * Stores the API key of an account that `make` is about to make, which needs it from its first moment; where that fails,
   * the key is deleted again. @throws what `make` throws
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

  dispose(): void {
    this.#subscription.dispose();
    this.#onDidChange.dispose();
  }
}
