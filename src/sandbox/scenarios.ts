/** The faults that users can try, one at a time and for all windows, in the order of their menu. */
export const SCENARIOS = [
  'none',
  'answer-lost',
  'connection-lost',
  'rate-limited',
  'service-down',
  'insufficient-balance',
  'failed-run',
  'cut-download',
  'short-retention',
] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** How much faster runs progress than at a real service: 60 s in the queue take 6 s. */
export const DEFAULT_SPEED = 10;

/** Decides when a scenario's fault strikes: every other time, separately for each key. One per server. */
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
