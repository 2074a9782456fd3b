import { l10n } from 'vscode';
import type { ActiveDownload, Downloads } from '../../core/downloads/downloads.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { chooseRun, runIdOf } from '../shared/arguments.ts';
import type { CommandResult } from '../shared/commands.ts';
import { askModal, showInformation, showWarning } from '../shared/notifications.ts';
import { TERMS } from '../shared/terms.ts';
import { downloadShare, downloadText, type DownloadView } from './downloadProgress.ts';
import { runNameOf } from './downloadReports.ts';

/**
 * Cancels the downloads of a run of the active account, or one download of any account by its ID, including interrupted ones.
 * Removes their files; asks before it discards an interrupted one.
 * @throws DownloadError `download-busy`, DiskError, LeaseUnavailableError
 */
export async function cancelDownload(
  sessions: Pick<Sessions, 'active'>,
  downloads: Downloads,
  argument: unknown,
): Promise<CommandResult> {
  const given = runIdOf(argument);
  const discard = async (meant: readonly ActiveDownload[]): Promise<CommandResult> => {
    const id = meant[0]?.runId;
    if (id === undefined) {
      void showInformation(l10n.t('No download to cancel.'));
      return { outcome: 'unavailable' };
    }
    const interrupted = meant.find(({ state }) => state === 'interrupted');
    if (interrupted !== undefined && !(await confirmDiscard(nameOf(interrupted.runId), interrupted)))
      return { outcome: 'cancelled', id };
    for (const download of meant) await downloads.discard(download.id);
    return { outcome: 'done', id };
  };
  const session = sessions.active;
  const nameOf = (runId: string) => runNameOf(session?.runs ?? { label: () => undefined }, runId);
  const one = downloads.active.filter(({ id }) => id === given);
  if (one.length > 0) return discard(one);
  if (session !== undefined) await downloads.open(session.account.id);
  const all = () => downloads.active.filter(({ accountId }) => accountId === session?.account.id);
  const [first] = all();
  if (session === undefined || first === undefined) return discard([]);
  const isClear = all().every(({ runId, state }) => runId === first.runId && state !== 'interrupted');
  const choices = all().map((download) => ({
    runId: download.runId,
    name: nameOf(download.runId),
    description: downloadText(download),
  }));
  const chosen = given ?? (isClear ? first.runId : await chooseRun(undefined, choices));
  if (typeof chosen === 'object') return chosen;
  return discard(all().filter(({ id, runId }) => runId === chosen || id === chosen));
}

/** Asks whether to discard what was downloaded of an interrupted download. */
async function confirmDiscard(name: string, view: DownloadView): Promise<boolean> {
  const question = l10n.t('Discard the interrupted download of {0}?', name);
  const detail = l10n.t('The part that has been downloaded ({0}) will be deleted.', downloadShare(view));
  return (await askModal(showWarning, question, detail, { [TERMS.discard]: true })) === true;
}
