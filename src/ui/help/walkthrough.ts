import { homedir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { isCharged } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import type { CommandResult } from '../shared/commands.ts';
import { COMMANDS, CONTEXT_KEYS } from '../shared/ids.ts';
import { inBackground } from '../shared/log.ts';

const SAMPLE = 'sample-dataset.jsonl';

type ContextKey = (typeof CONTEXT_KEYS)[keyof typeof CONTEXT_KEYS];

/** The key that stores whether the user has checked a dataset, since reports are not stored. */
const CHECKED = 'checked';
/** When to tick again after a page such as the walkthrough was opened: VS Code may need 5 seconds to load the steps. */
const KNOWN_AFTER_MS = [500, 2_000, 6_000] as const;

/**
 * Ticks the steps of the walkthrough by what is stored, now and after changes. VS Code ticks a step only if
 * its key becomes true after the step was loaded. So keys become true repeatedly, and are false in between.
 */
export function startWalkthrough(services: Services): void {
  const { accounts, checked, context, disposables, journal, log } = services;
  const done = new Set<ContextKey>();
  const turnTrue = async (key: ContextKey) => {
    if (disposables.disposed) return;
    await vscode.commands.executeCommand('setContext', key, true);
    await vscode.commands.executeCommand('setContext', key, false);
  };
  const tick = (key: ContextKey) => {
    if (!done.has(key)) inBackground(log, turnTrue(key));
    done.add(key);
  };
  const tickAgain = () => {
    for (const ms of KNOWN_AFTER_MS)
      setTimeout(() => {
        for (const key of done) inBackground(log, turnTrue(key));
      }, ms).unref();
  };
  const readAccounts = () => {
    if (accounts.accounts.some(({ kind }) => kind === 'sandbox')) tick(CONTEXT_KEYS.triedSandbox);
  };
  const readReceipts = async () => {
    if (done.has(CONTEXT_KEYS.submitted)) return;
    const receipts = await journal.receipts();
    if (!receipts.some(isCharged)) return;
    tick(CONTEXT_KEYS.submitted);
    // Every submission begins with a check.
    tick(CONTEXT_KEYS.checked);
  };
  disposables.add(accounts.onDidChange(readAccounts));
  disposables.add(
    checked.event(() => {
      tick(CONTEXT_KEYS.checked);
      inBackground(log, Promise.resolve(context.globalState.update(CHECKED, true)));
    }),
  );
  disposables.add(journal.onDidChange(() => inBackground(log, readReceipts())));
  disposables.add(
    vscode.window.tabGroups.onDidChangeTabs(({ opened }) => {
      // A tab without an input is one of VS Code's pages.
      if (opened.some(({ input }) => input === undefined)) tickAgain();
    }),
  );
  readAccounts();
  if (context.globalState.get(CHECKED) === true) tick(CONTEXT_KEYS.checked);
  inBackground(log, readReceipts());
  tickAgain();
}

export async function openWalkthrough({ extension }: Pick<vscode.ExtensionContext, 'extension'>) {
  await vscode.commands.executeCommand('workbench.action.openWalkthrough', `${extension.id}#start`, false);
}

/** Opens and checks the user's copy of the sample, which is created in the workspace or where the user chooses. */
export async function openSampleDataset({
  extensionUri,
}: Pick<vscode.ExtensionContext, 'extensionUri'>): Promise<CommandResult> {
  const sample = vscode.Uri.joinPath(extensionUri, 'media/walkthrough', SAMPLE);
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file')?.uri;
  const inFolder = folder && copyUnlessThere(sample, vscode.Uri.joinPath(folder, SAMPLE));
  // The folder may be read-only.
  const file = (await inFolder?.catch(() => undefined)) ?? (await copyWhereChosen(sample));
  if (file === undefined) return { outcome: 'cancelled' };
  await vscode.window.showTextDocument(file, { preview: false });
  return vscode.commands.executeCommand<CommandResult>(COMMANDS.checkDataset, file);
}

async function copyWhereChosen(sample: vscode.Uri): Promise<vscode.Uri | undefined> {
  const file = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Save the Sample Dataset'),
    defaultUri: vscode.Uri.file(path.join(homedir(), SAMPLE)),
    filters: { JSONL: ['jsonl'] },
  });
  return file && copyUnlessThere(sample, file);
}

/** Never overwrites a file, which may be an earlier copy with the user's changes. */
async function copyUnlessThere(sample: vscode.Uri, file: vscode.Uri): Promise<vscode.Uri> {
  try {
    await vscode.workspace.fs.copy(sample, file, { overwrite: false });
  } catch (error) {
    if (!(error instanceof vscode.FileSystemError && error.code === 'FileExists')) throw error;
  }
  return file;
}
