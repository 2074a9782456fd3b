import type { Migration } from '../../../src/core/storage/migrations.ts';

export const TEST_TABLES: readonly Migration[] = [
  {
    sql: `CREATE TABLE item (
      account TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (account, name)
    ) STRICT`,
  },
];
