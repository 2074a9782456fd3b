import { access, constants, mkdir, rmdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import * as vscode from 'vscode';
import {
  askDownloadedAlready,
  askInterrupted,
  chooseArtifacts,
  chooseDownloadFolder,
  confirmDirectory,
  confirmOtherName,
  tellDirectoryUnusable,
  tellDownloaded,
  tellDownloading,
} from './downloadDialogs.ts';
import { chooseRun } from '../shared/runDialogs.ts';
import { whileListing, withDownloadProgress } from './downloadProgress.ts';
import { COMMANDS } from '../shared/ids.ts';
import { runIdOf } from '../shared/runArgument.ts';
import { runChoices } from '../shared/runChoices.ts';
import { downloadDirectorySetting } from '../shared/settings.ts';
import { runName } from './messages.ts';
import type { ArtifactName, DownloadRecord } from '../../core/downloads/types.ts';
import { DiskError, onDisk } from '../../core/base/diskError.ts';
import {
  directoryOf,
  runFolderName,
  adapterFirst,
  localAdapter,
  isDownloadOf,
  placeIn,
} from '../../core/downloads/downloadTarget.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/** So long a resumed download waits for what its run is called. */
const LABEL_WAIT_MS = 1_000;

/** The run whose artifacts are wanted. */
interface Wanted {
  session: Session;
  runId: string;
  /** What it is called in sentences. */
  name: string;
}

/** One file on its way. */
interface Job {
  target: string;
  go: (signal: AbortSignal) => Promise<DownloadRecord>;
}

/**
 * Brings a run's adapter into the download directory, or a folder that the person chooses; what is left of an earlier try goes
 * on. Takes a run, or `{ runId, resume: true }`. @throws whatever `Downloads` does
 */
export function downloadAdapter(sessions: Sessions, downloads: Downloads) {
  return async (argument: unknown): Promise<void> => {
    const session = sessions.active;
    if (session === undefined) return;
    const runId = runIdOf(argument);
    if (runId === undefined) {
      const chosen = await chooseRun(
        argument,
        runChoices(session, withoutMarker, (run) => run.artifacts_available),
      );
      // As a call of its own: should it fail, what does it once more knows the run.
      if (chosen !== undefined) await vscode.commands.executeCommand(COMMANDS.downloadAdapter, chosen);
      return;
    }
    const { id } = session.account;
    await downloads.open(id);
    const name = nameOf(session, runId);
    const left = downloads.active.filter(
      (download) => download.accountId === id && download.runId === runId && download.state === 'interrupted',
    );
    const [first] = left;
    if (first !== undefined) {
      const targets = left.map(({ target }) => target);
      const choice = isResume(argument) ? 'resume' : await askInterrupted(name, first, targets);
      if (choice === 'resume') {
        // What goes on does not wait for a service that is slow or away.
        await Promise.race([readLabel(session, runId), setTimeout(LABEL_WAIT_MS)]);
        await bring(
          downloads,
          { session, runId, name: nameOf(session, runId) },
          left.map(({ id: leftId, target }) => ({
            target,
            go: (signal) => downloads.resume(leftId, signal),
          })),
        );
      }
      if (choice !== 'discard') return;
      for (const download of left) await downloads.discard(download.id);
    }
    const record = localAdapter(downloads.records(id), runId);
    if (record === undefined || (await askDownloadedAlready(name, record)))
      await bringAnew(downloads, session, runId);
  };
}

function isResume(argument: unknown): boolean {
  return (
    typeof argument === 'object' && argument !== null && 'resume' in argument && argument.resume === true
  );
}

function nameOf(session: Session, runId: string): string {
  return runName(withoutMarker(session.runs.label(runId) ?? ''), runId);
}

/** The list of runs has no labels; the progress and a folder are called after it. Never rejects. */
async function readLabel(session: Session, runId: string): Promise<void> {
  if (session.runs.label(runId) === undefined) await session.runs.loadDetail(runId).catch(() => undefined);
}

async function bringAnew(downloads: Downloads, session: Session, runId: string): Promise<void> {
  // Before the folder is asked for: what is not finished or expired needs none.
  const offered = adapterFirst(
    await whileListing(async () => {
      const listed = await downloads.list(session, runId);
      await readLabel(session, runId);
      return listed;
    }),
  );
  const name = nameOf(session, runId);
  const wanted: Wanted = { session, runId, name };
  const underWay = (artifact: ArtifactName) =>
    downloads.active.find(
      (download) => isDownloadOf(download, runId, artifact) && download.state !== 'interrupted',
    );
  const free = offered.filter((artifact) => underWay(artifact) === undefined);
  const [running] = offered.flatMap((artifact) => underWay(artifact) ?? []);
  if (free.length === 0 && running !== undefined) {
    tellDownloading(
      name,
      running,
      () => void vscode.commands.executeCommand(COMMANDS.cancelDownload, running.id),
    );
    return;
  }
  const artifacts = await chooseArtifacts(name, free);
  if (artifacts.length === 0) return;
  const folder = await folderFor(wanted);
  if (folder === undefined) return;
  try {
    const targets = await freeTargets(downloads, wanted, artifacts, folder.path);
    await bring(
      downloads,
      wanted,
      targets.map(({ artifact, target }) => ({
        target,
        go: (signal) => downloads.start({ session, runId, artifact, target }, signal),
      })),
    );
  } finally {
    // One that was made for this and holds nothing goes again.
    if (folder.wasMade) await rmdir(folder.path).catch(() => undefined);
  }
}

/** Where the download goes; undefined where the person gave up. */
async function folderFor({
  session,
  runId,
}: Wanted): Promise<{ path: string; wasMade: boolean } | undefined> {
  const directory = directoryOf(downloadDirectorySetting(), homedir());
  if (directory.kind === 'there' || directory.kind === 'missing') {
    const choice = directory.kind === 'there' ? 'make' : await confirmDirectory(directory.path);
    if (choice === undefined) return undefined;
    if (choice === 'make') {
      const folder = path.join(directory.path, runFolderName(session.runs.label(runId), runId));
      try {
        const made = await onDisk(mkdir(folder, { recursive: true }));
        // One that was there is written to as well.
        await onDisk(access(folder, constants.W_OK));
        return { path: folder, wasMade: made !== undefined };
      } catch (error) {
        if (!(error instanceof DiskError)) throw error;
        tellDirectoryUnusable(directory.path, error.code);
      }
    }
  } else if (directory.kind === 'unusable') tellDirectoryUnusable(directory.text);
  const chosen = await chooseDownloadFolder(vscode.workspace.workspaceFolders?.[0]?.uri);
  return chosen && { path: chosen.fsPath, wasMade: false };
}

/** Paths where no file stands, for those that the person does not want to leave. */
async function freeTargets(
  downloads: Downloads,
  { runId }: Wanted,
  artifacts: readonly ArtifactName[],
  folder: string,
): Promise<{ artifact: ArtifactName; target: string }[]> {
  const targets: { artifact: ArtifactName; target: string }[] = [];
  for (const artifact of artifacts) {
    const planned = targets.map(({ artifact: { type, filename }, target }) => ({
      runId,
      artifactType: type,
      filename,
      target,
    }));
    const { name, other, isFile } = placeIn(folder, artifact, runId, [...downloads.active, ...planned]);
    if (other !== undefined && isFile && !(await confirmOtherName(name, other))) continue;
    targets.push({ artifact, target: path.join(folder, other ?? name) });
  }
  return targets;
}

/** Downloads one after the other, and tells of those that came home, also where another failed. */
async function bring(downloads: Downloads, wanted: Wanted, jobs: readonly Job[]): Promise<void> {
  if (jobs.length === 0) return;
  const { session, runId, name } = wanted;
  const records: DownloadRecord[] = [];
  try {
    await withDownloadProgress(name, jobs.length, async (signal, tell) => {
      for (const { target, go } of jobs) {
        const follow = downloads.onDidChange((change) => {
          if (change.runId !== runId) return;
          const download = downloads.active.find(
            (one) => one.runId === runId && one.target === target && one.state !== 'interrupted',
          );
          if (download !== undefined) tell(download, records.length);
        });
        try {
          records.push(await go(signal));
        } finally {
          follow.dispose();
        }
      }
    });
  } finally {
    tellDownloaded(records, session.account.kind === 'sandbox');
  }
}
