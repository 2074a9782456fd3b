import { lstat, open, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { Uri, workspace } from 'vscode';
import { isAnswersFile } from '../../core/answers/answersFile.ts';
import { MAX_DATASET_BYTES } from '../../core/api/types.ts';
import { isSameStamp, stampOf, type FileStamp } from '../../core/base/fileStamp.ts';
import { inspectDataset, type DatasetFile, type DatasetProblem } from '../../core/datasets/fileKind.ts';
import { tabsOf } from '../shared/tabs.ts';
import { Refusal } from './answer.ts';

/** A file or folder inside the workspace. */
export interface WorkspacePath {
  /** The real path. */
  file: string;
  /** The path as the folder was opened; editors use this one. */
  opened: string;
  /** Relative to the workspace's only folder, else absolute. Agents can pass it to a tool. */
  shown: string;
  /** Whether an editor has unsaved changes to it. */
  isDirty: boolean;
}

const OUTSIDE =
  'There is no such file inside a folder that is open in VS Code. Nothing was read. Don’t copy or link files to get around this; ask the user.';

const AMBIGUOUS =
  'Several open folders have a file with this path. Nothing was read. Pass its absolute path; ask the user which one is meant.';

/**
 * Resolves a path inside an open, trusted folder. Reveals nothing about any other path.
 * @param given absolute, or relative to an open folder
 * @throws Refusal
 */
export async function insideWorkspace(given: string): Promise<WorkspacePath> {
  const folders = openFolders();
  const roots = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
  const places = new Map<string, WorkspacePath>();
  for (const [index, folder] of folders.entries()) {
    const file = path.resolve(folder, given);
    // A path elsewhere isn't even looked up: on Windows, that could send credentials to a server.
    if (![folder, roots[index] ?? folder].some((root) => isInside(root, file))) continue;
    const found = await realpath(file).catch(() => undefined);
    const shown = found && shownIn(roots, found);
    if (found === undefined || shown === undefined) continue;
    const root = roots.findIndex((one) => isInside(one, found));
    const opened = path.join(folders[root] ?? '', path.relative(roots[root] ?? '', found));
    places.set(found, { file: found, opened, shown, isDirty: [file, opened, found].some(isDirty) });
  }
  const [place, ...others] = places.values();
  if (others.length > 0) throw new Refusal(AMBIGUOUS);
  if (place === undefined) throw new Refusal(OUTSIDE);
  return place;
}

/** Returns an adapter inside the workspace: a file, or a folder without links to outside. @throws Refusal */
export async function adapterInWorkspace(given: string): Promise<WorkspacePath> {
  const place = await insideWorkspace(given);
  const found = await stat(place.file).catch(() => undefined);
  if (found?.isDirectory() === true) {
    const entries = await readdir(place.file, { withFileTypes: true });
    for (const entry of entries)
      if (entry.isSymbolicLink()) await insideWorkspace(path.join(place.file, entry.name));
  } else if (found?.isFile() !== true) throw new Refusal(NOT_A_DATASET['not-a-file']);
  return place;
}

/** Returns the path of a file as agents see it; undefined outside of the workspace. Never rejects. */
export async function shownPath(file: string): Promise<string | undefined> {
  const folders = workspace.isTrusted ? localFolders() : [];
  const roots = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
  return shownIn(roots, await realpath(file).catch(() => file));
}

/** A dataset inside the workspace. A reader must compare its stamp: a link may replace it at any time. */
export type InsideDataset = WorkspacePath & { stamp: DatasetFile };

/** Returns a dataset inside the workspace. @throws Refusal */
export async function datasetInWorkspace(given: string): Promise<InsideDataset> {
  const dataset = await fileInWorkspace(given);
  if (await isAnswersFile(dataset.file)) throw new Refusal(ANSWERS);
  return dataset;
}

/** Returns the file of a hold-out, as it is inside the workspace; undefined if it isn't there. */
export async function holdOutInWorkspace(given: string): Promise<DatasetFile | undefined> {
  try {
    return (await fileInWorkspace(given)).stamp;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

async function fileInWorkspace(given: string): Promise<InsideDataset> {
  const place = await insideWorkspace(given);
  const stamp = await inspectDataset(place.file, MAX_DATASET_BYTES);
  if (typeof stamp === 'string') throw new Refusal(NOT_A_DATASET[stamp]);
  if (!(await isAt(place.file, stamp))) throw new Refusal(OUTSIDE);
  return { ...place, stamp };
}

/** Returns a dataset inside the workspace without unsaved changes, for tools that write or ask something. @throws Refusal */
export async function savedDataset(given: string): Promise<InsideDataset> {
  const dataset = await datasetInWorkspace(given);
  if (dataset.isDirty) throw new Refusal(UNSAVED);
  return dataset;
}

/** Whether a stamp belongs to the file itself: a link may have replaced it after its path was resolved. */
async function isAt(file: string, stamp: FileStamp): Promise<boolean> {
  const handle = await open(file, 'r').catch(() => undefined);
  try {
    const opened = await handle?.stat({ bigint: true });
    const found = await lstat(file, { bigint: true });
    const isSame = opened !== undefined && opened.ino === found.ino && opened.dev === found.dev;
    return isSame && (await realpath(file)) === file && isSameStamp(stampOf(opened), stamp);
  } catch {
    return false;
  } finally {
    await handle?.close();
  }
}

function isDirty(file: string): boolean {
  return tabsOf(Uri.file(file)).some((tab) => tab.isDirty);
}

const NOT_A_DATASET: Readonly<Record<DatasetProblem, string>> = {
  missing: OUTSIDE,
  folder: 'This is a folder, not a file. Pass the path of one file.',
  'not-a-file': 'This isn’t a regular file. Don’t pass it again.',
  unreadable: 'The file can’t be read. Don’t change its permissions; ask the user.',
  empty: 'The file is empty. Don’t submit it.',
  'too-large': 'The file is larger than 600 MB, the service’s limit. Don’t split it without asking the user.',
};

export const UNSAVED =
  'An editor has changes that aren’t on the disk. They weren’t read; ask the user to save.';

const ANSWERS =
  'The file has answers from two models to compare. It isn’t a dataset: don’t check, change, or submit it. The user can run "Compare Answers" on it.';

function openFolders(): string[] {
  if (!workspace.isTrusted)
    throw new Refusal(
      'The user doesn’t trust this workspace. Nothing was read or written. Don’t try other paths; ask the user.',
    );
  const folders = localFolders();
  if (folders.length === 0)
    throw new Refusal('No folder is open. Ask the user to open the dataset’s folder.');
  return folders;
}

function localFolders(): string[] {
  return (workspace.workspaceFolders ?? []).flatMap(({ uri }) => (uri.scheme === 'file' ? [uri.fsPath] : []));
}

function shownIn(roots: readonly string[], file: string): string | undefined {
  const root = roots.find((one) => isInside(one, file));
  if (root === undefined) return undefined;
  // In a workspace of several folders, a relative path could mean two files.
  return roots.length > 1 ? file : path.relative(root, file) || '.';
}

function isInside(folder: string, file: string): boolean {
  const inside = path.relative(folder, file);
  return !path.isAbsolute(inside) && inside.split(path.sep)[0] !== '..';
}
