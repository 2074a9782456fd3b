import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/**
 * Sets the speed of the clock in the database of a sandbox, running or not, and rescales the remaining time of its
 * unfinished runs.
 * @param directory the sandbox's
 */
export function setSandboxSpeed(directory: string, speed: number, now = Date.now()): void {
  const database = new DatabaseSync(path.join(directory, 'sandbox.sqlite'), { timeout: 5_000 });
  database.exec('BEGIN IMMEDIATE');
  database
    .prepare(
      `UPDATE runs SET
         starts_at = :now + CAST((starts_at - :now) * (SELECT speed FROM account) / :speed AS INTEGER)
       WHERE starts_at > :now`,
    )
    .run({ now, speed });
  database
    .prepare(
      `UPDATE runs SET
         completes_at = :now + CAST((completes_at - :now) * (SELECT speed FROM account) / :speed AS INTEGER)
       WHERE completes_at > :now`,
    )
    .run({ now, speed });
  database.prepare('UPDATE account SET speed = ?').run(speed);
  database.exec('COMMIT');
  database.close();
}
