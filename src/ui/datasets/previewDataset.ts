import * as vscode from 'vscode';
import { rowOfLine, RowFile } from '../../core/datasets/rowFile.ts';
import { chooseDataset, selectedUris } from '../shared/prepareDataset.ts';

/**
 * Previews a dataset, or several selected ones. Called as `(uri?, uris?)` from menus, and with `{ row }` as the third
 * argument by whoever wants a row; from a text editor with the file it goes to the row of the cursor.
 * @param preview opens a preview
 */
export function previewDataset(preview: (uri: vscode.Uri, row: number | undefined) => Promise<void>) {
  return async (argument?: unknown, selection?: unknown, options?: unknown): Promise<void> => {
    const selected = selectedUris(selection);
    if (selected.length > 1) {
      for (const uri of selected) await preview(uri, undefined);
      return;
    }
    // Looked at before a dialog takes the focus.
    const editor = vscode.window.activeTextEditor;
    const uri = await chooseDataset(argument);
    if (uri !== undefined) await preview(uri, rowIn(options) ?? (await rowOfCursor(editor, uri)));
  };
}

/** Commands can be called by anybody with anything. */
function rowIn(options: unknown): number | undefined {
  if (typeof options !== 'object' || options === null) return undefined;
  const { row } = options as Record<string, unknown>;
  return typeof row === 'number' && Number.isSafeInteger(row) && row >= 1 ? row : undefined;
}

/** The row of the cursor, which counts editor lines; undefined where nobody has moved it. */
async function rowOfCursor(
  editor: vscode.TextEditor | undefined,
  uri: vscode.Uri,
): Promise<number | undefined> {
  const line = editor?.selection.active.line;
  if (line === undefined || line === 0 || uri.scheme !== 'file') return undefined;
  if (editor?.document.uri.toString() !== uri.toString()) return undefined;
  let file: RowFile | undefined;
  try {
    file = await RowFile.open(uri.fsPath);
    return await rowOfLine(file, line + 1);
  } catch {
    // The preview itself says what is wrong with the file.
    return undefined;
  } finally {
    file?.dispose();
  }
}
