import type { Client } from '../api/client.ts';
import type { Model, ModelList } from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { shared, type Shared } from '../base/sharedWork.ts';

/** So much of a display name is stored. */
const MAX_STORED_UNITS = 200;

/** Owns the base models that an account may train. */
export class ModelStore implements Disposable {
  readonly #call: <T>(work: (client: Client) => Promise<T>) => Promise<T>;
  readonly #onDidChange = new Emitter<void>();
  #models: readonly Model[] | undefined;
  #skipped = 0;
  #storedNames: ReadonlyMap<string, string> = new Map();

  /** Fires when the list was read. */
  readonly onDidChange = this.#onDidChange.event;

  /** Reads the list; calls that overlap share one request. @throws ApiError, KeyMissingError */
  readonly refresh: Shared<readonly Model[]>;

  constructor(call: <T>(work: (client: Client) => Promise<T>) => Promise<T>) {
    this.#call = call;
    this.refresh = shared(async (isCurrent) => {
      const list = await call((client) => client.listModels());
      if (isCurrent()) this.#accept(list);
      return list.data;
    });
  }

  /** Reads the list where none was read, with nobody waiting: no request is repeated. @throws ApiError, KeyMissingError */
  async readMissing(): Promise<void> {
    const list = await this.#call((client) => client.listModels({ isBackground: true }));
    if (this.#models === undefined) this.#accept(list);
  }

  /** Undefined until the list was read. */
  get models(): readonly Model[] | undefined {
    return this.#models;
  }

  /** Rows of the last list that could not be read. */
  get skipped(): number {
    return this.#skipped;
  }

  /** The model's display name, or its id while no list names it. */
  nameOf(modelId: string): string {
    const model = this.#models?.find(({ model_id }) => model_id === modelId);
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

  dispose(): void {
    this.#onDidChange.dispose();
  }

  #accept({ data, skipped }: ModelList): void {
    this.#models = data;
    this.#skipped = skipped;
    this.#onDidChange.fire();
  }
}
