import type { Client } from '../api/client.ts';
import { AnswerError } from '../api/errors.ts';
import type { RunDetail } from '../api/types.ts';
import { shared, type Shared } from '../base/async.ts';

/** Runs work with an account's client; see `Session.call`. */
export type Call = <T>(work: (client: Client) => Promise<T>) => Promise<T>;

/** Owns the details of runs that were read, and why others could not be: rows are redrawn often. */
export class DetailStore {
  readonly #call: Call;
  readonly #onRead: (runId: string, detail: RunDetail) => void;
  readonly #details = new Map<string, RunDetail>();
  readonly #failures = new Map<string, unknown>();
  /** Two reads for each run: the one that a caller waits for, and the one in the background. */
  readonly #reads = new Map<string, [Shared<RunDetail>, Shared<RunDetail>]>();

  /** @param onRead called with each detail that was read and stored */
  constructor(call: Call, onRead: (runId: string, detail: RunDetail) => void) {
    this.#call = call;
    this.#onRead = onRead;
  }

  get(runId: string): RunDetail | undefined {
    return this.#details.get(runId);
  }

  /** The error of the last failed read, until it is forgotten. */
  failure(runId: string): unknown {
    return this.#failures.get(runId);
  }

  /**
   * Reads one detail. Overlapping calls share one request.
   * @param isBackground sends a single request without retries, since no user waits for it
   * @throws ApiError, KeyMissingError
   */
  load(runId: string, isBackground = false): Promise<RunDetail> {
    const read = (background: boolean): Shared<RunDetail> =>
      shared((isCurrent) =>
        // A read that `clear` discarded no longer counts, however it ends.
        this.#read(runId, background, () => isCurrent() && this.#reads.get(runId) === reads),
      );
    const reads = this.#reads.get(runId) ?? [read(false), read(true)];
    this.#reads.set(runId, reads);
    return reads[isBackground ? 1 : 0]();
  }

  /** Adds a detail that was read earlier, unless there is one. @returns whether it was added */
  know(detail: RunDetail): boolean {
    if (this.#details.has(detail.run_id)) return false;
    this.#details.set(detail.run_id, detail);
    this.#failures.delete(detail.run_id);
    return true;
  }

  /** Forgets a detail and any read in progress, because the run changed. */
  forget(runId: string): void {
    this.#details.delete(runId);
    this.#failures.delete(runId);
    for (const read of this.#reads.get(runId) ?? []) read.drop();
  }

  /**
   * Forgets failures, so that their details can be read again, and returns the run IDs.
   * @param unanswered only forgets failures without a response about the run
   */
  forgetFailures(unanswered = false): string[] {
    const forgotten = [...this.#failures].filter(([, error]) => !unanswered || !isAnswer(error));
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
  }

  async #read(runId: string, isBackground: boolean, isCurrent: () => boolean): Promise<RunDetail> {
    const before = this.#details.get(runId);
    try {
      const detail = await this.#call((client) => client.getRun(runId, { isBackground }));
      // A foreground read that finished meanwhile may be newer.
      const isNews = !isBackground || this.#details.get(runId) === before;
      if (isCurrent() && isNews) {
        this.#details.set(runId, detail);
        this.#failures.delete(runId);
        this.#onRead(runId, detail);
      }
      return detail;
    } catch (error) {
      const isKnown = isBackground && this.#details.has(runId);
      if (isCurrent() && !isKnown) this.#failures.set(runId, error);
      throw error;
    }
  }
}

/** Whether an error is about the run itself, and not about the connection or a rate limit. */
export function isAnswer(error: unknown): boolean {
  return error instanceof AnswerError && error.httpStatus !== 429;
}
