import path from 'node:path';
import * as vscode from 'vscode';
import { rememberedFile } from './pageRequest.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { PANELS } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { pageFolder, pageHtml } from '../shared/page.ts';
import { adapterTitle } from './messages.ts';
import { AdapterDocument, type AdapterRoom } from './adapterDocument.ts';
import { AdapterPanel } from './adapterPanel.ts';
import { subjectOf } from './adapterPlace.ts';

/** The pages of adapters; it owns which are open, one for each file, and brings them back with the window. */
export class AdapterPanels implements vscode.WebviewPanelSerializer, Disposable {
  readonly #extensionUri: vscode.Uri;
  readonly #loadRoom: () => Promise<AdapterRoom>;
  readonly #log: Log;
  readonly #store = new DisposableStore();
  readonly #open = new Map<string, { panel: vscode.WebviewPanel; document: AdapterDocument }>();

  constructor(extensionUri: vscode.Uri, loadRoom: () => Promise<AdapterRoom>, log: Log) {
    this.#extensionUri = extensionUri;
    this.#loadRoom = loadRoom;
    this.#log = log;
    this.#store.add(vscode.window.registerWebviewPanelSerializer(PANELS.adapter, this));
  }

  /** Opens the page of a file or folder, or shows the one that is open. */
  async show(argument: string): Promise<void> {
    const file = await subjectOf(argument);
    const known = this.#open.get(file);
    if (known !== undefined) {
      known.panel.reveal();
      void known.document.look();
      return;
    }
    const title = adapterTitle(path.basename(file));
    const panel = vscode.window.createWebviewPanel(PANELS.adapter, title, vscode.ViewColumn.Active);
    this.#fill(panel, file);
  }

  /** Brings a page back after the window was loaded anew. */
  deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const file = rememberedFile(state);
    // What cannot be told any more is not kept as an empty tab, nor is a second page of one file.
    if (file === undefined || !path.isAbsolute(file) || this.#open.has(path.normalize(file))) panel.dispose();
    else this.#fill(panel, path.normalize(file));
    return Promise.resolve();
  }

  dispose(): void {
    for (const { document } of this.#open.values()) document.dispose();
    this.#open.clear();
    this.#store.dispose();
  }

  #fill(panel: vscode.WebviewPanel, file: string): void {
    const document = new AdapterDocument(file, this.#loadRoom, this.#log);
    const shown = new AdapterPanel(document, panel);
    this.#open.set(file, { panel, document });
    panel.onDidDispose(() => {
      if (this.#open.get(file)?.panel === panel) this.#open.delete(file);
      shown.dispose();
      document.dispose();
    });
    const { webview } = panel;
    webview.options = {
      enableScripts: true,
      localResourceRoots: [pageFolder(this.#extensionUri, 'adapter')],
    };
    panel.title = adapterTitle(document.name);
    webview.html = pageHtml(webview, this.#extensionUri, 'adapter', adapterTitle(document.name));
  }
}
