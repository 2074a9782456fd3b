import { createHash } from 'node:crypto';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { StateStore } from '../storage/state.ts';

/** Older entries are deleted: no list still shows such a run as recently changed. */
const STORED_FOR_MS = 90 * 24 * 60 * 60_000;
const TOPIC = 'unseen';

/**
 * Owns the `notification` table: which notifications of runs were shown, and which finished runs are unseen,
 * for all windows on this machine.
 */
export class NotificationLedger implements Disposable {
  readonly #state: StateStore;
  readonly #nowMs: () => number;
  readonly #onDidChangeUnseen = new Emitter<string>();
  readonly #claimed = new Set<string>();
  readonly #unseen = new Map<string, number>();

  /** Fires with the account's ID when its number of unseen runs changes in any window. */
  readonly onDidChangeUnseen = this.#onDidChangeUnseen.event;

  constructor(state: StateStore, nowMs: () => number = Date.now) {
    this.#state = state;
    this.#nowMs = nowMs;
  }

  /**
   * Claims a notification for this window. Resolves to true in exactly one window, ever. Without a usable
   * store it does so once in each window: better shown twice than never.
   * @param isUnseen counts the run as unseen until `see`
   */
  async claim(accountId: string, runId: string, what: string, isUnseen = false): Promise<boolean> {
    const key = claimKey(runId, what);
    const known = `${accountId} ${key}`;
    if (this.#claimed.has(known)) return false;
    this.#claimed.add(known);
    try {
      const isMine = await this.#state.transaction((tables) => {
        const insert = (each: string, counts: boolean) =>
          tables.run(
            `INSERT INTO notification (account, key, claimed_at_ms, is_unseen) VALUES (?, ?, ?, ?)
             ON CONFLICT (account, key) DO NOTHING`,
            accountId,
            each,
            this.#nowMs(),
            Number(counts),
          );
        if (insert(key, false) !== 1) return false;
        tables.run(
          'DELETE FROM notification WHERE account = ? AND claimed_at_ms < ?',
          accountId,
          this.#nowMs() - STORED_FOR_MS,
        );
        // A run counts as unseen only once, however many notifications are claimed for it.
        if (isUnseen && insert(claimKey(runId, 'unseen'), true) === 1) tables.touch(TOPIC, accountId);
        return true;
      });
      if (isUnseen) await this.#count(accountId);
      return isMine;
    } catch {
      return true;
    }
  }

  /** The number of finished runs of an account that the user has not seen; 0 until `follow` has read it. */
  unseen(accountId: string): number {
    return this.#unseen.get(accountId) ?? 0;
  }

  /** Reads the number of unseen runs, and follows changes by other windows. */
  follow(accountId: string): Disposable {
    void this.#count(accountId);
    return this.#state.follow(TOPIC, accountId, () => void this.#count(accountId));
  }

  /** Marks all finished runs of an account as seen. Never rejects; if it fails, they stay unseen. */
  async see(accountId: string): Promise<void> {
    const sql = 'UPDATE notification SET is_unseen = 0 WHERE account = ? AND is_unseen = 1';
    const see = this.#state.transaction((tables) => {
      if (tables.run(sql, accountId) > 0) tables.touch(TOPIC, accountId);
    });
    await see.catch(() => undefined);
    await this.#count(accountId);
  }

  dispose(): void {
    this.#onDidChangeUnseen.dispose();
  }

  async #count(accountId: string): Promise<void> {
    const sql = 'SELECT count(*) AS count FROM notification WHERE account = ? AND is_unseen = 1';
    const row = await this.#state.read((tables) => tables.get(sql, accountId)).catch(() => undefined);
    // Without a row, the next change counts again.
    if (row === undefined) return;
    const count = Number(row['count']);
    if (count === this.unseen(accountId)) return;
    this.#unseen.set(accountId, count);
    this.#onDidChangeUnseen.fire(accountId);
  }
}

/** Hashed, because run IDs and statuses are service text of any length. */
function claimKey(runId: string, what: string): string {
  return createHash('sha256')
    .update(JSON.stringify([runId, what]))
    .digest('hex')
    .slice(0, 40);
}
