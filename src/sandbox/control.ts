import type { Scenario } from './scenarios.ts';
import type { Service } from './service.ts';

/** Controls that the contract doesn't have. They are stored in the database, so they apply to all windows. */
export type SandboxControl = ReturnType<typeof createControl>;

export function createControl({ store, everyOther }: Service) {
  return {
    getScenario: () => store.account.scenario,

    setScenario(scenario: Scenario) {
      store.setScenario(scenario);
      everyOther.clear();
    },

    /** Deletes all runs and used Idempotency-Keys, and resets everything except the account's ID. */
    reset() {
      store.transaction(() => store.reset());
      everyOther.clear();
    },

    /** Returns the new balance in cents; undefined unless both are positive integers. */
    addFunds(cents: number): number | undefined {
      return store.transaction(() => {
        const isValid = cents > 0 && [cents, store.account.balance_cents + cents].every(Number.isSafeInteger);
        return isValid ? store.addToBalance(cents) : undefined;
      });
    },
  };
}
