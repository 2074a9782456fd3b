import { chooseRun } from '../shared/runMessages.ts';
import { runChoices } from '../shared/runChoices.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/**
 * Opens the page of a run of the active account.
 * @param show opens it, or shows the one that is open
 */
export function showRun(sessions: Sessions, show: (accountId: string, runId: string) => void) {
  return async (argument: unknown): Promise<void> => {
    const session = sessions.active;
    if (session === undefined) return;
    const runId = await chooseRun(argument, runChoices(session, withoutMarker));
    if (runId !== undefined) show(session.account.id, runId);
  };
}
