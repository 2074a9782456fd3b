import { access, constants, rmdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import * as vscode from 'vscode';
import { DiskError, onDisk } from '../../core/base/diskError.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { makeFolder } from '../../core/base/folders.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { adapterFirst, isDownloadOf, placeIn, runFolderName } from '../../core/downloads/downloadTarget.ts';
import { directoryOf, localAdapter } from '../../core/downloads/localFiles.ts';
import type {
  ActiveDownload,
  ArtifactName,
  DownloadRecord,
  DownloadState,
} from '../../core/downloads/types.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { withProgress, withCancellableProgress } from '../shared/notifications.ts';
import { runIdOf, chooseRun, runChoices } from '../shared/arguments.ts';
import { setting } from '../shared/settings.ts';
import {
  askDownloadAgain,
  askInterrupted,
  chooseArtifacts,
  chooseDownloadFolder,
  confirmDirectory,
  confirmDiscard,
  confirmOtherName,
  downloadFraction,
  downloadProgressText,
  downloadText,
  downloadTitle,
  listingTitle,
  reportDownloaded,
  reportDownloadFailed,
  reportDownloading,
  reportNoDownload,
  reportUnusableFolder,
  runNameOf,
} from './messages.ts';

/** How long a resumed download waits for its run's label. */
const LABEL_WAIT_MS = 1_000;

type Parts = Pick<Services, 'downloads' | 'log' | 'sessions'>;

/** One file to download. */
interface Job {
  target: string;
  run: (signal: AbortSignal) => Promise<DownloadRecord>;
}

/**
 * Downloads a run's adapter into the download folder or one that the user chooses, or resumes interrupted downloads.
 * @param mode `resume`: resumes without asking
 * @throws the same errors as `list` and `discard` of `Downloads`
 */
export async function downloadAdapter(parts: Parts, argument?: unknown, mode?: unknown): Promise<void> {
  const { downloads } = parts;
  const session = parts.sessions.active;
  if (session === undefined) return;
  const runId = runIdOf(argument);
  if (runId === undefined) {
    const choices = runChoices(session, (run) => run.artifacts_available);
    const chosen = await chooseRun(argument, choices);
    // Call the command again with the run, so that a retry doesn't ask for it.
    if (chosen !== undefined) await vscode.commands.executeCommand(COMMANDS.downloadAdapter, chosen);
    return;
  }
  const { id: accountId } = session.account;
  await downloads.check(accountId);
  const interrupted = downloads.active.filter(
    (one) => one.accountId === accountId && one.runId === runId && one.state === 'interrupted',
  );
  const [first] = interrupted;
  if (first !== undefined) {
    const targets = interrupted.map(({ target }) => target);
    const choice =
      mode === 'resume' ? mode : await askInterrupted(runNameOf(session.runs, runId), first, targets);
    if (choice === 'resume') {
      // A slow or unreachable service must not delay the download.
      await Promise.race([loadLabel(session, runId), setTimeout(LABEL_WAIT_MS)]);
      const jobs = interrupted.map(({ id, target }) => ({
        target,
        run: (signal: AbortSignal) => downloads.resume(id, signal),
      }));
      await runJobs(parts, session, runId, jobs);
    }
    if (choice !== 'restart') return;
    for (const { id } of interrupted) await downloads.discard(id);
  }
  const record = localAdapter(downloads.records(accountId), runId);
  if (record === undefined || (await askDownloadAgain(runNameOf(session.runs, runId), record)))
    await downloadNew(parts, session, runId);
}

/** Reads the label for the progress and the folder's name; the list of runs has none. Never rejects. */
async function loadLabel({ runs }: Session, runId: string): Promise<void> {
  if (runs.label(runId) === undefined) await runs.loadDetail(runId).catch(() => undefined);
}

async function downloadNew(parts: Parts, session: Session, runId: string): Promise<void> {
  const { downloads } = parts;
  // List first: if the run is not completed or its adapter expired, no folder is needed.
  const listed = await withProgress(
    { location: vscode.ProgressLocation.Window, title: listingTitle() },
    async () => {
      const artifacts = await downloads.list(session, runId);
      await loadLabel(session, runId);
      return artifacts;
    },
  );
  const offered = adapterFirst(listed);
  const name = runNameOf(session.runs, runId);
  const activeOf = (artifact: ArtifactName) =>
    downloads.active.find((one) => isDownloadOf(one, runId, artifact) && one.state !== 'interrupted');
  const free = offered.filter((artifact) => activeOf(artifact) === undefined);
  const [running] = offered.flatMap((artifact) => activeOf(artifact) ?? []);
  if (free.length === 0 && running !== undefined) {
    const cancel = () => void vscode.commands.executeCommand(COMMANDS.cancelDownload, running.id);
    reportDownloading(name, running, cancel);
    return;
  }
  const artifacts = await chooseArtifacts(name, free);
  if (artifacts.length === 0) return;
  const folder = await folderFor(session, runId);
  if (folder === undefined) return;
  try {
    const targets = await freeTargets(downloads, runId, artifacts, folder.path);
    const jobs = targets.map(({ artifact, target }) => ({
      target,
      run: (signal: AbortSignal) => downloads.start({ session, runId, artifact, target }, signal),
    }));
    await runJobs(parts, session, runId, jobs);
  } finally {
    // Remove the new folder if it is empty.
    if (folder.wasMade) await rmdir(folder.path).catch(() => undefined);
  }
}

/** Returns the folder to download to; undefined if the user canceled. */
async function folderFor(
  { runs }: Session,
  runId: string,
): Promise<{ path: string; wasMade: boolean } | undefined> {
  const directory = directoryOf(setting('downloadDirectory'), homedir());
  if (directory.kind === 'unusable') reportUnusableFolder(directory.text);
  const choice = directory.kind === 'missing' ? await confirmDirectory(directory.path) : 'create';
  if (choice === undefined) return undefined;
  if (choice === 'create' && 'path' in directory) {
    const folder = path.join(directory.path, runFolderName(runs.label(runId), runId));
    try {
      const made = await onDisk(makeFolder(folder));
      await onDisk(access(folder, constants.W_OK));
      return { path: folder, wasMade: made !== undefined };
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      reportUnusableFolder(directory.path, error);
    }
  }
  const chosen = await chooseDownloadFolder(vscode.workspace.workspaceFolders?.[0]?.uri);
  return chosen && { path: chosen.fsPath, wasMade: false };
}

/** Returns unused paths for the artifacts that the user doesn't skip. */
async function freeTargets(
  downloads: Downloads,
  runId: string,
  artifacts: readonly ArtifactName[],
  folder: string,
): Promise<{ artifact: ArtifactName; target: string }[]> {
  const targets: { artifact: ArtifactName; target: string }[] = [];
  for (const artifact of artifacts) {
    const planned = targets.map(({ artifact: { type: artifactType, filename }, target }) => {
      return { runId, artifactType, filename, target };
    });
    const { name, other, isFile } = placeIn(folder, artifact, runId, [...downloads.active, ...planned]);
    if (other !== undefined && isFile && !(await confirmOtherName(name, other))) continue;
    targets.push({ artifact, target: path.join(folder, other ?? name) });
  }
  return targets;
}

/** Runs downloads one after another with one progress notification, and reports the files and any failure. */
async function runJobs(
  { downloads, log }: Parts,
  session: Session,
  runId: string,
  jobs: readonly Job[],
): Promise<void> {
  if (jobs.length === 0) return;
  const records: DownloadRecord[] = [];
  try {
    await withCancellableProgress(downloadTitle(runNameOf(session.runs, runId)), async (signal, report) => {
      let state: DownloadState | undefined;
      const subscription = downloads.onDidChange((change) => {
        const target = jobs[records.length]?.target;
        const download = downloads.active.find((one) => one.runId === runId && one.target === target);
        if (change.runId !== runId || download === undefined || download.state === 'interrupted') return;
        const text = downloadProgressText(download, records.length, jobs.length);
        const fraction = downloadFraction(download);
        // A new state is shown at once; reports with a fraction are throttled.
        if (download.state !== state) report(text);
        state = download.state;
        report(text, fraction === undefined ? undefined : (records.length + fraction) / jobs.length);
      });
      try {
        for (const { run } of jobs) records.push(await run(signal));
      } finally {
        subscription.dispose();
      }
    });
  } catch (error) {
    if (error instanceof CancelledError) return;
    log.error('not-downloaded', error);
    // The account's state already shows this error.
    if (!session.isReportedByState(error)) reportDownloadFailed(session, downloads, runId, error);
  } finally {
    reportDownloaded(records, session.account);
  }
}

/**
 * Cancels the downloads of a run of the active account, or one download of any account by its ID, including interrupted ones.
 * Removes their files; asks before it discards an interrupted one.
 * @throws DownloadError `download-busy`, DiskError, LeaseUnavailableError
 */
export async function cancelDownload(
  sessions: Pick<Sessions, 'active'>,
  downloads: Downloads,
  argument: unknown,
): Promise<void> {
  const given = runIdOf(argument);
  const discard = async (meant: readonly ActiveDownload[]) => {
    const interrupted = meant.find(({ state }) => state === 'interrupted');
    if (interrupted !== undefined && !(await confirmDiscard(nameOf(interrupted.runId), interrupted))) return;
    for (const { id } of meant) await downloads.discard(id);
  };
  const session = sessions.active;
  const nameOf = (runId: string) => runNameOf(session?.runs ?? { label: () => undefined }, runId);
  const one = downloads.active.filter(({ id }) => id === given);
  if (one.length > 0) return discard(one);
  if (session !== undefined) await downloads.open(session.account.id);
  const all = () => downloads.active.filter(({ accountId }) => accountId === session?.account.id);
  const [first] = all();
  if (session === undefined || first === undefined) {
    reportNoDownload();
    return;
  }
  const isClear = all().every(({ runId, state }) => runId === first.runId && state !== 'interrupted');
  const choices = all().map((download) => ({
    runId: download.runId,
    name: nameOf(download.runId),
    description: downloadText(download),
  }));
  const chosen = given ?? (isClear ? first.runId : await chooseRun(undefined, choices));
  if (chosen === undefined) return;
  const meant = all().filter(({ id, runId }) => runId === chosen || id === chosen);
  if (meant.length === 0) reportNoDownload();
  await discard(meant);
}
