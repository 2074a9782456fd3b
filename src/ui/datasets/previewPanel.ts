import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { PreviewFilter, PreviewMessage, PreviewRequest } from './protocol.ts';
import { previewRequestOf } from './pageRequest.ts';
import { RowList } from '../../core/datasets/rowList.ts';
import { type ProblemChoice, summaryOf } from '../../core/datasets/report.ts';
import type { Log } from '../shared/log.ts';
import { kindSentence } from '../shared/datasetMessages.ts';
import {
  changedNotice,
  checkFailure,
  listStatus,
  noPreview,
  previewWords,
  searchOn,
} from './previewMessages.ts';
import { previewCard } from './previewCardMessages.ts';
import type { PreviewDocument } from './previewDocument.ts';
import { previewRows } from './previewRows.ts';
import { hasSource, showSource } from './previewSource.ts';

/** The page reads so many lists and cards a second, and not one for each MiB. */
const TELL_MS = 80;
/** Rows that the page may ask for at once. */
const MOST_ROWS = 200;
const NO_FILTER: Readonly<PreviewFilter> = { text: '', matchCase: false, problems: undefined };

/** Owns one preview in an editor: answers what its page asks for, and tells it what becomes known. */
export class PreviewPanel implements Disposable {
  readonly #document: PreviewDocument;
  readonly #panel: vscode.WebviewPanel;
  readonly #log: Log;
  readonly #store = new DisposableStore();
  #list: RowList | undefined;
  #filter: PreviewFilter = NO_FILTER;
  #generation = 0;
  #isReady = false;
  #wantedRow: number | undefined;
  #toldReport: unknown;
  #listTimer: NodeJS.Timeout | undefined;
  #cardTimer: NodeJS.Timeout | undefined;

  constructor(document: PreviewDocument, panel: vscode.WebviewPanel, log: Log) {
    this.#document = document;
    this.#panel = panel;
    this.#log = log;
    this.#store.add(
      panel.webview.onDidReceiveMessage((message) => {
        const request = previewRequestOf(message);
        if (request !== undefined) this.#answer(request);
      }),
    );
    this.#store.add(document.onDidOpen(() => this.#begin()));
    this.#store.add(document.onDidCount(() => this.#didCount()));
    this.#store.add(document.onDidCheck(() => this.#didCheck()));
    this.#store.add(document.onDidNotice(() => this.#tellNotice()));
    this.#store.add(
      panel.onDidChangeViewState(() => {
        if (panel.visible) void document.look();
        // The page goes when it is hidden, and another one comes.
        else this.#isReady = false;
      }),
    );
  }

  /** Shows a row at the top, as soon as it is known and the page is there. */
  goTo(row: number): void {
    this.#wantedRow = row;
    if (!this.#panel.visible) this.#isReady = false;
    this.#goToWanted();
  }

  dispose(): void {
    clearTimeout(this.#listTimer);
    clearTimeout(this.#cardTimer);
    this.#list?.dispose();
    this.#store.dispose();
  }

  #answer(request: PreviewRequest): void {
    switch (request.type) {
      case 'ready':
        this.#isReady = true;
        if (request.memory !== undefined) {
          this.#filter = request.memory.filter;
          this.#wantedRow ??= request.memory.row;
        }
        this.#begin();
        return;
      case 'need':
        this.#sendRows(request).catch((error: unknown) => {
          if (error instanceof CancelledError) return;
          this.#log.error('preview-rows', error);
          this.#post({ type: 'rows', generation: request.generation, from: request.from, rows: [] });
        });
        return;
      case 'filter':
        this.#setFilter(request.filter);
        return;
      case 'more':
        this.#list?.more();
        return;
      case 'goTo':
        this.goTo(request.row);
        return;
      case 'openSource':
        this.#openSource(request.row, request.problem);
        return;
      case 'reload':
        this.#wantedRow = request.row;
        void this.#document.reload();
        return;
      case 'copy':
        void vscode.env.clipboard.writeText(request.text);
    }
  }

  /** Tells the page everything, as after it was made or the file was opened. */
  #begin(): void {
    const { content, name } = this.#document;
    if (!this.#isReady || content === undefined) return;
    this.#list?.dispose();
    this.#list = undefined;
    this.#post({
      type: 'start',
      words: previewWords(),
      language: vscode.env.language,
      fileName: name,
      hasSource: 'file' in content && hasSource(content.file),
    });
    this.#tellNotice();
    if (!('file' in content)) {
      this.#post({ type: 'failure', text: noPreview(name, content.problem) });
      return;
    }
    this.#list = new RowList(content.file, () => this.#document.check.report);
    this.#list.onDidChange(() => this.#planList());
    this.#toldReport = undefined;
    this.#setFilter(this.#filter);
    this.#tellCard();
  }

  #setFilter(filter: PreviewFilter): void {
    this.#filter = filter;
    this.#generation += 1;
    this.#list?.set({ ...filter, problems: filter.problems as ProblemChoice | undefined });
    this.#tellList();
  }

  #didCount(): void {
    const content = this.#document.content;
    if (content !== undefined && 'file' in content && content.file.isCounted) this.#list?.refresh();
    this.#planList();
  }

  #didCheck(): void {
    this.#cardTimer ??= setTimeout(() => this.#tellCard(), TELL_MS);
  }

  #planList(): void {
    this.#listTimer ??= setTimeout(() => this.#tellList(), TELL_MS);
  }

  #tellList(): void {
    clearTimeout(this.#listTimer);
    this.#listTimer = undefined;
    const content = this.#document.content;
    const list = this.#list;
    if (list === undefined || content === undefined || !('file' in content)) return;
    const { phase, length, searched, problems } = list;
    const { rows, isCounted } = content.file;
    this.#post({
      type: 'list',
      generation: this.#generation,
      length,
      status: listStatus({ phase, length, rows, isCounted, searched, problems }),
      busy: phase === 'searching' || phase === 'waiting' || (phase === 'all' && !isCounted),
      more: phase === 'resting' ? searchOn() : undefined,
      filter: this.#filter,
    });
    this.#goToWanted();
  }

  #tellCard(): void {
    clearTimeout(this.#cardTimer);
    this.#cardTimer = undefined;
    const { content, check, name } = this.#document;
    if (!this.#isReady || content === undefined || !('file' in content)) return;
    const { progress, report, failure } = check;
    this.#post(
      previewCard({
        sizeBytes: content.file.sizeBytes,
        report,
        summary: report === undefined ? undefined : summaryOf(report),
        progress,
        failure: failure === undefined ? undefined : checkFailure(name, failure),
      }),
    );
    // Without a report nobody knows which rows have problems.
    if (failure !== undefined && this.#filter.problems !== undefined)
      this.#setFilter({ ...this.#filter, problems: undefined });
    if (report === this.#toldReport) return;
    this.#toldReport = report;
    this.#post({ type: 'stale' });
    this.#tellNotice();
    if (this.#filter.problems !== undefined) {
      this.#generation += 1;
      this.#list?.refresh();
      this.#tellList();
    }
  }

  #tellNotice(): void {
    const { change, check, name } = this.#document;
    const kind = check.report?.kind;
    const aboutKind = kind === undefined || kind === 'rows' ? undefined : kindSentence(kind);
    const text = change === undefined ? aboutKind : changedNotice(name, change);
    this.#post({ type: 'notice', text, canReload: change === 'changed' || change === 'missing' });
  }

  /** Goes to the row that is waited for; a filter that hides it is given up. */
  #goToWanted(): void {
    const row = this.#wantedRow;
    const content = this.#document.content;
    const list = this.#list;
    if (
      !this.#isReady ||
      row === undefined ||
      list === undefined ||
      content === undefined ||
      !('file' in content)
    )
      return;
    const { file } = content;
    if (row > file.rows && !file.isCounted) return;
    const known = Math.max(1, Math.min(row, file.rows));
    if (list.positionOf(known) === undefined && list.phase !== 'all') {
      // What it hides may still be found.
      if (list.phase === 'waiting' || list.phase === 'searching') return;
      this.#setFilter(NO_FILTER);
      return;
    }
    this.#wantedRow = undefined;
    const position = list.positionOf(known);
    if (position !== undefined) this.#post({ type: 'goTo', generation: this.#generation, position });
  }

  async #sendRows({ generation, from, count }: PreviewRequest & { type: 'need' }): Promise<void> {
    const content = this.#document.content;
    const list = this.#list;
    if (generation !== this.#generation || list === undefined) return;
    if (content === undefined || !('file' in content)) return;
    const wanted: number[] = [];
    for (let position = from; position < from + Math.min(count, MOST_ROWS); position++) {
      const row = list.rowAt(position);
      if (row !== undefined) wanted.push(row);
    }
    const rows = await previewRows(content.file, this.#document.check.report, wanted);
    this.#post({ type: 'rows', generation, from, rows });
    this.#document.startCheck();
  }

  #openSource(row: number, problem: number | undefined): void {
    const { content, check, uri } = this.#document;
    if (content === undefined || !('file' in content) || !hasSource(content.file)) return;
    showSource(uri, content.file, check.report, row, problem).catch((error: unknown) => {
      if (!(error instanceof CancelledError)) this.#log.error('preview-source', error);
    });
  }

  #post(message: PreviewMessage): void {
    // The next page asks for everything.
    if (this.#isReady && !this.#store.disposed) void this.#panel.webview.postMessage(message);
  }
}
