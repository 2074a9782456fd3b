import { tellNoDownload } from '../host/dialogs/downloadDialogs.ts';
import { chooseRun } from '../host/dialogs/runDialogs.ts';
import { runIdOf } from '../host/runArgument.ts';
import { downloadText, runName } from '../host/wording/download.ts';
import type { Downloads } from '../runs/downloads.ts';
import { withoutMarker } from '../runs/marker.ts';
import type { Sessions } from '../runs/sessions.ts';

/**
 * Ends the downloads of a run, or one by its id, and forgets what is left of interrupted ones: nothing of them stays.
 * @throws DownloadBusyError, DiskError
 */
export function cancelDownload(sessions: Sessions, downloads: Downloads) {
  return async (argument: unknown): Promise<void> => {
    const session = sessions.active;
    if (session === undefined) return;
    await downloads.open(session.account.id);
    const all = downloads.active.filter(({ accountId }) => accountId === session.account.id);
    const only = new Set(all.map(({ runId }) => runId)).size === 1 ? all[0]?.runId : undefined;
    const chosen =
      runIdOf(argument) ??
      only ??
      (all.length === 0
        ? undefined
        : await chooseRun(
            undefined,
            all.map((download) => ({
              runId: download.runId,
              name: runName(withoutMarker(session.runs.label(download.runId) ?? ''), download.runId),
              description: downloadText(download),
            })),
          ));
    if (chosen === undefined && all.length > 0) return;
    const meant = all.filter(({ id, runId }) => runId === chosen || id === chosen);
    if (meant.length === 0) tellNoDownload();
    for (const { id } of meant) await downloads.discard(id);
  };
}
