/** The faults that the sandbox can show, one at a time and for all windows. */
export const SCENARIOS = [
  'none',
  'answer-lost',
  'connection-lost',
  'slow-answer',
  'rate-limited',
  'insufficient-balance',
  'model-withdrawn',
  'unknown-statuses',
  'failed-run',
  'expired-url',
  'cut-download',
  'slow-download',
  'several-artifacts',
  'short-retention',
  'many-runs',
  'conflict-on-replay',
  'error-on-replay',
] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** Those that users are offered; tests pick the others as well. */
export const OFFERED_SCENARIOS: readonly Scenario[] = [
  'none',
  'answer-lost',
  'connection-lost',
  'rate-limited',
  'insufficient-balance',
  'failed-run',
  'cut-download',
  'short-retention',
];

/** How fast the sandbox's clock runs at first: 60 s of queue pass in 6 s. */
export const DEFAULT_SPEED = 10;
export const MIN_SPEED = 0.1;
export const MAX_SPEED = 10_000;

const MAX_KEYS = 1_000;

/** Counts by twos: which scenario faults strike the first time, spare the second, and so on. One per server. */
export class EveryOther {
  readonly #struck = new Set<string>();

  /** True at the first, third, … call with the same key. */
  strikes(key: string): boolean {
    if (this.#struck.delete(key)) return false;
    if (this.#struck.size >= MAX_KEYS) this.#struck.clear();
    this.#struck.add(key);
    return true;
  }

  clear(): void {
    this.#struck.clear();
  }
}
