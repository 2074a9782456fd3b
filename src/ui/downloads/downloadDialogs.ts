import path from 'node:path';
import * as vscode from 'vscode';
import { COMMANDS } from '../shared/ids.ts';
import { revealOf } from '../shared/revealFile.ts';
import { downloadShare, downloadText, type DownloadView } from './messages.ts';
import { formatTime } from '../shared/format.ts';
import { withSandboxNote } from '../shared/sandboxMessages.ts';
import { strangerText } from '../shared/strangerText.ts';
import { showInformation, showWarning } from '../shared/notifications.ts';

/** Which artifact of a run: the service may offer several. */
interface Artifact {
  type: string;
  filename?: string;
}

/** A downloaded file. */
export interface Downloaded {
  path: string;
  artifactType: string;
  /** By its own checks, or by its length alone: an archive that could not be checked or fails, a web page, any other file. */
  verified: 'zip' | 'gzip' | 'tar' | 'safetensors' | 'unread' | 'length' | 'html' | 'damaged';
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
  void showWarning(l10n.t('Adapters can only be downloaded to a local folder.'));
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
    l10n.t('The download folder does not exist.'),
    { modal: true, detail: l10n.t('{0}\nThe drive may be disconnected.', directory) },
    make,
    other,
  );
  return choice === make ? 'make' : choice === other ? 'other' : undefined;
}

/**
 * Reports that the download folder of the setting cannot be used.
 * @param code of what the disk said; without one it is no absolute path of a folder
 */
export function tellDirectoryUnusable(text: string, code?: string): void {
  const { l10n } = vscode;
  const open = l10n.t('Open Setting');
  const name = strangerText(text, 400);
  const sentence =
    code === undefined
      ? l10n.t('The download folder “{0}” is not the absolute path of a folder.', name)
      : code === 'no-permission'
        ? l10n.t('You don’t have permission to write to the download folder “{0}”.', name)
        : code === 'disk-full'
          ? l10n.t('There is no space left in the download folder “{0}”.', name)
          : l10n.t('Couldn’t create a folder in the download folder “{0}”.', name);
  void showWarning(sentence, open).then((choice) => {
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
    l10n.t('The adapter for {0} is already downloaded.', name),
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
  const discard = l10n.t('Restart Download');
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
    l10n.t('The adapter for {0} is already being downloaded: {1}.', name, downloadText(view)),
    cancel,
  ).then((choice) => {
    if (choice === cancel) onCancel();
  });
}

/** Says that there is no download to cancel. */
export function tellNoDownload(): void {
  void showInformation(vscode.l10n.t('There is no download to cancel.'));
}

/**
 * Reports what is on the disk; of an adapter that could not be read, the doubt. Not awaited: a toast that hides stays a pending
 * promise.
 */
export function tellDownloaded(files: readonly Downloaded[], isSandbox: boolean): void {
  const doubtful = files.filter((file) => doubtOf(file) !== undefined);
  for (const file of doubtful) tellFile(showWarning, withSandboxNote(doubtOf(file) ?? '', isSandbox), file);
  const others = files.filter((file) => !doubtful.includes(file));
  const file = others.find(({ artifactType }) => artifactType === 'model') ?? others[0];
  if (file !== undefined)
    tellFile(showInformation, withSandboxNote(downloadedSentence(others, file), isSandbox), file);
}

function tellFile(show: typeof showInformation, sentence: string, file: Downloaded): void {
  const uri = vscode.Uri.file(file.path);
  const reveal = revealOf(uri);
  const inspect = vscode.l10n.t('Inspect');
  // A web page has nothing to inspect.
  const buttons = file.verified === 'html' ? [reveal.title] : [inspect, reveal.title];
  void show(sentence, ...buttons).then((choice) => {
    if (choice === inspect) void vscode.commands.executeCommand(COMMANDS.inspectAdapter, uri);
    if (choice === reveal.title) reveal.show();
  });
}

/** What is said of a file that was kept though it could not be read as what it should be; undefined for others. */
function doubtOf({ path: file, artifactType, verified }: Downloaded): string | undefined {
  if (artifactType !== 'model' && verified !== 'damaged') return undefined;
  const { l10n } = vscode;
  const name = strangerText(path.basename(file), 120);
  const place = strangerText(file, 400);
  switch (verified) {
    case 'damaged':
      return l10n.t('{0} was downloaded, but its archive looks damaged. It was kept as {1}.', name, place);
    case 'html':
      return l10n.t('{0} is a web page, not an adapter. It was kept as {1}.', name, place);
    case 'length':
      return l10n.t('{0} is not a known kind of archive or adapter file. It was kept as {1}.', name, place);
    default:
      return undefined;
  }
}

function downloadedSentence(files: readonly Downloaded[], file: Downloaded): string {
  const { l10n } = vscode;
  const folder = strangerText(path.dirname(file.path), 400);
  if (files.length > 1) return l10n.t('Downloaded {0} files to {1}.', files.length, folder);
  const name = strangerText(path.basename(file.path), 120);
  switch (file.verified) {
    case 'length':
      return l10n.t('Downloaded {0} to {1}. Only its size could be verified.', name, folder);
    case 'unread':
      return l10n.t('Downloaded {0} to {1}. Its contents couldn’t be checked.', name, folder);
    default:
      return l10n.t('Downloaded {0} to {1}.', name, folder);
  }
}
