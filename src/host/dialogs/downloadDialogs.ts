import * as vscode from 'vscode';
import type { Artifact } from '../../api/types.ts';
import { withSandboxNote } from '../wording/sandbox.ts';
import { pick } from './steps.ts';

/** Asks for the folder that a download goes to. */
export async function chooseDownloadFolder(start: vscode.Uri | undefined): Promise<vscode.Uri | undefined> {
  const { l10n } = vscode;
  const chosen = await vscode.window.showOpenDialog({
    title: l10n.t('Choose a Folder for the Adapter'),
    openLabel: l10n.t('Download Here'),
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: false,
    ...(start === undefined ? {} : { defaultUri: start }),
  });
  return chosen?.[0];
}

/** Asks which artifact is meant, where a run has several. */
export async function chooseArtifact(artifacts: readonly Artifact[]): Promise<Artifact | undefined> {
  if (artifacts.length <= 1) return artifacts[0];
  const { l10n } = vscode;
  const answer = await pick(
    { title: l10n.t('Download'), step: 1, totalSteps: 1 },
    {
      placeholder: l10n.t('This run has several artifacts. Which one?'),
      items: artifacts.map((artifact) => ({
        label: `$(file-zip) ${artifact.filename ?? artifact.artifact_type}`,
        description:
          artifact.artifact_type === 'model' ? l10n.t('the trained adapter') : artifact.artifact_type,
        value: artifact,
      })),
    },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}

/** Asks what to do where a file of that name stands; never is it replaced. */
export async function confirmOtherName(name: string, otherName: string): Promise<boolean> {
  const { l10n } = vscode;
  const keepBoth = l10n.t('Keep Both');
  const choice = await vscode.window.showWarningMessage(
    l10n.t('{0} exists in that folder.', name),
    { modal: true, detail: l10n.t('It stays as it is; the download would be called {0}.', otherName) },
    keepBoth,
  );
  return choice === keepBoth;
}

/** Tells that the adapter is on disk. Not awaited: a toast that hides stays a pending promise. */
export function tellDownloaded(file: vscode.Uri, name: string, isSandbox: boolean): void {
  const { l10n } = vscode;
  const show = l10n.t('Show in Explorer');
  const copy = l10n.t('Copy Path');
  const isInWorkspace = vscode.workspace.getWorkspaceFolder(file) !== undefined;
  void vscode.window
    .showInformationMessage(
      withSandboxNote(l10n.t('{0} was downloaded whole.', name), isSandbox),
      ...(isInWorkspace ? [show, copy] : [copy]),
    )
    .then((choice) => {
      if (choice === show) void vscode.commands.executeCommand('revealInExplorer', file);
      if (choice === copy) void vscode.env.clipboard.writeText(file.fsPath);
    });
}

export function tellNoArtifacts(): void {
  void vscode.window.showWarningMessage(vscode.l10n.t('The service names no artifact for this run.'));
}
