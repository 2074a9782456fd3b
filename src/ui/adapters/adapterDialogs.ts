import path from 'node:path';
import * as vscode from 'vscode';
import { COMMANDS } from '../shared/ids.ts';
import { pick, type Choice } from '../shared/steps.ts';
import { showError, showInformation } from '../shared/notifications.ts';

/** An adapter that was downloaded. */
export interface AdapterChoice {
  file: string;
  description: string;
}

/** Asks for an adapter: one that was downloaded, or a file or folder of the disk. @returns undefined when given up */
export async function chooseAdapter(downloaded: readonly AdapterChoice[]): Promise<string | undefined> {
  const { l10n } = vscode;
  const items: Choice<'file' | 'folder' | { file: string }>[] = [
    {
      icon: 'file-zip',
      label: l10n.t('Choose a File…'),
      description: l10n.t('ZIP, tar, tar.gz or safetensors'),
      value: 'file',
    },
    {
      icon: 'folder',
      label: l10n.t('Choose a Folder…'),
      description: l10n.t('an unpacked adapter'),
      value: 'folder',
    },
    ...downloaded.map(({ file, description }) => ({
      icon: 'package',
      label: path.basename(file),
      description,
      detail: path.dirname(file),
      value: { file },
    })),
  ];
  const answer = await pick(
    { title: l10n.t('Inspect an Adapter'), step: 1, totalSteps: 1 },
    { placeholder: l10n.t('Which adapter?'), items },
  );
  if (answer.kind !== 'value') return undefined;
  return typeof answer.value === 'object' ? answer.value.file : openAdapter(answer.value);
}

async function openAdapter(kind: 'file' | 'folder'): Promise<string | undefined> {
  const { l10n } = vscode;
  const chosen = await vscode.window.showOpenDialog({
    title: kind === 'file' ? l10n.t('Choose an Adapter') : l10n.t('Choose the Folder of an Adapter'),
    openLabel: l10n.t('Inspect'),
    canSelectFiles: kind === 'file',
    canSelectFolders: kind === 'folder',
    canSelectMany: false,
    ...(kind === 'file'
      ? {
          filters: {
            [l10n.t('Adapters')]: ['zip', 'safetensors', 'tar', 'tgz', 'gz'],
            [l10n.t('All Files')]: ['*'],
          },
        }
      : {}),
  });
  return chosen?.[0]?.fsPath;
}

/** Asks for the folder in which an archive is to be unpacked, into one of its own. */
export async function chooseUnpackFolder(archive: string): Promise<string | undefined> {
  const { l10n } = vscode;
  const chosen = await vscode.window.showOpenDialog({
    title: l10n.t('Choose a Folder to Unpack Into'),
    openLabel: l10n.t('Unpack Here'),
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: false,
    defaultUri: vscode.Uri.file(path.dirname(archive)),
  });
  return chosen?.[0]?.fsPath;
}

/** Says that a run's adapter is not on this disk, and offers to download it where the service has it. */
export function tellNotDownloaded(runId: string, why: 'never' | 'not-yet' | { gone: string }): void {
  const { l10n } = vscode;
  if (why === 'not-yet') {
    void showInformation(
      l10n.t(
        'This run has no adapter to inspect: it has not finished, or the service does not keep it any more.',
      ),
    );
    return;
  }
  const download = l10n.t('Download Adapter…');
  const text =
    why === 'never'
      ? l10n.t('The adapter of this run has not been downloaded to this machine.')
      : l10n.t('The adapter of this run was downloaded to {0}, and is not there any more.', why.gone);
  // Not awaited: a toast that hides stays a pending promise.
  void showInformation(text, download).then((choice) => {
    if (choice === download) void vscode.commands.executeCommand(COMMANDS.downloadAdapter, runId);
  });
}

/** Says that a file is not where extensions run. */
export function tellAdapterNotOnDisk(name: string): void {
  void showError(
    vscode.l10n.t(
      '{0} is not a file on the machine where extensions run. Save a copy of it there first.',
      name,
    ),
  );
}
