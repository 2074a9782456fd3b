import * as vscode from 'vscode';

/** How a file on the extension host's machine can be shown to the person: a button's title, and what it does. */
interface Reveal {
  title: string;
  show(): void;
}

/** The explorer where the file is in the workspace, else the system's own, else, in a browser or on a remote machine, its path. */
export function revealOf(file: vscode.Uri): Reveal {
  const { l10n } = vscode;
  if (vscode.workspace.getWorkspaceFolder(file) !== undefined)
    return {
      title: l10n.t('Show in Explorer'),
      show: () => void vscode.commands.executeCommand('revealInExplorer', file),
    };
  const isHere = vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined;
  return isHere
    ? {
        title: l10n.t('Show in Folder'),
        show: () => void vscode.commands.executeCommand('revealFileInOS', file),
      }
    : {
        title: l10n.t('Copy Path'),
        show: () => void vscode.env.clipboard.writeText(file.fsPath),
      };
}
