import type { Client } from '../api/client.ts';
import { isAboutRun } from '../api/errors.ts';
import type { RunDetail } from '../api/types.ts';
import { shared, type Shared } from '../base/async.ts';
import { counted } from '../base/rareCases.ts';
import type { KnownDetail } from './run.ts';

/** Runs work with an account's client; see `Session.call`. */
export type Call = <T>(work: (client: Client) => Promise<T>) => Promise<T>;

/** Owns the details of runs, and the errors of those that could not be read. */
export class DetailStore {
  readonly #call: Call;
  readonly #currencyNow: () => string | undefined;
  readonly #onRead: (runId: string, detail: RunDetail) => void;
  readonly #details = new Map<string, KnownDetail>();
  /** The assumed currencies, which stay when details are read again. */
  readonly #currencies = new Map<string, string | undefined>();
  readonly #failures = new Map<string, unknown>();
  /** Two reads for each run: the one that a caller waits for, and the one in the background. */
  readonly #reads = new Map<string, [Shared<RunDetail>, Shared<RunDetail>]>();

  /**
   * @param currencyNow returns the currency of the balance; undefined until it was read
   * @param onRead called with each detail that was read and stored
   */
  constructor(
    call: Call,
    currencyNow: () => string | undefined,
    onRead: (runId: string, detail: RunDetail) => void,
  ) {
    this.#call = call;
    this.#currencyNow = currencyNow;
    this.#onRead = onRead;
  }

  get(runId: string): KnownDetail | undefined {
    return this.#details.get(runId);
  }

  /** The error of the last failed read, until it is forgotten. */
  failure(runId: string): unknown {
    return this.#failures.get(runId);
  }

  /**
   * Reads one detail. Overlapping calls share one request.
   * @param isBackground sends one request without retries, since no user waits for it
   * @throws ApiError, KeyMissingError
   */
  load(runId: string, isBackground = false): Promise<RunDetail> {
    const read = (background: boolean): Shared<RunDetail> =>
      shared((isCurrent) =>
        // Ignores the result if `clear` discarded this read.
        this.#read(runId, background, () => isCurrent() && this.#reads.get(runId) === reads),
      );
    const reads = this.#reads.get(runId) ?? [read(false), read(true)];
    this.#reads.set(runId, reads);
    return reads[isBackground ? 1 : 0]();
  }

  /** Stores a detail that was just read. */
  accept(runId: string, detail: RunDetail): void {
    this.#details.set(runId, this.#withCurrency(runId, detail));
    this.#failures.delete(runId);
    this.#onRead(runId, detail);
  }

  /**
   * Adds a detail that was read earlier. If there is one already, takes only the currency.
   * @returns whether anything changed
   */
  addEarlier(detail: KnownDetail): boolean {
    const { run_id: runId, assumedCurrency } = detail;
    const before = this.#details.get(runId);
    const isUnknown = before === undefined && !this.#currencies.has(runId);
    if (assumedCurrency !== undefined || counted('no-currency', isUnknown))
      this.#currencies.set(runId, assumedCurrency);
    const known = this.#withCurrency(runId, before ?? detail);
    this.#details.set(runId, known);
    this.#failures.delete(runId);
    return known !== before;
  }

  /** Assumes the currency of the balance for details that were read before it. @returns their run IDs */
  learnCurrency(): string[] {
    if (this.#currencyNow() === undefined) return [];
    const learned = [...this.#details].filter(([runId]) => !this.#currencies.has(runId));
    for (const [runId, detail] of learned) this.#details.set(runId, this.#withCurrency(runId, detail));
    return learned.map(([runId]) => runId);
  }

  /** Forgets a detail and any read in progress, because the run changed. */
  forget(runId: string): void {
    this.#details.delete(runId);
    this.#failures.delete(runId);
    for (const read of this.#reads.get(runId) ?? []) read.drop();
  }

  /**
   * Forgets failures, so that their details can be read again, and returns the run IDs.
   * @param unanswered forgets only failures without a response about the run
   */
  forgetFailures(unanswered = false): string[] {
    const forgotten = [...this.#failures].filter(([, error]) => !unanswered || !isAboutRun(error));
    return forgotten.map(([runId]) => {
      this.#failures.delete(runId);
      return runId;
    });
  }

  /** Discards the reads in progress and all failures, so that they can be repeated. */
  drop(): void {
    this.#failures.clear();
    for (const read of [...this.#reads.values()].flat()) read.drop();
  }

  clear(): void {
    this.drop();
    this.#reads.clear();
    this.#details.clear();
    this.#currencies.clear();
  }

  /** Adds the assumed currency of a detail. The first known one stays. */
  #withCurrency(runId: string, detail: KnownDetail): KnownDetail {
    const now = this.#currencyNow();
    if (now !== undefined && !this.#currencies.has(runId)) this.#currencies.set(runId, now);
    const assumedCurrency = this.#currencies.get(runId);
    return assumedCurrency === detail.assumedCurrency ? detail : { ...detail, assumedCurrency };
  }

  /** Reads a detail, and stores it or the error, unless the read was dropped or is older than the stored one. */
  async #read(runId: string, isBackground: boolean, isCurrent: () => boolean): Promise<RunDetail> {
    const before = this.#details.get(runId);
    try {
      const detail = await this.#call((client) => client.getRun(runId, { isBackground }));
      // A foreground read that finished meanwhile may be newer.
      const isNews = !isBackground || this.#details.get(runId) === before;
      if (isCurrent() && isNews) this.accept(runId, detail);
      return detail;
    } catch (error) {
      const isKnown = isBackground && this.#details.has(runId);
      if (isCurrent() && !isKnown) this.#failures.set(runId, error);
      throw error;
    }
  }
}
