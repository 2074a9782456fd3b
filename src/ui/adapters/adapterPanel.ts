import path from 'node:path';
import * as vscode from 'vscode';
import { gridOf } from '../../core/adapters/adapterGrid.ts';
import { createAdapterRoom } from '../../core/adapters/adapterRoom.ts';
import { recipesOf } from '../../core/adapters/recipe/recipes.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { PANELS } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { pageFolder, pageHtml } from '../shared/page.ts';
import { AdapterDocument, type AdapterPart, type AdapterRoom } from './adapterDocument.ts';
import { adapterFolder, subjectOf } from './adapterPlace.ts';
import {
  chooseUnpackFolder,
  diskNotice,
  pageStatus,
  pageTitle,
  pageWords,
  workProgress,
  workResult,
} from './messages.ts';
import { adapterPicture } from './pictureMessages.ts';
import type { AdapterMessage, AdapterRequest } from './protocol.ts';
import { adapterTool, folderFact, packedText, recipesTitle } from './recipeMessages.ts';
import { adapterOverview } from './reportMessages.ts';

/** More than any recipe has. */
const MAX_COPIED = 100_000;

/** Owns which pages of adapters are open, one for each file, and restores them with the window. */
export class AdapterPanels implements Disposable {
  readonly #extensionUri: vscode.Uri;
  readonly #room: AdapterRoom;
  readonly #log: Log;
  readonly #open = new Map<string, { panel: vscode.WebviewPanel; document: AdapterDocument }>();

  /** @param worker the script of the thread that measures */
  constructor(extensionUri: vscode.Uri, worker: string, log: Log) {
    this.#extensionUri = extensionUri;
    this.#room = createAdapterRoom(worker);
    this.#log = log;
  }

  /** Opens the page of a file or folder, or shows the one that is open. */
  async show(argument: string): Promise<void> {
    const file = await subjectOf(argument);
    const known = this.#open.get(file);
    if (known === undefined) {
      const title = pageTitle(path.basename(file));
      this.#fill(vscode.window.createWebviewPanel(PANELS.adapter, title, vscode.ViewColumn.Active), file);
    } else {
      known.panel.reveal();
      void known.document.check();
    }
  }

  /** Fills a page again after the window was reloaded. @param state what the page stored */
  restore(panel: vscode.WebviewPanel, state: unknown): void {
    const file = rememberedFile(state);
    // No empty tab, and no second page of a file.
    if (file === undefined || !path.isAbsolute(file) || this.#open.has(path.normalize(file))) panel.dispose();
    else this.#fill(panel, path.normalize(file));
  }

  dispose(): void {
    for (const { document } of this.#open.values()) document.dispose();
    this.#open.clear();
  }

  #fill(panel: vscode.WebviewPanel, file: string): void {
    const document = new AdapterDocument(file, this.#room, this.#log);
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
    panel.title = pageTitle(document.name);
    webview.html = pageHtml(webview, this.#extensionUri, 'adapter', pageTitle(document.name));
  }
}

/** Owns one page of an adapter: answers its requests, and sends what becomes known. */
export class AdapterPanel implements Disposable {
  readonly #document: AdapterDocument;
  readonly #panel: vscode.WebviewPanel;
  readonly #store = new DisposableStore();
  #isReady = false;

  constructor(document: AdapterDocument, panel: vscode.WebviewPanel) {
    this.#document = document;
    this.#panel = panel;
    this.#store.add(
      panel.webview.onDidReceiveMessage((message) => {
        const request = adapterRequestOf(message);
        if (request !== undefined) void this.#answer(request);
      }),
    );
    this.#store.add(document.onDidChange((part) => this.#send(part)));
    this.#store.add(
      panel.onDidChangeViewState(() => {
        if (panel.visible) void document.check();
        // A hidden page is destroyed; the next one asks for everything.
        else this.#isReady = false;
      }),
    );
  }

  dispose(): void {
    this.#store.dispose();
  }

  async #answer(request: AdapterRequest): Promise<void> {
    const document = this.#document;
    switch (request.type) {
      case 'ready':
        this.#isReady = true;
        this.#post({ type: 'start', words: pageWords(), fileName: document.name, file: document.file });
        this.#send('report');
        return;
      case 'reload':
        return document.reload();
      case 'measure':
        return document.measure();
      case 'cancel':
        document.cancel();
        return;
      case 'unpack': {
        const parent = request.elsewhere ? await chooseUnpackFolder(document.file) : undefined;
        if (!request.elsewhere || parent !== undefined) await document.unpack(parent);
        return;
      }
      case 'copy':
        await vscode.env.clipboard.writeText(request.text);
        this.#post({ type: 'copied', id: request.id });
    }
  }

  /** Sends what a part of the state changes on the page. */
  #send(part: AdapterPart): void {
    const isAll = part === 'report';
    const { report, problem } = this.#document.state;
    if (isAll && report === undefined)
      this.#post({ type: 'status', ...pageStatus(this.#document.name, problem) });
    if (isAll || part === 'measurements') this.#sendOverview();
    if (isAll || part === 'measurements' || part === 'change') this.#sendPicture();
    if (isAll || part === 'place') this.#sendRecipes();
    if (isAll || part === 'work') this.#sendWork();
    if (isAll || part === 'change') this.#sendNotice();
  }

  #sendOverview(): void {
    const { report, measurements } = this.#document.state;
    if (report !== undefined) this.#post({ type: 'overview', ...adapterOverview(report, measurements) });
  }

  #sendPicture(): void {
    const { report, measurements, change } = this.#document.state;
    if (report?.weights === undefined || report.weights.pairs.length === 0) return;
    const canMeasure = measurements === undefined && change !== 'missing';
    this.#post(adapterPicture(gridOf(report.weights, measurements), measurements, canMeasure));
  }

  #sendRecipes(): void {
    const { report, place } = this.#document.state;
    if (report?.verdict.code !== 'adapter') return;
    const folder = adapterFolder(report, place?.folder ?? report.file);
    const recipes = recipesOf(report, { folder, platform: process.platform });
    this.#post({
      type: 'recipes',
      title: recipesTitle(),
      packed: place === undefined || place.exists ? undefined : packedText(place.folder),
      folder: place?.exists === false ? undefined : folderFact(folder),
      tools: recipes.map((recipe) => adapterTool(recipe, report.config?.baseModel)),
    });
  }

  #sendWork(): void {
    const { state, name } = this.#document;
    if (state.work === undefined) return;
    const { kind, progress, end } = state.work;
    this.#post({
      type: 'work',
      kind,
      progress: progress && workProgress(kind, progress),
      result: end && {
        isError: end.outcome === 'failed',
        isQuiet: kind === 'measure' && end.outcome === 'done',
        text: workResult(name, kind, end),
      },
    });
  }

  #sendNotice(): void {
    const { state, name } = this.#document;
    this.#post({ type: 'notice', text: state.change && diskNotice(name, state.change) });
  }

  #post(message: AdapterMessage): void {
    if (this.#isReady && !this.#store.disposed) void this.#panel.webview.postMessage(message);
  }
}

/** A message of the page as a request, or undefined where it is none of the protocol. */
export function adapterRequestOf(message: unknown): AdapterRequest | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { type, elsewhere, id, text } = message as Record<string, unknown>;
  switch (type) {
    case 'ready':
    case 'reload':
    case 'measure':
    case 'cancel':
      return { type };
    case 'unpack':
      return typeof elsewhere === 'boolean' ? { type, elsewhere } : undefined;
    case 'copy':
      return typeof id === 'string' && typeof text === 'string' && text.length <= MAX_COPIED
        ? { type, id, text }
        : undefined;
    default:
      return undefined;
  }
}

/** The file of a restored page; undefined where it stored none. */
export function rememberedFile(state: unknown): string | undefined {
  if (typeof state !== 'object' || state === null || !('file' in state)) return undefined;
  return typeof state.file === 'string' && state.file !== '' ? state.file : undefined;
}
