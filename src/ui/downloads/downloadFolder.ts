import { access, constants, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { commands, l10n, workspace } from 'vscode';
import { DiskError, onDisk } from '../../core/base/diskError.ts';
import type { ArtifactName, Downloads } from '../../core/downloads/downloads.ts';
import { fileNameIn, runFolderName } from '../../core/downloads/downloadTarget.ts';
import { directoryOf } from '../../core/downloads/localFiles.ts';
import type { Session } from '../../core/runs/session.ts';
import { askModal, notify, showWarning } from '../shared/notifications.ts';
import { chooseFolder } from '../shared/open.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { setting } from '../shared/settings.ts';
import { TERMS } from '../shared/terms.ts';

/** Returns the folder to download to; undefined if the user canceled. */
export async function folderFor(
  { runs }: Session,
  runId: string,
): Promise<{ path: string; wasMade: boolean } | undefined> {
  const directory = directoryOf(setting('downloadDirectory'), homedir());
  if (directory.kind === 'unusable') reportUnusableFolder(directory.text);
  const choice = directory.kind === 'missing' ? await confirmDirectory(directory.path) : 'create';
  if (choice === undefined) return undefined;
  if (choice === 'create' && 'path' in directory) {
    const folder = path.join(directory.path, runFolderName(runs.label(runId), runId));
    try {
      const made = await onDisk(mkdir(folder, { recursive: true }));
      await onDisk(access(folder, constants.W_OK));
      return { path: folder, wasMade: made !== undefined };
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      reportUnusableFolder(directory.path, error);
    }
  }
  const title = l10n.t('Choose a Folder for the Adapter');
  const start = workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file')?.uri;
  const chosen = await chooseFolder(title, l10n.t('Download Here'), start);
  return chosen === undefined ? undefined : { path: chosen, wasMade: false };
}

/** Asks whether to create the missing download folder. `other`: the user chooses a folder this time. */
function confirmDirectory(directory: string): Promise<'create' | 'other' | undefined> {
  return askModal(
    showWarning,
    l10n.t('The download folder doesn’t exist.'),
    l10n.t('{0}\nThe drive may be disconnected.', directory),
    { [l10n.t('Create Folder')]: 'create', [TERMS.chooseFolder]: 'other' },
  );
}

/** Reports an unusable download folder. @param error undefined if the setting is not an absolute path to a folder */
function reportUnusableFolder(text: string, error?: DiskError): void {
  const name = sanitizeServiceText(text, 400);
  const sentence =
    error === undefined
      ? l10n.t('The download folder “{0}” isn’t an absolute path to a folder.', name)
      : l10n.t('Can’t use the download folder “{0}”. {1}', name, asText(explain(error)));
  const open = () => commands.executeCommand('workbench.action.openSettings', 'fineTuning.downloadDirectory');
  notify(showWarning, sentence, { [l10n.t('Open Setting')]: open });
}

/** Returns unused paths for the artifacts that the user doesn't skip. */
export async function freeTargets(
  downloads: Downloads,
  runId: string,
  artifacts: readonly ArtifactName[],
  folder: string,
): Promise<{ artifact: ArtifactName; target: string }[]> {
  const targets: { artifact: ArtifactName; target: string }[] = [];
  for (const artifact of artifacts) {
    const planned = targets.map(({ artifact: { type: artifactType, filename }, target }) => {
      return { runId, artifactType, filename, target };
    });
    const { name, other, isFile } = fileNameIn(folder, artifact, runId, [...downloads.active, ...planned]);
    if (other !== undefined && isFile && !(await confirmOtherName(name, other))) continue;
    targets.push({ artifact, target: path.join(folder, other ?? name) });
  }
  return targets;
}

/** Asks whether to download under another name, since an existing file is never replaced. */
async function confirmOtherName(name: string, otherName: string): Promise<boolean> {
  const question = l10n.t('{0} already exists in that folder.', name);
  const detail = l10n.t('The download will be saved as {0}.', otherName);
  return (await askModal(showWarning, question, detail, { [l10n.t('Keep Both')]: true })) === true;
}
