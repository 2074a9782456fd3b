import { homedir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Services } from '../../services.ts';
import { COMMANDS, CONTEXT_KEYS } from '../shared/ids.ts';
import { inBackground } from '../shared/log.ts';
import { sampleWords } from './messages.ts';

const SAMPLE = 'sample-dataset.jsonl';

type ContextKey = (typeof CONTEXT_KEYS)[keyof typeof CONTEXT_KEYS];

/** Ticks the steps of the walkthrough by what is stored, now and as it changes. */
export async function startWalkthrough(services: Services): Promise<void> {
  const { accounts, context, disposables, downloads, journal, log, sessions } = services;
  const ticked = new Set<ContextKey>();
  const tick = (key: ContextKey, isTrue: boolean) => {
    if (!isTrue || ticked.has(key)) return;
    ticked.add(key);
    void vscode.commands.executeCommand('setContext', key, true);
  };
  const readAccounts = () => {
    for (const { kind } of accounts.accounts)
      tick(kind === 'sandbox' ? CONTEXT_KEYS.triedSandbox : CONTEXT_KEYS.signedIn, true);
  };
  const readReceipts = async () => {
    if (ticked.has(CONTEXT_KEYS.submitted)) return;
    const receipts = await journal.receipts();
    const isCharged = receipts.some(({ settled }) => settled.kind === 'charged');
    tick(CONTEXT_KEYS.submitted, isCharged);
    // Whatever was submitted was checked before.
    tick(CONTEXT_KEYS.checked, isCharged);
  };
  const readDownloads = (accountId: string) =>
    tick(CONTEXT_KEYS.downloaded, downloads.records(accountId).length > 0);
  disposables.add(accounts.onDidChange(readAccounts));
  disposables.add(journal.onDidChange(() => inBackground(log, readReceipts())));
  disposables.add(downloads.onDidChange(({ accountId }) => readDownloads(accountId)));
  readAccounts();
  if (sessions.active !== undefined) readDownloads(sessions.active.account.id);
  inBackground(log, readReceipts());
  // `npm start`
  if (process.env.FINE_TUNING_FIRST_RUN !== undefined) {
    await openSampleDataset(context);
    await openWalkthrough(context);
  }
}

export async function openWalkthrough({ extension }: Pick<vscode.ExtensionContext, 'extension'>) {
  await vscode.commands.executeCommand('workbench.action.openWalkthrough', `${extension.id}#start`, false);
}

/** Opens the user's copy of the sample, made at the first time in the workspace or where the user says, and checks it. */
export async function openSampleDataset({
  extensionUri,
}: Pick<vscode.ExtensionContext, 'extensionUri'>): Promise<void> {
  const sample = vscode.Uri.joinPath(extensionUri, 'media/walkthrough', SAMPLE);
  const folder = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file')?.uri;
  const inFolder = folder && copyUnlessThere(sample, vscode.Uri.joinPath(folder, SAMPLE));
  // The folder may be read-only.
  const file = (await inFolder?.catch(() => undefined)) ?? (await copyWhereChosen(sample));
  if (file === undefined) return;
  await vscode.window.showTextDocument(file, { preview: false });
  await vscode.commands.executeCommand(COMMANDS.checkDataset, file);
}

async function copyWhereChosen(sample: vscode.Uri): Promise<vscode.Uri | undefined> {
  const file = await vscode.window.showSaveDialog({
    title: sampleWords.title(),
    defaultUri: vscode.Uri.file(path.join(homedir(), SAMPLE)),
    filters: { JSONL: ['jsonl'] },
  });
  return file && copyUnlessThere(sample, file);
}

/** Never overwrites a file, which may be the copy of another time with the user's changes. */
async function copyUnlessThere(sample: vscode.Uri, file: vscode.Uri): Promise<vscode.Uri> {
  try {
    await vscode.workspace.fs.copy(sample, file, { overwrite: false });
  } catch (error) {
    if (!(error instanceof vscode.FileSystemError && error.code === 'FileExists')) throw error;
  }
  return file;
}
