import { chooseRun, copyRunIdToClipboard } from '../shared/runMessages.ts';
import { runChoices } from '../shared/runChoices.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/** Puts a run's id on the clipboard. */
export function copyRunId(sessions: Sessions) {
  return async (argument: unknown): Promise<void> => {
    const session = sessions.active;
    if (session === undefined) return;
    const runId = await chooseRun(argument, runChoices(session, withoutMarker));
    if (runId !== undefined) await copyRunIdToClipboard(runId);
  };
}
