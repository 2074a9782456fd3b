/** The faults that the sandbox can simulate, one at a time and for all windows. */
export const SCENARIOS = [
  'none',
  'answer-lost',
  'connection-lost',
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

/** Default speed of the sandbox's clock: 60 s in the queue take 6 s. */
export const DEFAULT_SPEED = 10;
export const MIN_SPEED = 0.1;
export const MAX_SPEED = 10_000;

/** Decides by alternation, per key, when a scenario's fault strikes. One per server. */
export class EveryOther {
  readonly #struck = new Set<string>();

  /** Returns true on the first, third, … call with the same key. */
  strikes(key: string): boolean {
    if (this.#struck.delete(key)) return false;
    this.#struck.add(key);
    return true;
  }

  clear(): void {
    this.#struck.clear();
  }
}
