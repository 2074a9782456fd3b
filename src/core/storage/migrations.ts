/** One change of the tables in `state.sqlite`. */
export interface Migration {
  /** Only adds: versions of the extension that do not know it go on reading and writing beside it. */
  readonly sql: string;
  /** Versions that do not know this one must not use the file any longer. */
  readonly refusesOlder?: boolean;
}

/**
 * All tables of `state.sqlite`, in the order in which they came. Append only: the version of a file is how many of these it
 * has. The queries of a table stand in one module of its room, and always name their columns. A table is STRICT, and its
 * first column is the account's id.
 */
export const MIGRATIONS: readonly Migration[] = [];
