import type { Model, ModelList } from '../api/types.ts';
import { Latest } from './latest.ts';

/** So much of a display name is stored. */
const MAX_STORED_UNITS = 200;

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
