import * as vscode from 'vscode';
import { showWarning } from './notifications.ts';

/** The file of lists and downloads was damaged. */
export function reportStateSetAside(file: string): void {
  void showWarning(
    vscode.l10n.t(
      'The stored lists of runs and downloads were damaged and moved to {0}. They will be loaded again.',
      file,
    ),
  );
}
