import { commands, env, l10n, UIKind, Uri, workspace } from 'vscode';
import { isOpenableUrl } from '../../core/api/address.ts';
import { showInformation } from './notifications.ts';
import { TERMS } from './termMessages.ts';

/** A button that shows a file on the extension host's machine, and what it does. */
export interface Reveal {
  title: string;
  show(): void;
}

/** In the Explorer where the file is in the workspace, else in the system's file manager; in a browser or remotely its path. */
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

/** As VS Code calls it. */
function fileManagerTitle(): string {
  if (process.platform === 'darwin') return l10n.t('Reveal in Finder');
  return process.platform === 'win32' ? l10n.t('Reveal in File Explorer') : l10n.t('Open Containing Folder');
}

/** Opens a link that the service returned or the user entered, if it is an https address; says whether it did. */
export async function openServiceLink(url: string): Promise<boolean> {
  // As it was judged: VS Code may read another host from the same text.
  return isOpenableUrl(url) && env.openExternal(Uri.parse(new URL(url).href, true));
}

export function notifyNoLink(): void {
  void showInformation(l10n.t('The service didn’t provide an https link for this.'));
}
