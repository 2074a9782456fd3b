import * as vscode from 'vscode';
import { gridOf } from '../../core/adapters/adapterGrid.ts';
import type { AdapterMessage, AdapterRequest } from './protocol.ts';
import { adapterRequestOf } from './pageRequest.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { chooseUnpackFolder } from './adapterDialogs.ts';
import {
  adapterFailure,
  adapterNotice,
  adapterWords,
  readingText,
  workEndText,
  workProgress,
} from './messages.ts';
import { adapterFacts, adapterFiles } from './factMessages.ts';
import { adapterPicture } from './pictureMessages.ts';
import { problemNote } from './problemMessages.ts';
import { adapterTool, folderFact, packedText } from './recipeMessages.ts';
import { adapterVerdict } from './verdictMessages.ts';
import type { AdapterContent, AdapterDocument, AdapterPart } from './adapterDocument.ts';
import { adapterFolder } from './adapterPlace.ts';

/** Owns one page of an adapter: answers what it asks for, and tells it what becomes known. */
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
    this.#store.add(document.onDidChange((part) => this.#tell(part)));
    this.#store.add(
      panel.onDidChangeViewState(() => {
        if (panel.visible) void document.look();
        // The page goes when it is hidden, and another one comes.
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
        this.#post({ type: 'start', words: adapterWords(), fileName: document.name, file: document.file });
        this.#tellAll();
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
        if (request.elsewhere && parent === undefined) return;
        return document.unpack(parent);
      }
      case 'copy':
        await vscode.env.clipboard.writeText(request.text);
        this.#post({ type: 'copied', id: request.id });
    }
  }

  #tell(part: AdapterPart): void {
    if (part === 'content') this.#tellAll();
    if (part === 'measured') this.#tellOverview();
    if (part === 'measured' || part === 'notice') this.#tellPicture();
    if (part === 'place') this.#tellRecipes();
    if (part === 'work') this.#tellWork();
    if (part === 'notice') this.#tellNotice();
  }

  /** Tells the page everything, as after it was made or the file was read. */
  #tellAll(): void {
    const { content, name } = this.#document;
    if (content === undefined) this.#post({ type: 'loading', text: readingText(name) });
    else if ('problem' in content) this.#post({ type: 'failure', ...adapterFailure(name, content.problem) });
    this.#tellOverview();
    this.#tellPicture();
    this.#tellRecipes();
    this.#tellWork();
    this.#tellNotice();
  }

  #tellOverview(): void {
    const report = reportIn(this.#document.content);
    if (report === undefined) return;
    const notes = report.problems.map(problemNote);
    this.#post({
      type: 'overview',
      verdict: adapterVerdict(report, this.#document.measurements),
      facts: adapterFacts(report),
      problems: notes.filter(({ severity }) => severity !== 'info'),
      toKnow: notes.filter(({ severity }) => severity === 'info'),
      files: adapterFiles(report),
    });
  }

  #tellPicture(): void {
    const { content, measurements, change } = this.#document;
    const report = reportIn(content);
    if (report?.weights === undefined || report.weights.pairs.length === 0) return;
    const canMeasure = measurements === undefined && change !== 'missing';
    this.#post(adapterPicture(gridOf(report.weights, measurements), measurements, canMeasure));
  }

  #tellRecipes(): void {
    const { content, place } = this.#document;
    if (content === undefined || !('report' in content) || content.report.verdict.code !== 'adapter') return;
    const { report, recipesOf } = content;
    const folder = adapterFolder(report, place?.folder ?? report.file);
    const recipes = recipesOf(report, { folder, platform: process.platform });
    this.#post({
      type: 'recipes',
      packed: place === undefined || place.exists ? undefined : packedText(place.folder),
      folder: place?.exists === false ? undefined : folderFact(folder),
      tools: recipes.map((recipe) => adapterTool(recipe, report.config?.baseModel)),
    });
  }

  #tellWork(): void {
    const { work, name } = this.#document;
    if (work === undefined) return;
    const { kind, progress, end } = work;
    this.#post({
      type: 'work',
      kind,
      progress: progress && workProgress(kind, progress.doneBytes, progress.totalBytes),
      result: end && {
        isError: end.outcome === 'failed',
        isQuiet: kind === 'measure' && end.outcome === 'done',
        text: workEndText(name, kind, end),
      },
    });
  }

  #tellNotice(): void {
    const { change, name } = this.#document;
    this.#post({ type: 'notice', text: change && adapterNotice(name, change) });
  }

  #post(message: AdapterMessage): void {
    // The next page asks for everything.
    if (this.#isReady && !this.#store.disposed) void this.#panel.webview.postMessage(message);
  }
}

function reportIn(content: AdapterContent | undefined) {
  return content !== undefined && 'report' in content ? content.report : undefined;
}
