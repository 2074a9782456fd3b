import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { IDEMPOTENCY_WINDOW_MS, type RunCreation } from '../core/api/types.ts';

/** What was answered when an Idempotency-Key was used first, and what identifies the parameters of that request. */
export interface FirstUse {
  fingerprint: string;
  answer: Required<RunCreation>;
}

/** The Idempotency-Keys used within 24 hours; older ones are as good as never used (spec: "Limits"). */
export class IdempotencyTable {
  readonly #database: DatabaseSync;
  readonly #find: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#find = database.prepare(
      'SELECT fingerprint, answer FROM used_idempotency_keys WHERE idempotency_key = ? AND used_at > ?',
    );
  }

  find(idempotencyKey: string, now: number): FirstUse | undefined {
    const row = this.#find.get(idempotencyKey, now - IDEMPOTENCY_WINDOW_MS);
    if (!row) return undefined;
    const { fingerprint, answer } = row as { fingerprint: string; answer: string };
    return { fingerprint, answer: JSON.parse(answer) as Required<RunCreation> };
  }

  /** Records a first use, and forgets those that are out of the window. */
  insert(idempotencyKey: string, { fingerprint, answer }: FirstUse, now: number): void {
    this.#database
      .prepare('DELETE FROM used_idempotency_keys WHERE used_at <= ?')
      .run(now - IDEMPOTENCY_WINDOW_MS);
    this.#database
      .prepare('INSERT INTO used_idempotency_keys VALUES (?, ?, ?, ?)')
      .run(idempotencyKey, fingerprint, now, JSON.stringify(answer));
  }

  deleteAll(): void {
    this.#database.exec('DELETE FROM used_idempotency_keys');
  }
}
