import { MAX_SPEED, MIN_SPEED, type Scenario } from './scenarios.ts';
import type { Service } from './service.ts';

/** Controls beyond the contract. They are stored in the database and so apply to all windows. */
export type SandboxControl = ReturnType<typeof createControl>;

export function createControl({ store, everyOther, now }: Service) {
  return {
    getScenario: () => store.account.scenario,

    setScenario(scenario: Scenario) {
      store.set('scenario', scenario);
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
