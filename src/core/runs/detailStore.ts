import type { Client } from '../api/client.ts';
import { AnswerError } from '../api/errors.ts';
import type { RunDetail } from '../api/types.ts';
import { shared, type Shared } from '../base/async.ts';

/** Works with an account's client: `Session.call`. */
export type Call = <T>(work: (client: Client) => Promise<T>) => Promise<T>;

/** Owns the details of runs as far as they were read, and why one could not be: a row is drawn more often than asked for. */
export class DetailStore {
  readonly #call: Call;
  readonly #onRead: (runId: string, detail: RunDetail) => void;
  readonly #details = new Map<string, RunDetail>();
  readonly #failures = new Map<string, unknown>();
  /** Of each run the one that somebody waits for, and the one in the background. */
  readonly #reads = new Map<string, [Shared<RunDetail>, Shared<RunDetail>]>();

  /** @param onRead gets what was read and stored */
  constructor(call: Call, onRead: (runId: string, detail: RunDetail) => void) {
    this.#call = call;
    this.#onRead = onRead;
  }

  get(runId: string): RunDetail | undefined {
    return this.#details.get(runId);
  }

  /** The error of the last read, while it counts. */
  failure(runId: string): unknown {
    return this.#failures.get(runId);
  }

  /**
   * Reads one detail; calls that overlap share one request.
   * @param isBackground nobody waits for it, so that it is not repeated
   * @throws ApiError, KeyMissingError
   */
  load(runId: string, isBackground = false): Promise<RunDetail> {
    const read = (background: boolean): Shared<RunDetail> =>
      shared((isCurrent) =>
        // What `clear` forgot no longer counts, however it ends.
        this.#read(runId, background, () => isCurrent() && this.#reads.get(runId) === reads),
      );
    const reads = this.#reads.get(runId) ?? [read(false), read(true)];
    this.#reads.set(runId, reads);
    return reads[isBackground ? 1 : 0]();
  }

  /** Takes in one that was read earlier, where none is held. @returns whether it was */
  know(detail: RunDetail): boolean {
    if (this.#details.has(detail.run_id)) return false;
    this.#details.set(detail.run_id, detail);
    this.#failures.delete(detail.run_id);
    return true;
  }

  /** Forgets one, also what is on its way: the run changed. */
  forget(runId: string): void {
    this.#details.delete(runId);
    this.#failures.delete(runId);
    for (const read of this.#reads.get(runId) ?? []) read.drop();
  }

  /**
   * Lets the failed ones be read again, and returns which.
   * @param unanswered only those to which no answer came
   */
  forgetFailures(unanswered = false): string[] {
    const forgotten = [...this.#failures].filter(([, error]) => !unanswered || !isAnswer(error));
    return forgotten.map(([runId]) => {
      this.#failures.delete(runId);
      return runId;
    });
  }

  /** Lets everything that is on its way be read again. */
  drop(): void {
    this.#failures.clear();
    for (const read of [...this.#reads.values()].flat()) read.drop();
  }

  /** Forgets everything. */
  clear(): void {
    this.drop();
    this.#reads.clear();
    this.#details.clear();
  }

  async #read(runId: string, isBackground: boolean, isCurrent: () => boolean): Promise<RunDetail> {
    const before = this.#details.get(runId);
    try {
      const detail = await this.#call((client) => client.getRun(runId, { isBackground }));
      // One that somebody waited for meanwhile may be newer.
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

/** Whether an error says something of the run itself, and not only of the way to the service or that it is asked too often. */
export function isAnswer(error: unknown): boolean {
  return error instanceof AnswerError && error.httpStatus !== 429;
}
