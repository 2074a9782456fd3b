import path from 'node:path';
import * as vscode from 'vscode';
import { COMMANDS } from '../ids.ts';
import { revealOf } from '../revealFile.ts';
import { downloadShare, downloadText, type DownloadView } from '../wording/download.ts';
import { formatTime } from '../wording/format.ts';
import { withSandboxNote } from '../wording/sandbox.ts';
import { strangerText } from '../wording/strangerText.ts';
import { showInformation, showWarning } from '../notifications.ts';

/** Which artifact of a run: the service may offer several. */
interface Artifact {
  type: string;
  filename?: string;
}

/** What came home. */
export interface Downloaded {
  path: string;
  artifactType: string;
  /** `length`: its kind of file has no checks of its own. */
  verified: 'zip' | 'gzip' | 'tar' | 'safetensors' | 'length';
  completedAtMs: number;
}

/**
 * Asks for the folder that a download goes to, on the machine that the extension runs on.
 * @param start the workspace's folder, which may stand on no disk
 */
export async function chooseDownloadFolder(start: vscode.Uri | undefined): Promise<vscode.Uri | undefined> {
  const { l10n } = vscode;
  const isOnDisk = (uri: vscode.Uri | undefined) => uri?.scheme === 'file';
  const chosen = await vscode.window.showOpenDialog({
    title: l10n.t('Choose a Folder for the Adapter'),
    openLabel: l10n.t('Download Here'),
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: false,
    ...(start !== undefined && isOnDisk(start) && { defaultUri: start }),
  });
  const [folder] = chosen ?? [];
  if (folder === undefined || isOnDisk(folder)) return folder;
  void showWarning(l10n.t('That folder is on no disk that files can be downloaded to. Choose another one.'));
  return undefined;
}

/** Asks which artifacts are meant, where a run has several. @param artifacts the first one is chosen beforehand */
export async function chooseArtifacts<T extends Artifact>(
  name: string,
  artifacts: readonly T[],
): Promise<readonly T[]> {
  if (artifacts.length <= 1) return artifacts;
  const { l10n } = vscode;
  const chosen = await vscode.window.showQuickPick(
    artifacts.map((artifact, index) => ({
      label: strangerText(artifact.filename ?? artifact.type, 120),
      description: artifact.type === 'model' ? l10n.t('the trained adapter') : strangerText(artifact.type),
      iconPath: new vscode.ThemeIcon('file-zip'),
      picked: index === 0,
      artifact,
    })),
    {
      title: l10n.t('Download from {0}', name),
      placeHolder: l10n.t('This run has several artifacts. Which ones?'),
      canPickMany: true,
      ignoreFocusOut: true,
      matchOnDescription: true,
    },
  );
  return (chosen ?? []).map(({ artifact }) => artifact);
}

/** Asks what to do where a file of that name stands; never is it replaced. */
export async function confirmOtherName(name: string, otherName: string): Promise<boolean> {
  const { l10n } = vscode;
  const keepBoth = l10n.t('Keep Both');
  const choice = await showWarning(
    l10n.t('{0} exists in that folder.', name),
    { modal: true, detail: l10n.t('It stays as it is; the download would be called {0}.', otherName) },
    keepBoth,
  );
  return choice === keepBoth;
}

/** Asks whether to make the download directory, which does not exist. `other`: the person chooses a folder this time. */
export async function confirmDirectory(directory: string): Promise<'make' | 'other' | undefined> {
  const { l10n } = vscode;
  const make = l10n.t('Create It');
  const other = l10n.t('Choose a Folder…');
  const choice = await showWarning(
    l10n.t('The download directory does not exist.'),
    { modal: true, detail: l10n.t('{0} Perhaps a drive is not there at the moment.', directory) },
    make,
    other,
  );
  return choice === make ? 'make' : choice === other ? 'other' : undefined;
}

/** Tells that the setting names no folder that can be used. */
export function tellDirectoryUnusable(text: string): void {
  const { l10n } = vscode;
  const open = l10n.t('Open Setting');
  void showWarning(
    l10n.t('The download directory “{0}” is not the absolute path of a folder that can be used.', text),
    open,
  ).then((choice) => {
    if (choice === open)
      void vscode.commands.executeCommand('workbench.action.openSettings', 'fineTuning.downloadDirectory');
  });
}

/** Says that the adapter is on the disk already. `again`: it is downloaded once more. */
export async function askDownloadedAlready(name: string, { path: file, completedAtMs }: Downloaded) {
  const { l10n } = vscode;
  const inspect = l10n.t('Inspect');
  const reveal = revealOf(vscode.Uri.file(file));
  const again = l10n.t('Download Again…');
  const choice = await showInformation(
    l10n.t('The adapter of {0} was downloaded already.', name),
    { modal: true, detail: l10n.t('{0}: {1}', formatTime(completedAtMs), file) },
    inspect,
    reveal.title,
    again,
  );
  if (choice === inspect) void vscode.commands.executeCommand(COMMANDS.inspectAdapter, vscode.Uri.file(file));
  if (choice === reveal.title) reveal.show();
  return choice === again;
}

/**
 * Asks what to do with what came of downloads of a run that were interrupted.
 * @param view of the first of them
 * @param targets of them all
 */
export async function askInterrupted(
  name: string,
  view: DownloadView,
  targets: readonly string[],
): Promise<'resume' | 'discard' | undefined> {
  const { l10n } = vscode;
  const resume = l10n.t('Resume');
  const discard = l10n.t('Discard and Begin Anew');
  const choice = await showInformation(
    l10n.t('The download of {0} was interrupted at {1}.', name, downloadShare(view)),
    { modal: true, detail: targets.join('\n') },
    resume,
    discard,
  );
  return choice === resume ? 'resume' : choice === discard ? 'discard' : undefined;
}

/** Says that this window does what was asked for already. */
export function tellDownloading(name: string, view: DownloadView, onCancel: () => void): void {
  const { l10n } = vscode;
  const cancel = l10n.t('Cancel Download');
  void showInformation(
    l10n.t('The adapter of {0} is being downloaded: {1}.', name, downloadText(view)),
    cancel,
  ).then((choice) => {
    if (choice === cancel) onCancel();
  });
}

/** Says that there is no download to cancel. */
export function tellNoDownload(): void {
  void showInformation(vscode.l10n.t('Nothing is being downloaded.'));
}

/** Tells what is on the disk. Not awaited: a toast that hides stays a pending promise. */
export function tellDownloaded(files: readonly Downloaded[], isSandbox: boolean): void {
  const file = files.find(({ artifactType }) => artifactType === 'model') ?? files[0];
  if (file === undefined) return;
  const { l10n } = vscode;
  const uri = vscode.Uri.file(file.path);
  const reveal = revealOf(uri);
  const inspect = l10n.t('Inspect');
  void showInformation(
    withSandboxNote(downloadedSentence(files, file), isSandbox),
    inspect,
    reveal.title,
  ).then((choice) => {
    if (choice === inspect) void vscode.commands.executeCommand(COMMANDS.inspectAdapter, uri);
    if (choice === reveal.title) reveal.show();
  });
}

function downloadedSentence(files: readonly Downloaded[], file: Downloaded): string {
  const { l10n } = vscode;
  const folder = strangerText(path.dirname(file.path), 400);
  if (files.length > 1) return l10n.t('{0} files were downloaded whole to {1}.', files.length, folder);
  const name = strangerText(path.basename(file.path), 120);
  return file.verified === 'length'
    ? l10n.t('{0} was downloaded to {1}. Its length is right; it has no checks of its own.', name, folder)
    : l10n.t('{0} was downloaded whole to {1}.', name, folder);
}
