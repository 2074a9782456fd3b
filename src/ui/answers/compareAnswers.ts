import { chooseDataset, datasetName } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import { notOnDisk } from '../shared/datasetTexts.ts';
import { showError } from '../shared/notifications.ts';

/**
 * Compares the answers in a file: the menu's, the active tab's, or a picked one. Called as `(uri?)`.
 * @param show opens the page of a file
 */
export async function compareAnswers(
  show: (file: string) => Promise<void>,
  argument?: unknown,
): Promise<CommandResult> {
  const uri = await chooseDataset(argument, undefined, 'answers');
  if (uri === undefined) return { outcome: 'cancelled' };
  if (uri.scheme !== 'file') {
    void showError(notOnDisk(datasetName(uri)));
    return { outcome: 'failed' };
  }
  await show(uri.fsPath);
  return { outcome: 'done' };
}
