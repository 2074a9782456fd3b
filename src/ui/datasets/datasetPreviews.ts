import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { RowFile, rowOfLine } from '../../core/datasets/rowFile.ts';
import { filesOf } from '../shared/arguments.ts';
import { chooseDataset } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import { EDITORS } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { isRecord, isText } from '../shared/webview.ts';
import { PreviewDocument, type PreviewChecks } from './previewDocument.ts';
import { isRow, PreviewPanel, type PreviewTarget } from './previewPanel.ts';

/** Owns the open dataset previews, which are read-only custom editors. */
export class DatasetPreviews implements vscode.CustomReadonlyEditorProvider<PreviewDocument>, Disposable {
  readonly #extensionUri: vscode.Uri;
  readonly #checks: PreviewChecks;
  readonly #log: Log;
  readonly #panels = new Map<PreviewPanel, { uri: string; panel: vscode.WebviewPanel }>();
  /** Targets of previews that are about to open, by URI. */
  readonly #wanted = new Map<string, PreviewTarget>();

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
    shown.show(this.#wanted.get(uri) ?? {});
    this.#wanted.delete(uri);
  }

  /**
   * Previews one or more selected datasets. Called as `(uri?, uris?)` from menus, optionally with a `PreviewTarget` as the
   * third argument. Without one, starts at the cursor's row if the active text editor shows the file.
   */
  async preview(
    argument?: unknown,
    selection?: unknown,
    options?: unknown,
  ): Promise<CommandResult | undefined> {
    const selected = filesOf(argument, selection);
    if (selected.length > 1) {
      for (const uri of selected) await this.#show(uri, {});
      return undefined;
    }
    // Read this before a dialog takes the focus.
    const editor = vscode.window.activeTextEditor;
    const uri = await chooseDataset(argument);
    if (uri === undefined) return { outcome: 'cancelled' };
    await this.#show(uri, startIn(options) ?? { row: await rowOfCursor(editor, uri) });
  }

  async #show(uri: vscode.Uri, start: PreviewTarget): Promise<void> {
    const key = uri.toString();
    const open = [...this.#panels].filter(([, { uri: other }]) => other === key);
    const chosen = open.find(([, { panel }]) => panel.visible) ?? open[0];
    if (chosen !== undefined) {
      const [shown, { panel }] = chosen;
      shown.show(start);
      panel.reveal();
      return;
    }
    this.#wanted.set(key, start);
    await vscode.commands.executeCommand('vscode.openWith', uri, EDITORS.datasetPreview);
  }

  dispose(): void {
    for (const shown of this.#panels.keys()) shown.dispose();
    this.#panels.clear();
  }
}

/** Validates the argument: any extension can call the command. */
function startIn(options: unknown): PreviewTarget | undefined {
  const { row, problems } = isRecord(options) ? options : {};
  if (isRow(row)) return { row };
  return isText(problems) ? { problems } : undefined;
}

/** Returns the cursor's row, or undefined if it is on the first line or in another file. */
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
    // The preview shows the error.
    return undefined;
  } finally {
    file?.dispose();
  }
}
