import { defaultPrice, MODELS } from './catalog.ts';
import { planRun } from './runs.ts';
import { MAX_SPEED, MIN_SPEED, type Scenario } from './scenarios.ts';
import type { RunRow, Service } from './service.ts';

/** Controls beyond the contract. They are stored in the database and so apply to all windows. */
export type SandboxControl = ReturnType<typeof createControl>;

export function createControl({ store, everyOther, now }: Service) {
  return {
    getScenario: () => store.account.scenario,

    setScenario(scenario: Scenario) {
      store.transaction(() => {
        store.set('scenario', scenario);
        store.deleteGeneratedRuns();
        if (scenario === 'many-runs') store.insertRuns(manyRuns(now()), true);
      });
      everyOther.clear();
    },

    /** Deletes all runs and used Idempotency-Keys, and resets everything except the account's ID. */
    reset() {
      store.transaction(() => store.reset());
      everyOther.clear();
    },

    /** Returns the new balance in cents. @throws RangeError unless `cents` is a positive integer. */
    addFunds(cents: number) {
      if (!Number.isSafeInteger(cents) || cents <= 0)
        throw new RangeError('funds are a positive number of cents');
      return store.transaction(() => {
        if (!Number.isSafeInteger(store.account.balance_cents + cents))
          throw new RangeError('too much money');
        return store.addToBalance(cents);
      });
    },

    getSpeed: () => store.account.speed,

    /** Rescales the remaining time of unfinished runs. @throws RangeError outside MIN_SPEED to MAX_SPEED. */
    setSpeed(speed: number) {
      if (!(speed >= MIN_SPEED && speed <= MAX_SPEED)) throw new RangeError('clock speed out of range');
      store.transaction(() => {
        store.rescaleRuns(now(), store.account.speed / speed);
        store.set('speed', speed);
      });
    },
  };
}

const RUNS = 10_000;
const APART_MS = 60 * 60 * 1000;

/** Creates the past runs of the scenario `many-runs`: one per hour back from now, all ended. */
function manyRuns(now: number): RunRow[] {
  return Array.from({ length: RUNS }, (_, index) => {
    const age = RUNS - index;
    const number = age.toString(16).padStart(8, '0');
    const datasetBytes = age * 1_000;
    const { cents, plan } = defaultPrice(datasetBytes, false);
    return {
      run_id: `${number}-0000-4000-8000-0000${number}`,
      model_id: MODELS[age % MODELS.length]?.listed.model_id ?? '',
      label: `Past run ${age}`,
      price_cents: cents,
      plan,
      ...planRun(now - age * APART_MS, datasetBytes, false, 10),
      course: age % 50 === 0 ? 'failed-run' : 'plain',
    };
  });
}
