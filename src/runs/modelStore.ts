import type { Client } from '../api/client.ts';
import type { Model } from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { shared, type Shared } from './shared.ts';

/** Owns the base models that an account may train. */
export class ModelStore implements Disposable {
  readonly #onDidChange = new Emitter<void>();
  #models: readonly Model[] | undefined;
  #skipped = 0;

  /** Fires when the list was read. */
  readonly onDidChange = this.#onDidChange.event;

  /** Reads the list; calls that overlap share one request. @throws ApiError, KeyMissingError */
  readonly refresh: Shared<readonly Model[]>;

  constructor(call: <T>(work: (client: Client) => Promise<T>) => Promise<T>) {
    this.refresh = shared(async (isCurrent) => {
      const list = await call((client) => client.listModels());
      if (!isCurrent()) return list.data;
      this.#models = list.data;
      this.#skipped = list.skipped;
      this.#onDidChange.fire();
      return list.data;
    });
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
    return this.#models?.find((model) => model.model_id === modelId)?.name ?? modelId;
  }

  dispose(): void {
    this.#onDidChange.dispose();
  }
}
