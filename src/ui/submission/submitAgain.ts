import * as vscode from 'vscode';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { withViewProgress } from '../shared/progress.ts';
import { chooseRun, runChoices } from '../shared/chooseRun.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { RunStore } from '../../core/runs/runStore.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/**
 * Starts a new submission with the model and label of an earlier run; file and consents are asked for afresh.
 * @throws ApiError, KeyMissingError for a run that is not loaded and cannot be read
 */
export function submitAgain(sessions: Sessions) {
  return async (argument: unknown): Promise<void> => {
    const session = sessions.active;
    if (session === undefined) return;
    const runId = await chooseRun(argument, runChoices(session));
    if (runId === undefined) return;
    const preset = await withViewProgress(VIEWS.runs, () => presetOf(session.runs, runId));
    await vscode.commands.executeCommand(COMMANDS.submitDataset, undefined, undefined, preset);
  };
}

/** The list has no labels: they stand in the details. */
async function presetOf(runs: RunStore, runId: string): Promise<{ modelId: string; label?: string }> {
  const row = runs.get(runId);
  const known = runs.label(runId);
  if (row !== undefined && known !== undefined) return { modelId: row.model_id, label: withoutMarker(known) };
  try {
    const { model_id, label } = runs.detail(runId) ?? (await runs.loadDetail(runId));
    return { modelId: model_id, ...(label === undefined ? {} : { label: withoutMarker(label) }) };
  } catch (error) {
    if (row === undefined) throw error;
    return { modelId: row.model_id };
  }
}
