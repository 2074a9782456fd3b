import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Timeline } from './lifecycle.ts';

/** One run as it is stored. Its status is not: that follows from the clock. */
export interface RunRow extends Timeline {
  run_id: string;
  model_id: string;
  label: string | null;
  price_cents: number;
}

/** A place in the list: everything that comes after it is older. */
export interface Position {
  created_at: number;
  sequence: number;
}

/** The stored runs. */
export class RunTable {
  readonly #database: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #find: StatementSync;
  readonly #page: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#insert = database.prepare(`
      INSERT INTO runs (run_id, model_id, label, price_cents, created_at, starts_at, completes_at, course, generated)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#find = database.prepare('SELECT * FROM runs WHERE run_id = ?');
    this.#page = database.prepare(`
      SELECT * FROM runs WHERE (created_at, sequence) < (?, ?)
      ORDER BY created_at DESC, sequence DESC LIMIT ?`);
  }

  insert(run: RunRow, generated = false): void {
    const { run_id, model_id, label, price_cents, created_at, starts_at, completes_at, course } = run;
    const times = [created_at, starts_at, completes_at];
    this.#insert.run(run_id, model_id, label, price_cents, ...times, course, Number(generated));
  }

  find(runId: string): RunRow | undefined {
    return this.#find.get(runId) as RunRow | undefined;
  }

  /** The newest runs after a position; later insertions do not move what follows it. */
  page(after: Position | undefined, limit: number): (RunRow & Position)[] {
    const { created_at, sequence } = after ?? { created_at: Number.MAX_SAFE_INTEGER, sequence: 0 };
    return this.#page.all(created_at, sequence, limit) as unknown as (RunRow & Position)[];
  }

  /** Stretches what is left of unfinished runs by a factor. */
  rescale(now: number, factor: number): void {
    this.#database
      .prepare(
        `UPDATE runs SET
           starts_at = CASE WHEN starts_at > :now THEN :now + CAST((starts_at - :now) * :factor AS INTEGER)
                            ELSE starts_at END,
           completes_at = :now + CAST((completes_at - :now) * :factor AS INTEGER)
         WHERE completes_at > :now`,
      )
      .run({ now, factor });
  }

  deleteGenerated(): void {
    this.#database.exec('DELETE FROM runs WHERE generated = 1');
  }

  deleteAll(): void {
    this.#database.exec('DELETE FROM runs');
  }
}
