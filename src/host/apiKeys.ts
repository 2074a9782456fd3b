import * as vscode from 'vscode';

/** Whose key, and the only origin it may be sent to. */
interface KeyOwner {
  accountId: string;
  origin: string;
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

  /** The key, if there is one that was entered for this very origin. */
  async read(owner: KeyOwner): Promise<string | undefined> {
    const text = await this.#secrets.get(PREFIX + owner.accountId);
    if (text === undefined) return undefined;
    try {
      const { origin, apiKey } = JSON.parse(text) as { origin?: unknown; apiKey?: unknown };
      return origin === owner.origin && typeof apiKey === 'string' ? apiKey : undefined;
    } catch {
      return undefined;
    }
  }

  async store(owner: KeyOwner, apiKey: string): Promise<void> {
    await this.#secrets.store(PREFIX + owner.accountId, JSON.stringify({ origin: owner.origin, apiKey }));
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
