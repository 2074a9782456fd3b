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
