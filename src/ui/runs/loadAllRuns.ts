import * as vscode from 'vscode';
import { CancelledError, unlessCancelled } from '../../core/base/errors.ts';
import { COMMANDS } from '../shared/ids.ts';
import { withCancellableProgress } from '../shared/progress.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { listWords, tellMayBeIncomplete, tellNotAllLoaded } from './listMessages.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/**
 * Reads page after page until every run of the active account is loaded, the service sends no new ones, or the person has had
 * enough. What was read stays, however it ends.
 */
export function loadAllRuns(sessions: Pick<Sessions, 'active' | 'isToldByState'>) {
  return async (): Promise<void> => {
    const session = sessions.active;
    if (session === undefined) return;
    const { runs } = session;
    const again = () => void vscode.commands.executeCommand(COMMANDS.loadAllRuns);
    await withCancellableProgress(listWords.loadingAll(), async (signal, report) => {
      try {
        if (runs.rows === undefined) await runs.refresh();
        while (runs.hasMore && !signal.aborted && sessions.active === session) {
          report(listWords.loaded(runs.rows?.length ?? 0));
          await unlessCancelled(runs.loadMore(), signal);
          if (!runs.isIncomplete) continue;
          tellMayBeIncomplete(runs.rows?.length ?? 0, again);
          return;
        }
      } catch (error) {
        if (error instanceof CancelledError || sessions.isToldByState(error)) return;
        tellNotAllLoaded(runs.rows?.length ?? 0, asText(explain(error)), again);
      }
    });
  };
}
