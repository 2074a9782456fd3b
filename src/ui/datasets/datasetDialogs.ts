import path from 'node:path';
import * as vscode from 'vscode';
import type { DatasetProblem } from '../../core/datasets/inspect.ts';
import { pick, type Choice } from '../shared/steps.ts';
import { showError, showWarning } from '../shared/notifications.ts';
import { formatCount } from '../shared/format.ts';

/**
 * Which file is meant: the menu's argument, else the file in the active tab, else one that the person picks. A file of
 * over 50 MiB is not synced to extensions: it has no `activeTextEditor`, but its tab has a URI.
 */
export async function chooseDataset(argument: unknown, selection: unknown): Promise<vscode.Uri | undefined> {
  const selected = (Array.isArray(selection) ? selection : []).filter((item) => item instanceof vscode.Uri);
  if (selected.length > 1) return pickOne(selected);
  if (argument instanceof vscode.Uri) return argument;
  return activeTabUri() ?? openDataset();
}

function activeTabUri(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const uri =
    input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom ? input.uri : undefined;
  if (uri === undefined) return undefined;
  const languageId = vscode.window.activeTextEditor?.document;
  const isJsonl = languageId?.uri.toString() === uri.toString() && languageId.languageId === 'jsonl';
  return isJsonl || /\.(jsonl|ndjson)$/i.test(uri.path) ? uri : undefined;
}

async function openDataset(): Promise<vscode.Uri | undefined> {
  const { l10n } = vscode;
  const chosen = await vscode.window.showOpenDialog({
    title: l10n.t('Choose a Dataset'),
    openLabel: l10n.t('Use as Dataset'),
    filters: { JSONL: ['jsonl', 'ndjson'], [l10n.t('All Files')]: ['*'] },
    canSelectMany: false,
  });
  return chosen?.[0];
}

async function pickOne(uris: readonly vscode.Uri[]): Promise<vscode.Uri | undefined> {
  const { l10n } = vscode;
  const items = uris.map((uri): Choice<vscode.Uri> => ({
    icon: 'file',
    label: path.posix.basename(uri.path),
    description: vscode.workspace.asRelativePath(uri),
    value: uri,
  }));
  const answer = await pick(
    { title: l10n.t('Submit a Dataset'), step: 1, totalSteps: 1 },
    { placeholder: l10n.t('A run trains on one file. Which one?'), items },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}

/**
 * Makes the disk hold what the editor shows: asks to save a file with unsaved changes, and where to save an untitled one.
 * @returns the saved file, or undefined when the person declined
 */
export async function saveIfNeeded(uri: vscode.Uri): Promise<vscode.Uri | undefined> {
  // The tab knows it even for files too big to be synced.
  const isDirty = vscode.window.tabGroups.all.some((group) =>
    group.tabs.some((tab) => tab.isDirty && isTabOf(tab, uri)),
  );
  if (uri.scheme === 'untitled') return vscode.workspace.save(uri);
  if (!isDirty) return uri;
  const { l10n } = vscode;
  const save = l10n.t('Save and Continue');
  const choice = await showWarning(
    l10n.t('{0} has unsaved changes.', path.posix.basename(uri.path)),
    { modal: true, detail: l10n.t('What is submitted is the file on disk.') },
    save,
  );
  return choice === save ? vscode.workspace.save(uri) : undefined;
}

function isTabOf(tab: vscode.Tab, uri: vscode.Uri): boolean {
  const { input } = tab;
  return (
    (input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom) &&
    input.uri.toString() === uri.toString()
  );
}

/** Says why a file cannot be submitted and what to do. */
export function refuseDataset(name: string, problem: DatasetProblem | 'not-on-disk', maxBytes: number): void {
  void showError(refusal(name, problem, maxBytes));
}

function refusal(name: string, problem: DatasetProblem | 'not-on-disk', maxBytes: number): string {
  const { l10n } = vscode;
  switch (problem) {
    case 'missing':
      return l10n.t('{0} does not exist any more. Nothing was submitted.', name);
    case 'folder':
      return l10n.t('{0} is a folder. Choose the JSONL file in it.', name);
    case 'not-a-file':
      return l10n.t('{0} is not a plain file. Choose a JSONL file.', name);
    case 'unreadable':
      return l10n.t('{0} cannot be read. Check its permissions.', name);
    case 'empty':
      return l10n.t('{0} is empty. A dataset has one JSON object on each line.', name);
    case 'too-large':
      return l10n.t(
        '{0} is larger than the service’s limit of 600 MB ({1} bytes at most). Split it or leave rows out.',
        name,
        formatCount(maxBytes),
      );
    case 'not-on-disk':
      return l10n.t(
        '{0} is not a file on the machine where extensions run. Save a copy of it there first.',
        name,
      );
  }
}
