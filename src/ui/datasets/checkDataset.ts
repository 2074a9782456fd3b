import path from 'node:path';
import * as vscode from 'vscode';
import { MAX_DATASET_BYTES } from '../../core/api/types.ts';
import { inspectDataset } from '../../core/datasets/inspect.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { summaryOrFailure, type Summary } from '../../core/datasets/summary.ts';
import { checkWords, tellCheckFailed, tellVerdict, tellVerdicts } from './checkDialogs.ts';
import { chooseDataset, refuseDataset } from './datasetDialogs.ts';
import { COMMANDS } from '../shared/ids.ts';
import { withLateProgress } from '../shared/lateProgress.ts';
import type { Log } from '../shared/log.ts';
import { canShowProblems, openDocument } from './syncedDocuments.ts';

/**
 * Checks one dataset, or each of those selected in the explorer, as they stand on disk, and tells the verdict. Called as
 * `(uri?, uris?)` from menus.
 * @throws CancelledError
 */
export function checkDataset(reports: Reports, log: Log) {
  return async (argument?: unknown, selection?: unknown): Promise<void> => {
    const selected = (Array.isArray(selection) ? selection : []).filter((item) => item instanceof vscode.Uri);
    if (selected.length > 1) {
      await checkSeveral(reports, selected, log);
      return;
    }
    const uri = await chooseDataset(argument, undefined);
    if (uri === undefined || !(await isCheckable(uri))) return;
    const name = path.posix.basename(uri.path);
    const found = await withLateProgress(checkWords.checking(name), (signal, tell) =>
      summaryOrFailure(reports.check(uri.fsPath, signal, tell), (error) => log.error('not-checked', error)),
    );
    if (typeof found === 'string')
      tellCheckFailed(name, found, () => {
        void vscode.commands.executeCommand(COMMANDS.checkDataset, uri);
      });
    else {
      const isDirty = openDocument(uri.fsPath)?.isDirty === true;
      tellVerdict(uri, found, canShowProblems(uri.fsPath, found.sizeBytes), isDirty);
    }
  };
}

/** Says what keeps a file from being checked. */
async function isCheckable(uri: vscode.Uri): Promise<boolean> {
  const problem = uri.scheme === 'file' ? await inspectDataset(uri.fsPath, MAX_DATASET_BYTES) : 'not-on-disk';
  if (typeof problem !== 'string') return true;
  const name = path.posix.basename(uri.path);
  if (problem === 'missing') tellCheckFailed(name, problem);
  else refuseDataset(name, problem, MAX_DATASET_BYTES);
  return false;
}

async function checkSeveral(reports: Reports, uris: readonly vscode.Uri[], log: Log): Promise<void> {
  const summaries: Summary[] = [];
  let failed = 0;
  await withLateProgress(checkWords.checkingSeveral(uris.length), async (signal, tell) => {
    for (const [index, uri] of uris.entries()) {
      if (!(await isCheckable(uri))) continue;
      const check = reports.check(uri.fsPath, signal, (fraction) => tell((index + fraction) / uris.length));
      const found = await summaryOrFailure(check, (error) => log.error('not-checked', error));
      if (typeof found === 'string') failed += 1;
      else summaries.push(found);
    }
  });
  tellVerdicts(summaries, failed);
}
