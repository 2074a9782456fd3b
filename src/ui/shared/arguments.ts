import type { Model } from '../../core/api/types.ts';

/** The run that a command was called with: a row of the tree, or a `run_id` from a key binding, an extension or an agent. */
export function runIdOf(argument: unknown): string | undefined {
  if (typeof argument === 'string' && argument !== '') return argument;
  if (typeof argument !== 'object' || argument === null) return undefined;
  return 'runId' in argument && typeof argument.runId === 'string' ? argument.runId : undefined;
}

/** The model that a command was called with: a row of the Models view, or a `model_id`. */
export function modelOf(argument: unknown, models: readonly Model[]): Model | undefined {
  const id = typeof argument === 'string' ? argument : idOfRow(argument);
  return id === undefined ? undefined : models.find((model) => model.model_id === id);
}

function idOfRow(argument: unknown): string | undefined {
  if (typeof argument !== 'object' || argument === null || !('model' in argument)) return undefined;
  const { model } = argument;
  if (typeof model !== 'object' || model === null || !('model_id' in model)) return undefined;
  return typeof model.model_id === 'string' ? model.model_id : undefined;
}
