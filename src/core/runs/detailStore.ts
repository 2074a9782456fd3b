import type { Client } from '../api/client.ts';
import { ServiceError, UnexpectedAnswerError } from '../api/errors.ts';
import type { RunDetail } from '../api/types.ts';
import { shared, type Shared } from '../base/sharedWork.ts';

/** One read, which calls that overlap share. */
interface Read {
  begin: Shared<RunDetail>;
  /** Whether somebody waits for it; else it is one request at most. */
  isAwaited: boolean;
}

/** Owns the details of runs as far as they were read, and why one could not be: a row is drawn more often than asked for. */
export class DetailStore {
  readonly #call: <T>(work: (client: Client) => Promise<T>) => Promise<T>;
  readonly #onRead: (runId: string, detail: RunDetail) => void;
  readonly #details = new Map<string, RunDetail>();
  readonly #failures = new Map<string, unknown>();
  readonly #reads = new Map<string, Read>();

  /** @param onRead gets what was read and stored */
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

  /**
   * Reads one detail; calls that overlap share one request.
   * @param isBackground nobody waits for it, so that it is not repeated
   * @throws ApiError, KeyMissingError
   */
  load(runId: string, isBackground = false): Promise<RunDetail> {
    const read = this.#reads.get(runId) ?? this.#newRead(runId);
    read.isAwaited ||= !isBackground;
    return read.begin();
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
    this.#reads.get(runId)?.begin.drop();
  }

  /**
   * Lets the failed ones be read again, and returns which.
   * @param unanswered only those to which no answer came
   */
  forgetFailures(unanswered = false): string[] {
    const forgotten = [...this.#failures]
      .filter(([, error]) => !unanswered || !isAnswer(error))
      .map(([runId]) => runId);
    for (const runId of forgotten) this.#failures.delete(runId);
    return forgotten;
  }

  /** Lets everything that is on its way be read again. */
  drop(): void {
    this.#failures.clear();
    for (const { begin } of this.#reads.values()) begin.drop();
  }

  /** Forgets everything. */
  clear(): void {
    this.drop();
    this.#reads.clear();
    this.#details.clear();
  }

  #newRead(runId: string): Read {
    const read: Read = {
      // What `clear` forgot no longer counts, however it ends.
      begin: shared((isCurrent) =>
        this.#read(runId, read, () => isCurrent() && this.#reads.get(runId) === read),
      ),
      isAwaited: false,
    };
    this.#reads.set(runId, read);
    return read;
  }

  async #read(runId: string, read: Read, isCurrent: () => boolean): Promise<RunDetail> {
    try {
      const detail = await this.#ask(runId, read, isCurrent);
      if (isCurrent()) {
        this.#details.set(runId, detail);
        this.#failures.delete(runId);
        this.#onRead(runId, detail);
      }
      return detail;
    } catch (error) {
      if (isCurrent()) this.#failures.set(runId, error);
      throw error;
    } finally {
      if (isCurrent()) read.isAwaited = false;
    }
  }

  async #ask(runId: string, read: Read, isCurrent: () => boolean): Promise<RunDetail> {
    const get = (isBackground: boolean) => this.#call((client) => client.getRun(runId, { isBackground }));
    const isAwaited = () => read.isAwaited;
    if (isAwaited()) return get(false);
    try {
      return await get(true);
    } catch (error) {
      // Somebody may wait for it since.
      if (!isAwaited() || !isCurrent() || isAnswer(error)) throw error;
      return get(false);
    }
  }
}

/** Whether an error says something of the run itself, and not only of the way to the service or that it is asked too often. */
export function isAnswer(error: unknown): boolean {
  return (
    (error instanceof ServiceError || error instanceof UnexpectedAnswerError) && error.httpStatus !== 429
  );
}
