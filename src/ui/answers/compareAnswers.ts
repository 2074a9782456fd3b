import { stat } from 'node:fs/promises';
import { l10n, Uri } from 'vscode';
import { filesOf } from '../shared/arguments.ts';
import { chooseDataset, datasetName, offerFiles } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import { notOnDisk } from '../shared/datasetTexts.ts';
import { showError } from '../shared/notifications.ts';

/** Opens the page of a file, or of two. */
type Show = (file: string, other?: string) => Promise<void>;

/** Compares the answers in a file: the menu's, the active tab's, or a picked one. Called as `(uri?)`. */
export async function compareAnswers(show: Show, argument?: unknown): Promise<CommandResult> {
  const uri = await chooseDataset(argument, undefined, 'answers');
  if (uri === undefined) return { outcome: 'cancelled' };
  if (uri.scheme !== 'file') return refused(notOnDisk(datasetName(uri)));
  await show(uri.fsPath);
  return { outcome: 'done' };
}

/**
 * Compares the adapters of two files of answers. Called as `(uri?, other?)`, or by the Explorer with two selected
 * files; then the older one is first. Asks for missing files.
 */
export async function compareTwoAnswers(
  show: Show,
  argument?: unknown,
  second?: unknown,
): Promise<CommandResult> {
  const selected = filesOf(argument, second);
  const isSelected = selected.length === 2;
  const one = isSelected ? selected[0] : await chooseDataset(argument, second, 'answers');
  if (one === undefined) return { outcome: 'cancelled' };
  const given = isSelected ? selected[1] : second instanceof Uri ? second : undefined;
  const other = given ?? (await offerFiles('answers', one.fsPath));
  if (other === undefined) return { outcome: 'cancelled' };
  for (const uri of [one, other]) if (uri.scheme !== 'file') return refused(notOnDisk(datasetName(uri)));
  const find = ({ fsPath }: Uri) => stat(fsPath, { bigint: true }).catch(() => undefined);
  const [mine, theirs] = [await find(one), await find(other)];
  // Finds links and other names of the same file, too.
  const isSame = mine !== undefined && mine.dev === theirs?.dev && mine.ino === theirs.ino;
  if (isSame || one.fsPath === other.fsPath)
    return refused(l10n.t('This is the same file. Choose a different one.'));
  const isNewer = isSelected && mine !== undefined && theirs !== undefined && mine.mtimeNs > theirs.mtimeNs;
  await (isNewer ? show(other.fsPath, one.fsPath) : show(one.fsPath, other.fsPath));
  return { outcome: 'done' };
}

function refused(sentence: string): CommandResult {
  void showError(sentence);
  return { outcome: 'failed' };
}
