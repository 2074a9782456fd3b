import { tellNoDownload } from './downloadDialogs.ts';
import { chooseRun, runIdOf } from '../shared/chooseRun.ts';
import { downloadText, runName } from './messages.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/**
 * Ends the downloads of a run of the active account, or one of whichever account by its id, and forgets what is left of
 * interrupted ones: nothing of them stays.
 * @throws DownloadBusyError, DiskError, LeaseUnavailableError
 */
export function cancelDownload(sessions: Pick<Sessions, 'active'>, downloads: Downloads) {
  return async (argument: unknown): Promise<void> => {
    const given = runIdOf(argument);
    const named = downloads.active.find(({ id }) => id === given);
    if (named !== undefined) {
      await downloads.discard(named.id);
      return;
    }
    const session = sessions.active;
    if (session === undefined) {
      tellNoDownload();
      return;
    }
    await downloads.open(session.account.id);
    const all = () => downloads.active.filter(({ accountId }) => accountId === session.account.id);
    const chosen = given ?? (all().length === 0 ? undefined : await chooseDownloadingRun(session, all()));
    if (chosen === undefined && all().length > 0) return;
    const meant = all().filter(({ id, runId }) => runId === chosen || id === chosen);
    if (meant.length === 0) tellNoDownload();
    for (const { id } of meant) await downloads.discard(id);
  };
}

/** The only run of which something is on its way, or the one that the person picks: what was kept is not given up unasked. */
async function chooseDownloadingRun(
  { runs }: Session,
  all: Downloads['active'],
): Promise<string | undefined> {
  const [first] = all;
  const isClear = all.every(({ runId, state }) => runId === first?.runId && state !== 'interrupted');
  if (isClear) return first?.runId;
  return chooseRun(
    undefined,
    all.map((download) => ({
      runId: download.runId,
      name: runName(withoutMarker(runs.label(download.runId) ?? ''), download.runId),
      description: downloadText(download),
    })),
  );
}
