import type { Client } from '../api/client.ts';
import { ServiceError, UnexpectedAnswerError } from '../api/errors.ts';
import type { RunDetail } from '../api/types.ts';
import { shared, type Shared } from './shared.ts';

/** Owns the details of runs as far as they were read, and why one could not be: a row is drawn more often than asked for. */
export class DetailStore {
  readonly #call: <T>(work: (client: Client) => Promise<T>) => Promise<T>;
  readonly #onRead: (runId: string, detail: RunDetail) => void;
  readonly #details = new Map<string, RunDetail>();
  readonly #failures = new Map<string, unknown>();
  readonly #reads = new Map<string, Shared<RunDetail>>();

  /** @param onRead told what was read and kept */
  constructor(
    call: <T>(work: (client: Client) => Promise<T>) => Promise<T>,
    onRead: (runId: string, detail: RunDetail) => void,
  ) {
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

  /** Reads one detail; calls that overlap share one request. @throws ApiError, KeyMissingError */
  load(runId: string): Promise<RunDetail> {
    let read = this.#reads.get(runId);
    if (read === undefined) {
      read = shared((isCurrent) => this.#read(runId, isCurrent));
      this.#reads.set(runId, read);
    }
    return read();
  }

  /** Takes in one that was read earlier, where none is held. @returns whether it was */
  know(detail: RunDetail): boolean {
    if (this.#details.has(detail.run_id)) return false;
    this.#details.set(detail.run_id, detail);
    this.#failures.delete(detail.run_id);
    return true;
  }

  /** Forgets one, also what is on its way: the run went on. */
  forget(runId: string): void {
    this.#details.delete(runId);
    this.#failures.delete(runId);
    this.#reads.get(runId)?.drop();
  }

  /**
   * Lets the failed ones be read anew, and returns which.
   * @param unanswered only those to which no answer came
   */
  forgetFailures(unanswered = false): string[] {
    const forgotten = [...this.#failures]
      .filter(([, error]) => !unanswered || !isAnswer(error))
      .map(([runId]) => runId);
    for (const runId of forgotten) this.#failures.delete(runId);
    return forgotten;
  }

  /** Lets everything that is on its way be read anew. */
  drop(): void {
    this.#failures.clear();
    for (const read of this.#reads.values()) read.drop();
  }

  /** Forgets everything. */
  clear(): void {
    this.drop();
    this.#reads.clear();
    this.#details.clear();
  }

  async #read(runId: string, isCurrent: () => boolean): Promise<RunDetail> {
    try {
      const detail = await this.#call((client) => client.getRun(runId));
      if (isCurrent()) {
        this.#details.set(runId, detail);
        this.#failures.delete(runId);
        this.#onRead(runId, detail);
      }
      return detail;
    } catch (error) {
      if (isCurrent()) this.#failures.set(runId, error);
      throw error;
    }
  }
}

function isAnswer(error: unknown): boolean {
  return error instanceof ServiceError || error instanceof UnexpectedAnswerError;
}
