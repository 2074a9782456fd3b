import { transaction } from './database.ts';
import { insertManyRuns } from './history.ts';
import { MAX_SPEED, MIN_SPEED, SCENARIOS, type SandboxControl, type Scenario } from './scenarios.ts';
import type { Service } from './service.ts';

/** The levers of the sandbox, over its database. */
export function createControl(service: Service): SandboxControl {
  const { database, account, runs, idempotency, everyOther, now } = service;
  return {
    getScenario: () => account.scenario,

    setScenario(scenario: Scenario) {
      if (!SCENARIOS.includes(scenario)) throw new RangeError('unknown sandbox scenario');
      transaction(database, () => {
        account.setScenario(scenario);
        runs.deleteGenerated();
        if (scenario === 'many-runs') insertManyRuns(runs, now());
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
        if (!Number.isSafeInteger(account.balanceCents + cents)) throw new RangeError('too much money');
        return account.add(cents);
      });
    },

    getSpeed: () => account.speed,

    setSpeed(speed: number) {
      if (!(speed >= MIN_SPEED && speed <= MAX_SPEED)) throw new RangeError('clock speed out of range');
      transaction(database, () => {
        runs.rescale(now(), account.speed / speed);
        account.setSpeed(speed);
      });
    },
  };
}
