import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { PANELS } from '../shared/ids.ts';
import { pageFolder, pageHtml } from '../shared/page.ts';
import type { RunPageMemory } from './protocol.ts';
import { runPageMemoryOf } from './pageRequest.ts';
import { RunPage } from './runPage.ts';
import type { RunPageParts } from './runPageView.ts';

/** Owns the pages of runs that are open: one for each run of an account. */
export class RunPanels implements vscode.WebviewPanelSerializer, Disposable {
  readonly #extensionUri: vscode.Uri;
  readonly #parts: RunPageParts;
  readonly #store = new DisposableStore();
  readonly #open = new Map<string, { page: RunPage; panel: vscode.WebviewPanel }>();

  constructor(extensionUri: vscode.Uri, parts: RunPageParts) {
    this.#extensionUri = extensionUri;
    this.#parts = parts;
    this.#store.add(vscode.window.registerWebviewPanelSerializer(PANELS.run, this));
  }

  /** Opens the page of a run, or shows the one that is open. */
  show(accountId: string, runId: string): void {
    const open = this.#open.get(keyOf({ accountId, runId }));
    if (open !== undefined) {
      open.panel.reveal();
      return;
    }
    const panel = vscode.window.createWebviewPanel(PANELS.run, '', vscode.ViewColumn.Active, {
      enableFindWidget: true,
    });
    this.#fill(panel, { accountId, runId });
  }

  /** After a reload of the window: the page has remembered which run it shows, and nothing else. */
  deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const memory = runPageMemoryOf(state);
    if (memory === undefined || this.#open.has(keyOf(memory))) panel.dispose();
    else this.#fill(panel, memory);
    return Promise.resolve();
  }

  dispose(): void {
    for (const { page } of this.#open.values()) page.dispose();
    this.#open.clear();
    this.#store.dispose();
  }

  #fill(panel: vscode.WebviewPanel, memory: RunPageMemory): void {
    const { webview } = panel;
    webview.options = { enableScripts: true, localResourceRoots: [pageFolder(this.#extensionUri, 'run')] };
    const page = new RunPage(memory, panel, this.#parts);
    const key = keyOf(memory);
    this.#open.set(key, { page, panel });
    panel.onDidDispose(() => {
      this.#open.delete(key);
      page.dispose();
    });
    webview.html = pageHtml(webview, this.#extensionUri, 'run', panel.title);
  }
}

function keyOf({ accountId, runId }: RunPageMemory): string {
  return JSON.stringify([accountId, runId]);
}
