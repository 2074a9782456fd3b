import * as vscode from 'vscode';
import { isOpenableUrl } from '../../core/api/address.ts';
import { showInformation } from './notifications.ts';

/** A button that shows a file on the extension host's machine, and what it does. */
export interface Reveal {
  title: string;
  show(): void;
}

/** In the Explorer where the file is in the workspace, else in the system's file manager; in a browser or remotely its path. */
export function revealOf(file: vscode.Uri): Reveal {
  const { l10n } = vscode;
  const isInWorkspace = vscode.workspace.getWorkspaceFolder(file) !== undefined;
  const isHere = vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined;
  const [title, command] = isInWorkspace
    ? [l10n.t('Reveal in Explorer View'), 'revealInExplorer']
    : isHere
      ? [fileManagerTitle(), 'revealFileInOS']
      : [l10n.t('Copy Path'), 'copyFilePath'];
  return { title, show: () => void vscode.commands.executeCommand(command, file) };
}

/** As VS Code calls it. */
function fileManagerTitle(): string {
  const { l10n } = vscode;
  switch (process.platform) {
    case 'darwin':
      return l10n.t('Reveal in Finder');
    case 'win32':
      return l10n.t('Reveal in File Explorer');
    default:
      return l10n.t('Open Containing Folder');
  }
}

/** Opens a link that the service returned or the user entered, if it is an https address; says whether it did. */
export async function openServiceLink(url: string): Promise<boolean> {
  // As it was judged: VS Code may read another host from the same text.
  return isOpenableUrl(url) && vscode.env.openExternal(vscode.Uri.parse(new URL(url).href, true));
}

export function notifyNoLink(): void {
  void showInformation(vscode.l10n.t('The service didn’t provide an https link for this.'));
}
