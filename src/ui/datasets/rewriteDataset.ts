import path from 'node:path';
import * as vscode from 'vscode';
import { NotJsonError, rewriteDataset, type Rewriting } from '../../core/datasets/rewrite.ts';
import { withLateProgress, showError, showInformation } from '../shared/notifications.ts';
import { chooseDataset } from '../shared/prepareDataset.ts';
import { rewriteMessages } from './messages.ts';

/**
 * Writes a changed copy of a dataset beside it and opens that. Called as `(uri?)`.
 * @throws CancelledError
 */
export async function rewriteDatasetBeside(rewriting: Rewriting, argument?: unknown): Promise<void> {
  const uri = await chooseDataset(argument);
  if (uri?.scheme !== 'file') return;
  const name = path.basename(uri.fsPath);
  let written: string;
  try {
    written = await withLateProgress(rewriteMessages.title(name), (signal, onProgress) =>
      rewriteDataset(uri.fsPath, rewriting, { signal, onProgress }),
    );
  } catch (error) {
    if (error instanceof NotJsonError) void showError(rewriteMessages.notJson(name));
    else if ((error as NodeJS.ErrnoException).errno !== undefined)
      void showError(rewriteMessages.notWritten(name));
    else throw error;
    return;
  }
  void showInformation(rewriteMessages.created(path.basename(written), name));
  // Whatever its size: VS Code asks before it shows an enormous one.
  await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(written));
}
