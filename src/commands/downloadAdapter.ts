import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Artifact } from '../api/types.ts';
import {
  chooseArtifact,
  chooseDownloadFolder,
  confirmOtherName,
  tellDownloaded,
  tellNoArtifacts,
} from '../host/dialogs/downloadDialogs.ts';
import { chooseRun } from '../host/dialogs/runDialogs.ts';
import { COMMANDS } from '../host/ids.ts';
import { withCancellableProgress } from '../host/progress.ts';
import { runIdOf } from '../host/runArgument.ts';
import { runChoices } from '../host/runChoices.ts';
import { downloadText, downloadTitle } from '../host/wording/download.ts';
import type { Downloader } from '../runs/downloader.ts';
import { numberedFileName, safeFileName } from '../runs/fileName.ts';
import { withoutMarker } from '../runs/marker.ts';
import type { Sessions } from '../runs/sessions.ts';

/** Brings a run's adapter into a folder that the person chooses. @throws ApiError, DiskError, FileExistsError */
export function downloadAdapter(sessions: Sessions, downloader: Downloader) {
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
    // The folder first: the signed URL is asked for just before it is used.
    const folder = await chooseDownloadFolder(vscode.workspace.workspaceFolders?.[0]?.uri);
    if (folder === undefined) return;
    const saved = await withCancellableProgress(
      downloadTitle(session.runs.label(runId) ?? runId),
      async (signal, report) => {
        const artifact = await wantedArtifact(await downloader.artifacts(session, runId, signal));
        if (artifact === undefined) return undefined;
        const target = await freeTarget(
          folder.fsPath,
          safeFileName(artifact.filename, safeFileName(`adapter-${runId.slice(0, 8)}`, 'adapter')),
        );
        if (target === undefined) return undefined;
        await downloader.download(session, artifact, target, {
          signal,
          onProgress: (receivedBytes, totalBytes) =>
            report(
              downloadText(receivedBytes, totalBytes),
              totalBytes === undefined ? undefined : receivedBytes / totalBytes,
            ),
        });
        return target;
      },
    );
    if (saved !== undefined)
      tellDownloaded(vscode.Uri.file(saved), path.basename(saved), session.account.kind === 'sandbox');
  };
}

async function wantedArtifact(artifacts: readonly Artifact[]): Promise<Artifact | undefined> {
  if (artifacts.length === 0) tellNoArtifacts();
  return chooseArtifact(artifacts);
}

/** A path where no file stands; undefined when the person did not want another name. */
async function freeTarget(folder: string, name: string): Promise<string | undefined> {
  const taken = (candidate: string) => existsSync(path.join(folder, candidate));
  if (!taken(name)) return path.join(folder, name);
  let number = 2;
  while (taken(numberedFileName(name, number))) number += 1;
  const other = numberedFileName(name, number);
  return (await confirmOtherName(name, other)) ? path.join(folder, other) : undefined;
}
