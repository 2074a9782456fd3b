/** The faults that a person or a test picks; what each does stands in `SCENARIO_EFFECTS`. */
export const SCENARIOS = [
  'none',
  'answer-lost',
  'slow-answer',
  'rate-limited',
  'insufficient-balance',
  'model-withdrawn',
  'unknown-statuses',
  'failed-run',
  'expired-url',
  'cut-download',
  'many-runs',
  'conflict-on-replay',
  'error-on-replay',
] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** What each scenario does while it is on; one at a time, shared by all windows. */
export const SCENARIO_EFFECTS: Readonly<Record<Scenario, string>> = {
  none: 'everything works',
  'answer-lost':
    'a new submission is charged, then the connection ends without an answer; a repeat is answered',
  'slow-answer':
    'a submission is charged at its last byte and answered 20 s later (at the default clock speed)',
  'rate-limited':
    'the first try of each request is answered 429 with Retry-After: 2, its repeat goes through',
  'insufficient-balance': 'a submission is answered 402 insufficient_balance, whatever the balance',
  'model-withdrawn': 'the list shows models as available, a submission is answered 422 model_not_available',
  'unknown-statuses':
    'runs submitted now pass through statuses that the contract does not name, then complete',
  'failed-run': 'runs submitted now end as "failed", without artifacts and without a completion time',
  'expired-url': 'signed download URLs are already expired when they are handed out (403)',
  'cut-download': 'every other download of an adapter, the first one too, is cut at half of its bytes',
  'many-runs': '10,000 past runs are in the list, until another scenario is picked',
  'conflict-on-replay': 'a repeated Idempotency-Key is answered 409 idempotency_conflict',
  'error-on-replay': 'a repeated Idempotency-Key is answered 500',
};

/** How fast the sandbox's clock runs at first: 60 s of queue pass in 6 s. */
export const DEFAULT_SPEED = 10;
export const MIN_SPEED = 0.1;
export const MAX_SPEED = 10_000;

/** What a person may do to the sandbox from outside the contract; kept in the database, so for all windows. */
export interface SandboxControl {
  getScenario(): Scenario;
  /** @throws RangeError for an unknown scenario. */
  setScenario(scenario: Scenario): void;
  /** Deletes all runs and used Idempotency-Keys; balance, scenario and speed start anew. The account id stays. */
  reset(): void;
  /** Returns the new balance in cents. @throws RangeError unless `cents` is a positive integer. */
  addFunds(cents: number): number;
  getSpeed(): number;
  /** Rescales what is left of unfinished runs. @throws RangeError outside MIN_SPEED to MAX_SPEED. */
  setSpeed(speed: number): void;
}
