import * as vscode from 'vscode';
import { showWarning } from './notifications.ts';

/** The file of lists and downloads was damaged. */
export function reportStateSetAside(file: string): void {
  void showWarning(
    vscode.l10n.t(
      'The stored run lists and download history were damaged and moved to {0}. Runs will be loaded again; downloaded files are not affected.',
      file,
    ),
  );
}
