import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import { EDITORS } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { pageFolder, pageHtml } from '../shared/page.ts';
import { previewTitle } from './previewMessages.ts';
import { PreviewDocument } from './previewDocument.ts';
import { PreviewPanel } from './previewPanel.ts';

/** The read-only editor that previews datasets; it owns which of them are open. */
export class DatasetPreviews implements vscode.CustomReadonlyEditorProvider<PreviewDocument>, Disposable {
  readonly #extensionUri: vscode.Uri;
  readonly #reports: Reports;
  readonly #log: Log;
  readonly #store = new DisposableStore();
  readonly #panels = new Map<PreviewPanel, { uri: string; panel: vscode.WebviewPanel }>();
  /** Rows that a preview still to be opened is to begin with, by its URI. */
  readonly #wantedRows = new Map<string, number>();

  constructor(extensionUri: vscode.Uri, reports: Reports, log: Log) {
    this.#extensionUri = extensionUri;
    this.#reports = reports;
    this.#log = log;
    this.#store.add(
      vscode.window.registerCustomEditorProvider(EDITORS.datasetPreview, this, {
        supportsMultipleEditorsPerDocument: true,
      }),
    );
  }

  openCustomDocument(uri: vscode.Uri): PreviewDocument {
    return new PreviewDocument(uri, this.#reports, this.#log);
  }

  resolveCustomEditor(document: PreviewDocument, panel: vscode.WebviewPanel): void {
    const { webview } = panel;
    webview.options = {
      enableScripts: true,
      localResourceRoots: [pageFolder(this.#extensionUri, 'preview')],
    };
    const uri = document.uri.toString();
    const shown = new PreviewPanel(document, panel, this.#log);
    this.#panels.set(shown, { uri, panel });
    panel.onDidDispose(() => {
      this.#panels.delete(shown);
      shown.dispose();
    });
    const row = this.#wantedRows.get(uri);
    this.#wantedRows.delete(uri);
    if (row !== undefined) shown.goTo(row);
    webview.html = pageHtml(webview, this.#extensionUri, 'preview', previewTitle(document.name));
  }

  /** Opens the preview of a file, or shows the one that is open. @param row is shown at the top */
  async show(uri: vscode.Uri, row?: number): Promise<void> {
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
    this.#store.dispose();
  }
}
