import { chooseRun } from '../host/dialogs/runDialogs.ts';
import { VIEWS } from '../host/ids.ts';
import { withViewProgress } from '../host/progress.ts';
import { runChoices } from '../host/runChoices.ts';
import { withoutMarker } from '../runs/marker.ts';
import type { Sessions } from '../runs/sessions.ts';

/**
 * Reads a run's details and unfolds them in the Runs view.
 * @param reveal shows a loaded run
 * @throws ApiError, KeyMissingError
 */
export function showRun(sessions: Sessions, reveal: (runId: string, expand: boolean) => Promise<void>) {
  return async (argument: unknown): Promise<void> => {
    const session = sessions.active;
    if (session === undefined) return;
    const runId = await chooseRun(argument, runChoices(session, withoutMarker));
    if (runId === undefined) return;
    await withViewProgress(VIEWS.runs, () => session.runs.loadDetail(runId));
    await reveal(runId, true);
  };
}
