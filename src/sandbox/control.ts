import { MODELS, priceCents } from './catalog.ts';
import { transaction } from './database.ts';
import { planRun } from './lifecycle.ts';
import { MAX_SPEED, MIN_SPEED, type SandboxControl, type Scenario, SCENARIOS } from './scenarios.ts';
import type { RunRow, Service } from './service.ts';

/** The levers of the sandbox, over its database. */
export function createControl(service: Service): SandboxControl {
  const { database, account, runs, idempotency, everyOther, now } = service;
  return {
    getScenario: () => account.row.scenario,

    setScenario(scenario: Scenario) {
      if (!SCENARIOS.includes(scenario)) throw new RangeError('unknown sandbox scenario');
      transaction(database, () => {
        account.setScenario(scenario);
        runs.deleteGenerated();
        if (scenario === 'many-runs') runs.insert(manyRuns(now()), true);
      });
      everyOther.clear();
    },

    reset() {
      transaction(database, () => {
        runs.deleteAll();
        idempotency.deleteAll();
        account.reset();
      });
      everyOther.clear();
    },

    addFunds(cents: number) {
      if (!Number.isSafeInteger(cents) || cents <= 0)
        throw new RangeError('funds are a positive number of cents');
      return transaction(database, () => {
        if (!Number.isSafeInteger(account.row.balance_cents + cents)) throw new RangeError('too much money');
        return account.add(cents);
      });
    },

    getSpeed: () => account.row.speed,

    setSpeed(speed: number) {
      if (!(speed >= MIN_SPEED && speed <= MAX_SPEED)) throw new RangeError('clock speed out of range');
      transaction(database, () => {
        runs.rescale(now(), account.row.speed / speed);
        account.setSpeed(speed);
      });
    },
  };
}

const RUNS = 10_000;
const APART_MS = 60 * 60 * 1000;

/** The past runs of the scenario `many-runs`: one an hour back from now, all ended. */
function manyRuns(now: number): RunRow[] {
  return Array.from({ length: RUNS }, (_, index) => {
    const age = RUNS - index;
    const number = age.toString(16).padStart(8, '0');
    const datasetBytes = age * 1_000;
    return {
      run_id: `${number}-0000-4000-8000-0000${number}`,
      model_id: MODELS[age % MODELS.length]?.listed.model_id ?? '',
      label: `Past run ${age}`,
      price_cents: priceCents(datasetBytes, false),
      ...planRun(now - age * APART_MS, datasetBytes, false, 10),
      course: age % 50 === 0 ? 'failed-run' : 'plain',
    };
  });
}
