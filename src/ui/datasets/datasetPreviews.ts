import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { RowFile, rowOfLine } from '../../core/datasets/rowFile.ts';
import { EDITORS } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { chooseDataset, selectedUris } from '../shared/prepareDataset.ts';
import { isRecord } from '../shared/webview.ts';
import { PreviewDocument, type PreviewChecks } from './previewDocument.ts';
import { PreviewPanel } from './previewPanel.ts';

/** The read-only editor that previews datasets; it owns which of them are open. */
export class DatasetPreviews implements vscode.CustomReadonlyEditorProvider<PreviewDocument>, Disposable {
  readonly #extensionUri: vscode.Uri;
  readonly #checks: PreviewChecks;
  readonly #log: Log;
  readonly #panels = new Map<PreviewPanel, { uri: string; panel: vscode.WebviewPanel }>();
  /** The row at which a preview that is about to open begins, by its URI. */
  readonly #wantedRows = new Map<string, number>();

  constructor(extensionUri: vscode.Uri, checks: PreviewChecks, log: Log) {
    this.#extensionUri = extensionUri;
    this.#checks = checks;
    this.#log = log;
  }

  openCustomDocument(uri: vscode.Uri): PreviewDocument {
    return new PreviewDocument(uri, this.#checks, this.#log);
  }

  resolveCustomEditor(document: PreviewDocument, panel: vscode.WebviewPanel): void {
    const uri = document.uri.toString();
    const shown = new PreviewPanel(document, panel, this.#extensionUri, this.#log);
    this.#panels.set(shown, { uri, panel });
    panel.onDidDispose(() => {
      this.#panels.delete(shown);
      shown.dispose();
    });
    const row = this.#wantedRows.get(uri);
    this.#wantedRows.delete(uri);
    if (row !== undefined) shown.goTo(row);
  }

  /**
   * Previews a dataset, or several selected ones. Called as `(uri?, uris?)` from menus, and with `{ row }` as the third
   * argument to begin at a row; from a text editor with the file it begins at the row of the cursor.
   */
  async preview(argument?: unknown, selection?: unknown, options?: unknown): Promise<void> {
    const selected = selectedUris(selection);
    if (selected.length > 1) {
      for (const uri of selected) await this.#show(uri, undefined);
      return;
    }
    // Read before a dialog takes the focus.
    const editor = vscode.window.activeTextEditor;
    const uri = await chooseDataset(argument);
    if (uri !== undefined) await this.#show(uri, rowIn(options) ?? (await rowOfCursor(editor, uri)));
  }

  async #show(uri: vscode.Uri, row: number | undefined): Promise<void> {
    const key = uri.toString();
    const open = [...this.#panels].filter(([, { uri: other }]) => other === key);
    const chosen = open.find(([, { panel }]) => panel.visible) ?? open[0];
    if (chosen !== undefined) {
      const [shown, { panel }] = chosen;
      if (row !== undefined) shown.goTo(row);
      panel.reveal();
      return;
    }
    if (row !== undefined) this.#wantedRows.set(key, row);
    await vscode.commands.executeCommand('vscode.openWith', uri, EDITORS.datasetPreview);
  }

  dispose(): void {
    for (const shown of this.#panels.keys()) shown.dispose();
    this.#panels.clear();
  }
}

/** Any extension can call a command with anything. */
function rowIn(options: unknown): number | undefined {
  const row = isRecord(options) ? options['row'] : undefined;
  return typeof row === 'number' && Number.isSafeInteger(row) && row >= 1 ? row : undefined;
}

/** The row of the cursor, which counts editor lines; undefined at the start of the file. */
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
    // The preview itself shows what is wrong with the file.
    return undefined;
  } finally {
    file?.dispose();
  }
}
