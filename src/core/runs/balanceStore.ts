import type { Client } from '../api/client.ts';
import type { Balance } from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { shared, type Shared } from '../base/sharedWork.ts';

/** Owns what is known of an account's balance. */
export class BalanceStore implements Disposable {
  readonly #nowMs: () => number;
  readonly #call: <T>(work: (client: Client) => Promise<T>) => Promise<T>;
  readonly #onDidChange = new Emitter<void>();
  #balance: Balance | undefined;
  #readAtMs: number | undefined;

  /** Fires when the balance was read or a submission returned it. */
  readonly onDidChange = this.#onDidChange.event;

  /** Reads the balance; calls that overlap share one request. @throws ApiError, KeyMissingError */
  readonly refresh: Shared<Balance>;

  constructor(call: <T>(work: (client: Client) => Promise<T>) => Promise<T>, nowMs: () => number) {
    this.#call = call;
    this.#nowMs = nowMs;
    this.refresh = shared(async (isCurrent) => {
      for (;;) {
        const before = this.#balance;
        const balance = await call((client) => client.getBalance());
        if (!isCurrent()) return balance;
        if (this.#balance !== before) continue;
        this.set(balance);
        return balance;
      }
    });
  }

  /** Reads it with nobody waiting: no request is repeated. @throws ApiError, KeyMissingError */
  async readInBackground(): Promise<void> {
    const before = this.#balance;
    const balance = await this.#call((client) => client.getBalance({ isBackground: true }));
    // What a submission returned meanwhile is newer than this answer may be.
    if (this.#balance === before) this.set(balance);
  }

  /** Undefined until it is known. */
  get current(): Balance | undefined {
    return this.#balance;
  }

  /** When the service said so, in milliseconds since the epoch. */
  get readAtMs(): number | undefined {
    return this.#readAtMs;
  }

  set(balance: Balance, readAtMs = this.#nowMs()): void {
    this.#balance = balance;
    this.#readAtMs = readAtMs;
    this.#onDidChange.fire();
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }
}
