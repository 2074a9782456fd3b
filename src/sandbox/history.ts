import { planRun } from './lifecycle.ts';
import { MODELS } from './models.ts';
import { priceCents } from './pricing.ts';
import type { RunTable } from './runTable.ts';

const RUNS = 10_000;
const APART_MS = 60 * 60 * 1000;

/** Inserts the past runs of the scenario `many-runs`: one an hour back from now, all ended. */
export function insertManyRuns(runs: RunTable, now: number): void {
  for (let age = RUNS; age > 0; age--) {
    const model = MODELS[age % MODELS.length];
    const number = age.toString(16).padStart(8, '0');
    const datasetBytes = age * 1_000;
    runs.insert(
      {
        run_id: `${number}-0000-4000-8000-0000${number}`,
        model_id: model?.listed.model_id ?? '',
        label: `Past run ${age}`,
        price_cents: priceCents(datasetBytes, false),
        ...planRun(now - age * APART_MS, datasetBytes, false, 10),
        course: age % 50 === 0 ? 'failed-run' : 'plain',
      },
      true,
    );
  }
}
