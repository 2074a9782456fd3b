export const TEST_TABLES: readonly string[] = [
  `CREATE TABLE item (
    account TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (account, name)
  ) STRICT`,
];
