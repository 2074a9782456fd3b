import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { DatasetSize } from '../../core/money/estimate.ts';
import { compact, formatBytes, formatRows } from '../shared/format.ts';

/** Where a dataset really is: relative to the workspace if it is inside, else absolute. */
export interface DatasetLocation {
  file: string;
  folder: string;
  /** Whether the dataset is a link to a file of another name. */
  isLink: boolean;
}

/** The longest folder that the final question shows uncut. */
export const MAX_FOLDER_UNITS = 44;

/** Whether the final question cuts the folder, so that the summary shows it in a row of its own. */
export function isLongFolder({ folder }: DatasetLocation): boolean {
  return folder.length > MAX_FOLDER_UNITS;
}

/** The size of a dataset, as the summary, the final question and the dialog of an open submission show it. */
export function sizeFacts({ bytes, rows }: DatasetSize): string[] {
  return compact(formatBytes(bytes), rows !== undefined && formatRows(rows));
}

/** Resolves links, which could make two datasets look the same. Never rejects. */
export async function datasetPlaceOf(file: string): Promise<DatasetLocation> {
  const resolve = (name: string) => realpath(name).catch(() => name);
  const real = await resolve(file);
  const [root, ...others] = vscode.workspace.workspaceFolders ?? [];
  // Two folders of a workspace may have the same name.
  const base = root === undefined || others.length > 0 ? undefined : await resolve(root.uri.fsPath);
  const shown = (name: string) => {
    const inside = base === undefined ? '' : path.relative(base, name);
    const isOutside = inside === '' || inside.split(path.sep)[0] === '..' || path.isAbsolute(inside);
    return isOutside ? name : inside;
  };
  const isLink = await lstat(file).then(
    (stats) => stats.isSymbolicLink() && path.basename(real) !== path.basename(file),
    () => false,
  );
  return { file: shown(real), folder: shown(path.dirname(real)), isLink };
}
