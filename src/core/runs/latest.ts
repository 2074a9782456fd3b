import type { CallOptions, Client } from '../api/client.ts';
import type { Model, ModelList } from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { shared, type Shared } from '../base/async.ts';

/** So much of a display name is stored. */
const MAX_STORED_UNITS = 200;

/** Owns the last answer to something that is read as a whole, such as the balance. */
export class Latest<T> implements Disposable {
  readonly #read: (isBackground: boolean) => Promise<T>;
  readonly #nowMs: () => number;
  readonly #onDidChange = new Emitter<void>();
  #current: T | undefined;
  #readAtMs: number | undefined;

  /** Fires when it was read, or came another way. */
  readonly onDidChange = this.#onDidChange.event;

  /** Reads it; calls that overlap share one request. @throws ApiError, KeyMissingError */
  readonly refresh: Shared<T>;

  constructor(
    call: <R>(work: (client: Client) => Promise<R>) => Promise<R>,
    read: (client: Client, options: CallOptions) => Promise<T>,
    nowMs: () => number = Date.now,
  ) {
    this.#read = (isBackground) => call((client) => read(client, { isBackground }));
    this.#nowMs = nowMs;
    this.refresh = shared(async (isCurrent) => {
      for (;;) {
        const before = this.#current;
        const answer = await this.#read(false);
        if (!isCurrent()) return answer;
        if (this.#current !== before) continue;
        this.set(answer);
        return answer;
      }
    });
  }

  /** Reads it with nobody waiting: no request is repeated. @throws ApiError, KeyMissingError */
  async readInBackground(): Promise<void> {
    const before = this.#current;
    const answer = await this.#read(true);
    // What a submission returned meanwhile is newer than this answer may be.
    if (this.#current === before) this.set(answer);
  }

  /** Undefined until it is known. */
  get current(): T | undefined {
    return this.#current;
  }

  /** When the service said so, in milliseconds since the epoch. */
  get readAtMs(): number | undefined {
    return this.#readAtMs;
  }

  set(answer: T, readAtMs = this.#nowMs()): void {
    this.#current = answer;
    this.#readAtMs = readAtMs;
    this.#onDidChange.fire();
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }
}

/** Owns the base models that an account may train. */
export class ModelStore extends Latest<ModelList> {
  #storedNames: ReadonlyMap<string, string> = new Map();

  /** Undefined until the list was read. */
  get models(): readonly Model[] | undefined {
    return this.current?.data;
  }

  /** Rows of the last list that could not be read. */
  get skipped(): number {
    return this.current?.skipped ?? 0;
  }

  /** The model's display name, or its id while no list names it. */
  nameOf(modelId: string): string {
    const model = this.models?.find(({ model_id }) => model_id === modelId);
    return model?.name ?? this.#storedNames.get(modelId) ?? modelId;
  }

  /** The display names of some models by their ids, to be stored; unknown ones are left out. */
  namesOf(modelIds: ReadonlySet<string>): (readonly [modelId: string, name: string])[] {
    return [...modelIds].flatMap((id) => {
      const name = this.nameOf(id);
      return name === id ? [] : [[id, name.slice(0, MAX_STORED_UNITS)] as const];
    });
  }

  /** Takes in the names of a list that was read earlier. */
  keepNames(names: readonly (readonly [modelId: string, name: string])[]): void {
    this.#storedNames = new Map(names);
  }
}
