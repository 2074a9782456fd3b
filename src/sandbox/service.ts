import type { DatabaseSync } from 'node:sqlite';
import { Account } from './account.ts';
import type { EveryOther } from './everyOther.ts';
import { IdempotencyTable } from './idempotency.ts';
import { RunTable } from './runTable.ts';

/** All that the endpoints work on: what the windows share (the database) and what one server has of its own. */
export interface Service {
  readonly database: DatabaseSync;
  readonly account: Account;
  readonly runs: RunTable;
  readonly idempotency: IdempotencyTable;
  /** Milliseconds since 1970; the only clock, also of the `Date` header. */
  readonly now: () => number;
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly everyOther: EveryOther;
  /** Aborted when the server closes, so that nothing waits on. */
  readonly closing: AbortSignal;
}

/** The shared half, read from a database. */
export function tablesOf(database: DatabaseSync) {
  return {
    database,
    account: new Account(database),
    runs: new RunTable(database),
    idempotency: new IdempotencyTable(database),
  };
}
