import { mkdir, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { DiskError, onDisk } from '../../core/base/diskError.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { DownloadRecord, Downloads } from '../../core/downloads/downloads.ts';
import { adapterFirst, fileNameIn, runFolderName } from '../../core/downloads/downloadTarget.ts';
import { isAdapter, isSoundAdapter, localAdapter } from '../../core/downloads/localFiles.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Services } from '../../services.ts';
import { autoDownloadFolder, downloadWhenCompleteSetting } from '../shared/settings.ts';
import { reportDownloaded, reportDownloadFailed } from './downloadReports.ts';

/**
 * Downloads a run's adapter into the download folder, in one window only, and never overwrites a file. The run's row shows the
 * progress; only failures and files that may be unusable are reported. Never rejects.
 */
export async function downloadAutomatically(
  parts: Pick<Services, 'downloads' | 'log' | 'notices' | 'sandboxFault' | 'sessions'>,
  session: Session,
  runId: string,
): Promise<void> {
  const { sessions, downloads, log, notices } = parts;
  const { account } = session;
  if (downloadWhenCompleteSetting() !== 'always') return;
  try {
    if (!(await notices.claim(account.id, runId, 'download-when-complete'))) return;
    await downloads.open(account.id);
    const isActive = downloads.active.some(
      (one) => one.accountId === account.id && one.runId === runId && isAdapter(one.artifactType),
    );
    if (isActive || localAdapter(downloads.records(account.id), runId) !== undefined) return;
    const directory = autoDownloadFolder();
    // The folder existed when the run completed, so the download was not offered then.
    if (directory === undefined) throw new DiskError({ name: 'Error', message: '', code: 'ENOENT' });
    const record = await download(downloads, session, runId, directory);
    if (record !== undefined && !isSoundAdapter(record)) reportDownloaded([record], account);
  } catch (error) {
    if (error instanceof CancelledError) return;
    log.error('auto-download', error);
    if (sessions.isReportedByState(error)) return;
    reportDownloadFailed(session, parts, runId, error);
  }
}

async function download(
  downloads: Downloads,
  session: Session,
  runId: string,
  directory: string,
): Promise<DownloadRecord | undefined> {
  const [artifact] = adapterFirst(await downloads.list(session, runId));
  if (artifact === undefined) return undefined;
  // The folder is named after the label, which the list of runs doesn't have.
  if (session.runs.label(runId) === undefined) await session.runs.loadDetail(runId).catch(() => undefined);
  const folder = path.join(directory, runFolderName(session.runs.label(runId), runId));
  // Don't create parent folders: if the download folder is gone, its drive was removed.
  await onDisk(
    mkdir(folder).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }),
  );
  try {
    const { name, other } = fileNameIn(folder, artifact, runId, downloads.active);
    return await downloads.start({ session, runId, artifact, target: path.join(folder, other ?? name) });
  } finally {
    // Only removes an empty folder.
    await rmdir(folder).catch(() => undefined);
  }
}
