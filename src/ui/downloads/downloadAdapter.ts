import { rmdir } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { commands, l10n, ProgressLocation, ThemeIcon, Uri, window } from 'vscode';
import { CancelledError } from '../../core/base/errors.ts';
import type { ArtifactName, DownloadRecord, DownloadState } from '../../core/downloads/downloads.ts';
import { adapterFirst, isDownloadOf } from '../../core/downloads/downloadTarget.ts';
import { isAdapter, localAdapter } from '../../core/downloads/localFiles.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Services } from '../../services.ts';
import { runIdOf, chooseRun, runChoices } from '../shared/arguments.ts';
import type { CommandResult } from '../shared/commands.ts';
import { formatTime } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import {
  askModal,
  notify,
  showInformation,
  withCancellableProgress,
  withProgress,
} from '../shared/notifications.ts';
import { revealOf } from '../shared/open.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import { folderFor, freeTargets } from './downloadFolder.ts';
import {
  downloadFraction,
  downloadProgressText,
  downloadShare,
  downloadText,
  type DownloadView,
} from './downloadProgress.ts';
import { reportDownloaded, reportDownloadFailed, runNameOf } from './downloadReports.ts';

/** How long a resumed download waits for its run's label. */
const LABEL_WAIT_MS = 1_000;

type Parts = Pick<Services, 'downloads' | 'log' | 'sandboxFault' | 'sessions'>;

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
export async function downloadAdapter(
  parts: Parts,
  argument?: unknown,
  mode?: unknown,
): Promise<CommandResult> {
  const { downloads } = parts;
  const session = parts.sessions.active;
  if (session === undefined) return { outcome: 'unavailable' };
  const runId = runIdOf(argument);
  if (runId === undefined) {
    const choices = runChoices(session, (run) => run.artifacts_available);
    const chosen = await chooseRun(argument, choices);
    if (typeof chosen === 'object') return chosen;
    // Call the command again with the run, so that a retry doesn't ask for it.
    return commands.executeCommand<CommandResult>(COMMANDS.downloadAdapter, chosen);
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
      return runJobs(parts, session, runId, jobs);
    }
    if (choice !== 'restart') return { outcome: 'cancelled', id: runId };
    for (const { id } of interrupted) await downloads.discard(id);
  }
  const record = localAdapter(downloads.records(accountId), runId);
  if (record !== undefined && !(await askDownloadAgain(runNameOf(session.runs, runId), record)))
    return { outcome: 'cancelled', id: runId };
  return downloadNew(parts, session, runId);
}

/** Asks what to do with a run's interrupted downloads: `view` is of the first, `targets` are the paths of all. */
function askInterrupted(
  name: string,
  view: DownloadView,
  targets: readonly string[],
): Promise<'resume' | 'restart' | undefined> {
  const question = l10n.t('The download of {0} was interrupted at {1}.', name, downloadShare(view));
  return askModal(showInformation, question, targets.join('\n'), {
    [l10n.t('Resume')]: 'resume',
    [l10n.t('Restart Download')]: 'restart',
  });
}

/** Asks whether to download an adapter again that is already on disk. */
async function askDownloadAgain(
  name: string,
  { path: file, completedAtMs }: DownloadRecord,
): Promise<boolean> {
  const reveal = revealOf(Uri.file(file));
  const choice = await askModal(
    showInformation,
    l10n.t('The adapter for {0} has already been downloaded.', name),
    factLine(formatTime(completedAtMs), file),
    { [TERMS.inspect]: 'inspect', [reveal.title]: 'reveal', [TERMS.downloadAgain]: 'again' },
  );
  if (choice === 'inspect') void commands.executeCommand(COMMANDS.inspectAdapter, Uri.file(file));
  if (choice === 'reveal') reveal.show();
  return choice === 'again';
}

/** Reads the label for the progress and the folder's name; the list of runs has none. Never rejects. */
async function loadLabel({ runs }: Session, runId: string): Promise<void> {
  if (runs.label(runId) === undefined) await runs.loadDetail(runId).catch(() => undefined);
}

async function downloadNew(parts: Parts, session: Session, runId: string): Promise<CommandResult> {
  const { downloads } = parts;
  // List first: if the run is not completed or its adapter expired, no folder is needed.
  const listed = await withProgress(
    { location: ProgressLocation.Window, title: l10n.t('Getting the download link') },
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
    const cancel = () => commands.executeCommand(COMMANDS.cancelDownload, running.id);
    const text = l10n.t('The adapter for {0} is already downloading: {1}.', name, downloadText(running));
    notify(showInformation, text, { [l10n.t('Cancel Download')]: cancel });
    return { outcome: 'unavailable', id: runId };
  }
  const artifacts = await chooseArtifacts(name, free);
  if (artifacts.length === 0) return { outcome: 'cancelled', id: runId };
  const folder = await folderFor(session, runId);
  if (folder === undefined) return { outcome: 'cancelled', id: runId };
  try {
    const targets = await freeTargets(downloads, runId, artifacts, folder.path);
    const jobs = targets.map(({ artifact, target }) => ({
      target,
      run: (signal: AbortSignal) => downloads.start({ session, runId, artifact, target }, signal),
    }));
    return await runJobs(parts, session, runId, jobs);
  } finally {
    // Remove the new folder if it is empty.
    if (folder.wasMade) await rmdir(folder.path).catch(() => undefined);
  }
}

/** Asks which artifacts to download if there are several. @param artifacts the first one is preselected */
export async function chooseArtifacts(
  name: string,
  artifacts: readonly ArtifactName[],
): Promise<readonly ArtifactName[]> {
  if (artifacts.length <= 1) return artifacts;
  const chosen = await window.showQuickPick(
    artifacts.map((artifact, index) => ({
      label: sanitizeServiceText(artifact.filename ?? artifact.type, 120),
      description: isAdapter(artifact.type)
        ? l10n.t('the trained adapter')
        : sanitizeServiceText(artifact.type),
      iconPath: new ThemeIcon('file-zip'),
      picked: index === 0,
      artifact,
    })),
    {
      title: l10n.t('Download from {0}', name),
      canPickMany: true,
      ignoreFocusOut: true,
      matchOnDescription: true,
    },
  );
  return (chosen ?? []).map(({ artifact }) => artifact);
}

/** Runs downloads one after another with one progress notification, and reports the files and any failure. */
async function runJobs(
  parts: Parts,
  session: Session,
  runId: string,
  jobs: readonly Job[],
): Promise<CommandResult> {
  if (jobs.length === 0) return { outcome: 'cancelled', id: runId };
  const { downloads, log, sandboxFault } = parts;
  const records: DownloadRecord[] = [];
  try {
    await withCancellableProgress(
      l10n.t('Downloading {0}', runNameOf(session.runs, runId)),
      async (signal, report) => {
        let state: DownloadState | undefined;
        const subscription = downloads.onDidChange((change) => {
          const target = jobs[records.length]?.target;
          const download = downloads.active.find((one) => one.runId === runId && one.target === target);
          if (change.runId !== runId || download === undefined || download.state === 'interrupted') return;
          const isWaiting = download.state === 'waiting';
          const fault = isWaiting ? sandboxFault.get()(session.account, ['cut-download']) : undefined;
          const text = fault?.sentence ?? downloadProgressText(download, records.length, jobs.length);
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
      },
    );
    return { outcome: 'done', id: runId };
  } catch (error) {
    if (error instanceof CancelledError) return { outcome: 'cancelled', id: runId };
    log.error('not-downloaded', error);
    // The account's state already shows this error.
    if (!session.isReportedByState(error)) reportDownloadFailed(session, parts, runId, error);
    return { outcome: 'failed', id: runId };
  } finally {
    reportDownloaded(records, session.account);
  }
}
