import type { Downloads } from '../../core/downloads/downloads.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { runIdOf, chooseRun } from '../shared/arguments.ts';
import { downloadText, reportNoDownload, runNameOf } from './messages.ts';

/**
 * Cancels the downloads of a run of the active account, or one of any account by its ID, and discards interrupted ones:
 * nothing of them is left.
 * @throws DownloadError `download-busy`, DiskError, LeaseUnavailableError
 */
export async function cancelDownload(
  sessions: Pick<Sessions, 'active'>,
  downloads: Downloads,
  argument: unknown,
): Promise<void> {
  const given = runIdOf(argument);
  if (downloads.active.some(({ id }) => id === given)) return downloads.discard(given ?? '');
  const session = sessions.active;
  if (session === undefined) {
    reportNoDownload();
    return;
  }
  await downloads.open(session.account.id);
  const all = () => downloads.active.filter(({ accountId }) => accountId === session.account.id);
  if (all().length === 0) {
    reportNoDownload();
    return;
  }
  const [first] = all();
  // What was received is not deleted unasked.
  const isClear = all().every(({ runId, state }) => runId === first?.runId && state !== 'interrupted');
  const choices = all().map((download) => ({
    runId: download.runId,
    name: runNameOf(session.runs, download.runId),
    description: downloadText(download),
  }));
  const chosen = given ?? (isClear ? first?.runId : await chooseRun(undefined, choices));
  if (chosen === undefined) return;
  const meant = all().filter(({ id, runId }) => runId === chosen || id === chosen);
  if (meant.length === 0) reportNoDownload();
  for (const { id } of meant) await downloads.discard(id);
}
