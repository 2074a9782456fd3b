import * as vscode from 'vscode';
import { chooseRun } from '../host/dialogs/runDialogs.ts';
import { COMMANDS } from '../host/ids.ts';
import { runChoices } from '../host/runChoices.ts';
import type { Sessions } from '../runs/sessions.ts';

/** Starts a new submission with the model and label of an earlier run; file and consents are asked for afresh. */
export function submitAgain(sessions: Sessions) {
  return async (argument: unknown): Promise<void> => {
    const session = sessions.active;
    if (session === undefined) return;
    const runId = await chooseRun(argument, runChoices(session));
    const run = runId === undefined ? undefined : session.runs.get(runId);
    if (run === undefined) return;
    const label = session.runs.label(run.run_id);
    const preset = { modelId: run.model_id, ...(label === undefined ? {} : { label }) };
    await vscode.commands.executeCommand(COMMANDS.submitDataset, undefined, undefined, preset);
  };
}
