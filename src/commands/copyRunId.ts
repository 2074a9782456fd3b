import { chooseRun, copyRunIdToClipboard } from '../host/dialogs/runDialogs.ts';
import { runChoices } from '../host/runChoices.ts';
import { withoutMarker } from '../runs/submission/marker.ts';
import type { Sessions } from '../runs/sessions.ts';

/** Puts a run's id on the clipboard. */
export function copyRunId(sessions: Sessions) {
  return async (argument: unknown): Promise<void> => {
    const session = sessions.active;
    if (session === undefined) return;
    const runId = await chooseRun(argument, runChoices(session, withoutMarker));
    if (runId !== undefined) await copyRunIdToClipboard(runId);
  };
}
