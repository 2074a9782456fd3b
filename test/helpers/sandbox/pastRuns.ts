import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { defaultPrice, MODELS } from '../../../src/sandbox/catalog.ts';
import { planRun } from '../../../src/sandbox/runs.ts';

const HOUR_MS = 60 * 60 * 1000;

/**
 * Adds past runs to the database of a sandbox, running or not: one per hour back from now, all ended. Another call
 * replaces them.
 * @param directory the sandbox's
 */
export function addPastRuns(directory: string, count: number, nowMs = Date.now()): void {
  const database = new DatabaseSync(path.join(directory, 'sandbox.sqlite'), { timeout: 5_000 });
  database.exec('BEGIN IMMEDIATE');
  const statement = database.prepare(`
    INSERT OR REPLACE INTO runs (run_id, model_id, label, price_cents, plan, created_at, starts_at, completes_at, course)
    VALUES (:run_id, :model_id, :label, :price_cents, :plan, :created_at, :starts_at, :completes_at, :course)`);
  for (let age = count; age > 0; age--) {
    const number = age.toString(16).padStart(8, '0');
    const datasetBytes = age * 1_000;
    const { cents, plan } = defaultPrice(datasetBytes, false);
    statement.run({
      run_id: `${number}-0000-4000-8000-0000${number}`,
      model_id: MODELS[age % MODELS.length]?.listed.model_id ?? '',
      label: `Past run ${age}`,
      price_cents: cents,
      plan,
      ...planRun(nowMs - age * HOUR_MS, datasetBytes, false, 10),
      course: age % 50 === 0 ? 'failed-run' : 'plain',
    });
  }
  database.exec('COMMIT');
  database.close();
}
