import * as vscode from 'vscode';
import type { CheckFailure } from '../../core/datasets/errors.ts';
import type { Summary } from '../../core/datasets/summary.ts';
import {
  checkWords,
  confirmProblems,
  confirmUnchecked,
  stopAtProblems,
  stopWithoutVerdict,
} from '../datasets/checkDialogs.ts';
import { COMMANDS } from '../shared/ids.ts';
import { withLateProgress } from '../shared/lateProgress.ts';

/**
 * Lets a dataset pass to the steps of a submission once it was checked: what is sound at once, what has errors or secrets
 * only when a person says so twice.
 * @returns what was found, or undefined when the submission ends here
 * @throws CancelledError
 */
export async function passGate(
  uri: vscode.Uri,
  accountName: string,
  check: (signal: AbortSignal, onProgress: (fraction: number) => void) => Promise<Summary | CheckFailure>,
): Promise<Summary | 'unchecked' | undefined> {
  const name = uri.path.slice(uri.path.lastIndexOf('/') + 1);
  for (;;) {
    const found = await withLateProgress(checkWords.checking(name), check);
    if (typeof found !== 'string') {
      return found.verdict !== 'errors' || (await goOn(uri, name, found, accountName)) ? found : undefined;
    }
    const first = await stopWithoutVerdict(name, found);
    const choice = first === 'unchecked' ? await confirmUnchecked(name, accountName) : first;
    if (choice !== 'again') return choice;
  }
}

async function goOn(uri: vscode.Uri, name: string, found: Summary, accountName: string): Promise<boolean> {
  const first = await stopAtProblems(uri, found);
  const choice = first === 'submit' ? await confirmProblems(name, found, accountName) : first;
  if (choice === 'submit') return true;
  if (choice === 'problems') await vscode.commands.executeCommand(COMMANDS.showDatasetProblems, uri);
  if (choice === 'lines') await vscode.commands.executeCommand(COMMANDS.writeArrayAsLines, uri);
  return false;
}
