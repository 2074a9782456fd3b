import path from 'node:path';
import * as vscode from 'vscode';
import { NotAnArrayError } from '../../core/datasets/arrayToLines.ts';
import { rewriteDataset, type Rewriting } from '../../core/datasets/rewrite.ts';
import { chooseDataset } from './datasetDialogs.ts';
import { withLateProgress } from '../shared/lateProgress.ts';
import { rewriteWords, tellNotRewritten, tellRewritten } from './fixMessages.ts';

/**
 * Writes a changed copy of a dataset beside it and opens that; the dataset stays as it is. Called as `(uri?)`.
 * @throws CancelledError
 */
export function rewriteDatasetBeside(rewriting: Rewriting) {
  return async (argument?: unknown): Promise<void> => {
    const uri = await chooseDataset(argument, undefined);
    if (uri?.scheme !== 'file') return;
    const name = path.basename(uri.fsPath);
    let written: string;
    try {
      written = await withLateProgress(rewriteWords.title(name), (signal, onProgress) =>
        rewriteDataset(uri.fsPath, rewriting, { signal, onProgress }),
      );
    } catch (error) {
      const code = error instanceof NotAnArrayError ? undefined : (error as NodeJS.ErrnoException).errno;
      if (code === undefined && !(error instanceof NotAnArrayError)) throw error;
      tellNotRewritten(name, error instanceof NotAnArrayError ? 'not-an-array' : 'file-system');
      return;
    }
    tellRewritten(path.basename(written), name);
    // Whatever its size: VS Code asks before it shows an enormous one.
    await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(written));
  };
}
