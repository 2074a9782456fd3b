import * as vscode from 'vscode';
import type { Model, RunSummary } from '../../core/api/types.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import { showInformation } from './notifications.ts';
import { chooseRunWords, runWords } from './runMessages.ts';
import { pick } from './steps.ts';

/** The files that a command was called with: the explorer gives the one under the pointer, and all that are selected. */
export function filesOf(argument: unknown, selection: unknown): vscode.Uri[] {
  const selected = (Array.isArray(selection) ? selection : []).filter((item) => item instanceof vscode.Uri);
  if (selected.length > 1) return selected;
  return argument instanceof vscode.Uri ? [argument] : [];
}

/** The run that a command was called with: a row of the tree, or a `run_id` from a key binding, an extension or an agent. */
export function runIdOf(argument: unknown): string | undefined {
  const id = fieldOf(argument, 'runId') ?? argument;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** The model that a command was called with: a row of the Models view, or a `model_id`. */
export function modelOf(argument: unknown, models: readonly Model[]): Model | undefined {
  const id = fieldOf(fieldOf(argument, 'model'), 'model_id') ?? argument;
  return models.find((model) => model.model_id === id);
}

function fieldOf(value: unknown, key: string): unknown {
  return value instanceof Object ? (value as Record<string, unknown>)[key] : undefined;
}

/** A run as it can be chosen from a list. */
export interface RunChoice {
  runId: string;
  name: string;
  description: string;
}

/** The loaded runs of an account that can be chosen. */
export function runChoices(
  { runs, models }: Pick<Session, 'models' | 'runs'>,
  isWanted: (run: RunSummary) => boolean = () => true,
): RunChoice[] {
  return (runs.rows ?? []).filter(isWanted).map((run) => {
    const modelName = models.nameOf(run.model_id);
    const label = withoutMarker(runs.label(run.run_id) ?? '') || undefined;
    const view = { run, phase: runs.phase(run), modelName, label };
    return {
      runId: run.run_id,
      name: label ?? modelName,
      description: runWords(view, Date.now()).join(' · '),
    };
  });
}

/** The run of the argument or, called from the palette, one that the user picks. */
export async function chooseRun(argument: unknown, runs: readonly RunChoice[]): Promise<string | undefined> {
  const given = runIdOf(argument);
  if (given !== undefined) return given;
  if (runs.length === 0) {
    void showInformation(chooseRunWords.none());
    return undefined;
  }
  const answer = await pick(
    { title: chooseRunWords.title() },
    {
      items: runs.map(({ runId, name, description }) => ({
        label: name,
        description,
        detail: runId,
        value: runId,
      })),
    },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}
