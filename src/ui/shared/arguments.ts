import * as vscode from 'vscode';
import type { Model, RunSummary } from '../../core/api/types.ts';
import { instantOf } from '../../core/base/clock.ts';
import { userLabel } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import type { CommandResult } from './commands.ts';
import { showInformation } from './notifications.ts';
import { timesOfAlike, withTime } from './rowText.ts';
import { runWords } from './runText.ts';
import { pick } from './steps.ts';

/** Returns the files of a command's arguments: the Explorer passes the clicked file, then all selected files. */
export function filesOf(argument: unknown, selection: unknown): vscode.Uri[] {
  const selected = (Array.isArray(selection) ? selection : []).filter((item) => item instanceof vscode.Uri);
  if (selected.length > 1) return selected;
  return argument instanceof vscode.Uri ? [argument] : [];
}

/** Returns the run ID of a command's argument: a tree row, or a `run_id` from a key binding, an extension, or an agent. */
export function runIdOf(argument: unknown): string | undefined {
  const id = fieldOf(argument, 'runId') ?? argument;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** Returns the model of a command's argument: a row of the Models view, or a `model_id`. */
export function modelOf(argument: unknown, models: readonly Model[]): Model | undefined {
  const id = fieldOf(fieldOf(argument, 'model'), 'model_id') ?? argument;
  return models.find((model) => model.model_id === id);
}

function fieldOf(value: unknown, key: string): unknown {
  return value instanceof Object ? (value as Record<string, unknown>)[key] : undefined;
}

/** A run in a list of choices. */
export interface RunChoice {
  runId: string;
  name: string;
  description: string;
}

/** Returns the loaded runs of an account that match a filter. */
export function runChoices(
  { runs, models }: Pick<Session, 'models' | 'runs'>,
  isWanted: (run: RunSummary) => boolean = () => true,
): RunChoice[] {
  const nowMs = Date.now();
  const choices = (runs.rows ?? []).filter(isWanted).map((run) => {
    const modelName = models.nameOf(run.model_id);
    const label = userLabel(runs.label(run.run_id));
    const view = { run, phase: runs.phase(run), modelName, label };
    const name = label ?? modelName;
    const description = runWords(view, nowMs).join(' · ');
    return { id: run.run_id, name, description, text: name + description, atMs: instantOf(run.created_at) };
  });
  const times = timesOfAlike(choices);
  return choices.map(({ id, name, description }) => ({
    runId: id,
    name,
    description: withTime(description, times.get(id)),
  }));
}

/**
 * Returns the run ID of the argument. Without one, as from the Command Palette, asks the user to pick a run.
 * @returns the command's result if no run was chosen
 */
export async function chooseRun(
  argument: unknown,
  runs: readonly RunChoice[],
): Promise<string | CommandResult> {
  const given = runIdOf(argument);
  if (given !== undefined) return given;
  if (runs.length === 0) {
    void showInformation(vscode.l10n.t('No matching runs yet.'));
    return { outcome: 'unavailable' };
  }
  const answer = await pick(
    { title: vscode.l10n.t('Choose a Run') },
    {
      items: runs.map(({ runId, name, description }) => ({
        label: name,
        description,
        detail: runId,
        value: runId,
      })),
    },
  );
  return answer.kind === 'value' ? answer.value : { outcome: 'cancelled' };
}
