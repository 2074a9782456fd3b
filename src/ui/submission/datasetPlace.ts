import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';

/** Where a dataset really is: relative to the workspace if it is inside, else absolute. */
export interface DatasetPlace {
  file: string;
  folder: string;
  /** Whether the dataset is a link to a file of another name. */
  isLink: boolean;
}

/** Resolves links, which could make two datasets look the same. Never rejects. */
export async function placeOf(file: string): Promise<DatasetPlace> {
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
