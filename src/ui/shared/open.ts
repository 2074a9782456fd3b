import { commands, env, l10n, UIKind, Uri, window, workspace } from 'vscode';
import { websiteOf, type Account } from '../../core/accounts/account.ts';
import { isOpenableUrl } from '../../core/api/address.ts';
import { showWarning } from './notifications.ts';
import { TERMS } from './terms.ts';

/** A button that shows a file on the extension host's machine, with its action. */
export interface Reveal {
  title: string;
  show: () => void;
}

/** In the Explorer if the file is in the workspace, else in the file manager; remotely or in a browser, copies the path. */
export function revealOf(file: Uri): Reveal {
  const isInWorkspace = workspace.getWorkspaceFolder(file) !== undefined;
  const isHere = env.uiKind === UIKind.Desktop && env.remoteName === undefined;
  const [title, command] = isInWorkspace
    ? [l10n.t('Reveal in Explorer View'), 'revealInExplorer']
    : isHere
      ? [fileManagerTitle(), 'revealFileInOS']
      : [TERMS.copyPath, 'copyFilePath'];
  return { title, show: () => void commands.executeCommand(command, file) };
}

/** VS Code's names of the command. */
function fileManagerTitle(): string {
  if (process.platform === 'darwin') return l10n.t('Reveal in Finder');
  return process.platform === 'win32' ? l10n.t('Reveal in File Explorer') : l10n.t('Open Containing Folder');
}

/** Lets the user choose a folder on the machine that the extension runs on. @returns its path; undefined when canceled */
export async function chooseFolder(
  title: string,
  openLabel: string,
  start?: Uri,
): Promise<string | undefined> {
  const chosen = await window.showOpenDialog({
    title,
    openLabel,
    canSelectFiles: false,
    canSelectFolders: true,
    ...(start !== undefined && { defaultUri: start }),
  });
  const [folder] = chosen ?? [];
  if (folder === undefined || folder.scheme === 'file') return folder?.fsPath;
  void showWarning(l10n.t('Choose a folder on a local disk.'));
  return undefined;
}

/** Opens an https link from the service or the user; returns whether it was opened. */
export async function openServiceLink(url: string): Promise<boolean> {
  // Open the URL as it was checked: VS Code may parse another host from the same text.
  return isOpenableUrl(url) && env.openExternal(Uri.parse(new URL(url).href, true));
}

/** Returns a link to the website that the user entered for an account; undefined without one. */
export function websiteLink(
  account: Account | undefined,
): { title: string; website: string; open: () => void } | undefined {
  const website = account && websiteOf(account);
  if (website === undefined) return undefined;
  return { title: l10n.t('Open Website'), website, open: () => void openServiceLink(website) };
}
