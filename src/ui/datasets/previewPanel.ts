import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { isFactName } from '../../core/datasets/readFacts.ts';
import { problemsOfRow, rowsOfFact, rowsWithProblems } from '../../core/datasets/report.ts';
import type { ProblemChoice, ProblemRows } from '../../core/datasets/report.ts';
import { lineOfRow, SPEAKER_ROLES, type RowList } from '../../core/datasets/rowFile.ts';
import { refusalSentence, useOf } from '../shared/datasetTexts.ts';
import type { Log } from '../shared/log.ts';
import {
  isBoolean,
  isCount,
  isOptional,
  isRecord,
  isText,
  WebviewHost,
  type RequestTable,
} from '../shared/webview.ts';
import { MAX_SYNCED_UNITS, opensAsText } from './datasetProblems.ts';
import type { PreviewDocument } from './previewDocument.ts';
import { previewRows } from './previewRows.ts';
import { changedNotice, checkFailure, listStatus, previewWords, previewCard } from './previewView.ts';
import { kindSentence } from './problemTexts.ts';
import type { PreviewFilter, PreviewMemory, PreviewMessage, PreviewRequest } from './protocol.ts';

/** Limits updates to a few per second, instead of one per MiB. */
const UPDATE_MS = 80;
/** How long rows and card of the previous version may stay after a reload. */
const HOLD_MS = 1_000;
const SINCE: ProblemChoice = 'since-last-run';
/** Maximum rows per request. */
const MOST_ROWS = 200;
const NO_FILTER: Readonly<PreviewFilter> = { text: '', matchCase: false, problems: undefined };

const REQUESTS: Readonly<RequestTable<PreviewRequest>> = {
  need: { generation: isCount, from: isCount, count: isCount },
  filter: { filter: isFilter },
  more: {},
  goTo: { row: isRow },
  openSource: { row: isRow, problem: isOptional(isCount) },
  reload: { row: isRow },
  act: {},
  stop: {},
};

/** Where a preview starts: at a row, or with the rows that have a problem. */
export interface PreviewTarget {
  row?: number | undefined;
  /** A `ProblemChoice`. */
  problems?: string;
}

/** Owns one preview editor: answers requests of its page and posts updates. */
export class PreviewPanel implements Disposable {
  readonly #document: PreviewDocument;
  readonly #host: WebviewHost<PreviewMessage, PreviewRequest>;
  readonly #store = new DisposableStore();
  #list: RowList | undefined;
  #filter: PreviewFilter = NO_FILTER;
  #generation = 0;
  #wantedRow: number | undefined;
  /** The row at the top before a reload, and until when the page keeps what it shows. */
  #held: { row: number; untilMs: number } | undefined;
  /** The row to return to after a reload, or the next one that is listed. */
  #returnRow: number | undefined;
  /** Whether rows are shown, and whether the page then offers to open them in an editor. */
  #shown: { hasSource: boolean } | undefined;
  /** What the posted card's lists of rows come from. */
  #posted: { report: unknown; changed: unknown; reading: unknown } | undefined;
  #listTimer: NodeJS.Timeout | undefined;
  #cardTimer: NodeJS.Timeout | undefined;

  constructor(document: PreviewDocument, panel: vscode.WebviewPanel, extensionUri: vscode.Uri, log: Log) {
    this.#document = document;
    panel.title = vscode.l10n.t('Preview: {0}', document.name);
    this.#host = this.#store.add(
      new WebviewHost<PreviewMessage, PreviewRequest>(panel, {
        page: 'preview',
        extensionUri,
        title: panel.title,
        requests: REQUESTS,
        onReady: (memory) => {
          if (isMemory(memory)) {
            this.#filter = memory.filter;
            this.#wantedRow ??= memory.row;
          }
          this.#shown = undefined;
          this.#start();
        },
        onRequest: (request) => this.#answer(request),
        onShown: () => void document.compareWithDisk(),
        log,
      }),
    );
    this.#store.add(
      document.onDidChange((change) => {
        if (change === 'opened') this.#start();
        else if (change === 'change') this.#follow();
        else if (change === 'checked') this.#cardTimer ??= setTimeout(() => this.#postCard(), UPDATE_MS);
        else {
          if (this.#document.file?.isCounted === true) this.#list?.refresh();
          this.#planList();
        }
      }),
    );
  }

  /** Shows the rows with a problem, or a row at the top, once they are known and the page is ready. */
  show({ row, problems }: PreviewTarget): void {
    if (problems !== undefined) this.#setFilter({ ...NO_FILTER, problems });
    else if (row !== undefined) this.#goTo(row);
  }

  #rowsOf(choice: ProblemChoice): ProblemRows | undefined {
    const { check, past, read } = this.#document;
    if (choice === SINCE) return past?.since ? rowsOfFact(past.since.difference.rows) : undefined;
    const found = read.reading?.findings;
    if (isFactName(choice))
      return found && rowsOfFact(found.find(({ name }) => name === choice) ?? { total: 0, rows: [] });
    return check.report && rowsWithProblems(check.report, choice);
  }

  #goTo(row: number): void {
    this.#wantedRow = row;
    this.#goToWanted();
  }

  dispose(): void {
    clearTimeout(this.#listTimer);
    clearTimeout(this.#cardTimer);
    this.#list?.dispose();
    this.#store.dispose();
  }

  async #answer(request: PreviewRequest): Promise<void> {
    if (request.type === 'need') await this.#postRows(request);
    else if (request.type === 'filter') {
      this.#held = this.#returnRow = undefined;
      this.#setFilter(request.filter);
    } else if (request.type === 'more') this.#list?.more();
    else if (request.type === 'goTo') this.#goTo(request.row);
    else if (request.type === 'stop') this.#document.read.stop?.();
    else if (request.type === 'act') {
      const { kind, uri } = this.#document;
      const use = useOf(kind);
      if (use !== undefined) await vscode.commands.executeCommand(use.command, uri);
    } else if (request.type === 'openSource') await this.#openSource(request.row, request.problem);
    else {
      this.#held = { row: request.row, untilMs: performance.now() + HOLD_MS };
      await this.#document.reload();
    }
  }

  /**
   * After a save, the page requests a reload and names the row at the top. If no editor shows the file, the
   * user reloads it: something may write it for minutes, and reading it takes long.
   */
  #follow(): void {
    const { change, file } = this.#document;
    const isSmall = file !== undefined && file.sizeBytes <= MAX_SYNCED_UNITS;
    if (change === 'changed' && isSmall) this.#host.post({ type: 'follow' });
    else this.#postNotice();
  }

  /** Posts everything after the page was loaded or the file was opened. */
  #start(): void {
    const { file, problem, name, uri } = this.#document;
    if (!this.#host.isReady || (file === undefined && problem === undefined)) return;
    this.#list?.dispose();
    this.#list = undefined;
    const hasSource = file !== undefined && opensAsText(uri, file.sizeBytes);
    const keepsPage = this.#held !== undefined && this.#shown?.hasSource === hasSource;
    if (!keepsPage) {
      this.#returnRow = this.#held?.row;
      this.#held = undefined;
      const shown = { words: previewWords(), language: vscode.env.language, speakers: SPEAKER_ROLES };
      this.#host.post({ type: 'start', ...shown, fileName: name, hasSource });
      this.#shown = { hasSource };
    }
    this.#follow();
    if (problem !== undefined) this.#showFailure(refusalSentence(name, problem));
    if (file === undefined || this.#showKind()) return;
    this.#list = file.list((choice) => this.#rowsOf(choice));
    this.#list.onDidChange(() => this.#planList());
    this.#posted = undefined;
    this.#setFilter(this.#filter);
    if (keepsPage) this.#document.startDeferredWork();
    this.#postCard();
  }

  #showFailure(text: string, action?: string): void {
    this.#shown = this.#held = undefined;
    this.#host.post({ type: 'failure', text, action });
  }

  /** Whether the page keeps what it shows, because too little is known of the file's new version. */
  #isHeld(): boolean {
    const { check, file } = this.#document;
    if (this.#held === undefined || performance.now() >= this.#held.untilMs) return false;
    return file?.isCounted !== true || (check.report ?? check.failure) === undefined;
  }

  /** Says what a file is if it isn't JSONL: as rows, its lines would only look broken. */
  #showKind(): boolean {
    const { kind } = this.#document;
    if (kind === 'rows') return false;
    this.#list?.dispose();
    this.#list = undefined;
    this.#showFailure(kindSentence(kind), useOf(kind)?.title);
    return true;
  }

  #setFilter(filter: PreviewFilter): void {
    this.#filter = filter;
    this.#generation += 1;
    this.#list?.set({ ...filter, problems: filter.problems as ProblemChoice | undefined });
    if (this.#list?.phase === 'waiting') this.#document.startDeferredWork();
    this.#postList();
  }

  #planList(): void {
    this.#listTimer ??= setTimeout(() => this.#postList(), UPDATE_MS);
  }

  #postList(): void {
    clearTimeout(this.#listTimer);
    this.#listTimer = undefined;
    const [file, list] = [this.#document.file, this.#list];
    if (list === undefined || file === undefined) return;
    const { phase, length } = list;
    if (this.#isHeld()) {
      this.#planList();
      return;
    }
    const held = this.#held;
    this.#held = undefined;
    const keepsPosition = held !== undefined && phase === 'all' && (file.isCounted || file.rows >= held.row);
    if (held !== undefined) this.#cardTimer ??= setTimeout(() => this.#postCard(), 0);
    if (!keepsPosition) this.#returnRow ??= held?.row;
    this.#host.post({
      type: 'list',
      generation: this.#generation,
      length,
      status: listStatus(list, file),
      busy: phase === 'searching' || phase === 'waiting' || (phase === 'all' && !file.isCounted),
      canContinue: phase === 'resting',
      filter: this.#filter,
      keepsPosition,
    });
    this.#goToWanted();
    this.#returnToRow();
  }

  #postCard(): void {
    clearTimeout(this.#cardTimer);
    this.#cardTimer = undefined;
    const { check, file, name, past, read } = this.#document;
    if (!this.#host.isReady || file === undefined || this.#list === undefined || this.#showKind()) return;
    if (this.#isHeld()) return;
    const { progress, report, failure } = check;
    const reason = failure === undefined ? undefined : checkFailure(name, failure);
    this.#host.post(
      previewCard({
        ...{ sizeBytes: file.sizeBytes, report, progress, failure: reason },
        ...{ past, ...read },
      }),
    );
    // Without a report it is unknown which rows have problems, and without an earlier run which ones changed.
    const { problems } = this.#filter;
    const isUnchanged =
      problems === SINCE && report !== undefined && (past?.since === null || past === undefined);
    if (isUnchanged || (failure !== undefined && problems !== undefined))
      this.#setFilter({ ...this.#filter, problems: undefined });
    const changed = past?.since?.difference;
    const { reading } = read;
    const posted = this.#posted;
    if (report === posted?.report && changed === posted?.changed && reading === posted?.reading) return;
    this.#posted = { report, changed, reading };
    if (report !== posted?.report) this.#host.post({ type: 'stale' });
    if (this.#filter.problems !== undefined) {
      this.#generation += 1;
      this.#list.refresh();
      this.#postList();
    }
  }

  #postNotice(): void {
    const { change, name } = this.#document;
    const text = change === undefined ? undefined : changedNotice(name, change);
    this.#host.post({ type: 'notice', text, canReload: change === 'changed' || change === 'missing' });
  }

  /** Goes to the requested row, and clears a filter that hides it. */
  #goToWanted(): void {
    const [file, list, row] = [this.#document.file, this.#list, this.#wantedRow];
    if (!this.#host.isReady || row === undefined || list === undefined || file === undefined) return;
    if (row > file.rows && !file.isCounted) return;
    const known = Math.max(1, Math.min(row, file.rows));
    if (list.positionOf(known) === undefined && list.phase !== 'all') {
      // The search may still find the row.
      if (list.phase === 'waiting' || list.phase === 'searching') return;
      this.#setFilter(NO_FILTER);
      return;
    }
    this.#wantedRow = undefined;
    const position = list.positionOf(known);
    if (position !== undefined) this.#host.post({ type: 'goTo', generation: this.#generation, position });
  }

  /** Returns to the row that was at the top before a reload, without changing the filter. */
  #returnToRow(): void {
    const [list, row] = [this.#list, this.#returnRow];
    if (!this.#host.isReady || row === undefined || list === undefined) return;
    const position = list.positionFrom(row);
    if (position === undefined && !list.isComplete) return;
    this.#returnRow = undefined;
    const last = list.length - 1;
    if (last >= 0)
      this.#host.post({ type: 'goTo', generation: this.#generation, position: position ?? last });
  }

  async #postRows({ generation, from, count }: PreviewRequest & { type: 'need' }): Promise<void> {
    const [file, list] = [this.#document.file, this.#list];
    if (generation !== this.#generation || list === undefined || file === undefined) return;
    const wanted: number[] = [];
    for (let position = from; position < from + Math.min(count, MOST_ROWS); position++) {
      const row = list.rowAt(position);
      if (row !== undefined) wanted.push(row);
    }
    try {
      const rows = await previewRows(file, this.#document.check.report, wanted);
      this.#host.post({ type: 'rows', generation, from, rows });
      this.#document.startDeferredWork();
    } catch (error) {
      if (!(error instanceof CancelledError)) this.#host.post({ type: 'rows', generation, from, rows: [] });
      throw error;
    }
  }

  /**
   * Shows a row in a visible text editor of the file, otherwise in a new tab of the active group.
   * @param problem the index of the row's problem to select
   * @throws CheckError, CancelledError
   */
  async #openSource(row: number, problem: number | undefined): Promise<void> {
    const file = this.#document.file;
    const { check, uri } = this.#document;
    if (file === undefined || !opensAsText(uri, file.sizeBytes)) return;
    const found =
      problem === undefined || check.report === undefined
        ? undefined
        : problemsOfRow(check.report, row, problem + 1)[problem];
    const line = found?.line ?? (await lineOfRow(file, row));
    const start = new vscode.Position(line - 1, (found?.column ?? 1) - 1);
    const shown = vscode.window.visibleTextEditors.find(
      ({ document }) => document.uri.toString() === uri.toString(),
    );
    await vscode.window.showTextDocument(uri, {
      selection: new vscode.Range(start, start.translate(0, found?.length ?? 0)),
      preview: false,
      ...(shown?.viewColumn === undefined ? {} : { viewColumn: shown.viewColumn }),
    });
  }
}

export function isRow(value: unknown): value is number {
  return isCount(value) && value >= 1;
}

function isFilter(value: unknown): value is PreviewFilter {
  return (
    isRecord(value) &&
    isText(value['text']) &&
    isBoolean(value['matchCase']) &&
    isOptional(isText)(value['problems'])
  );
}

/** The memory may come from another version of the extension. */
function isMemory(value: unknown): value is Pick<PreviewMemory, 'filter' | 'row'> {
  return isRecord(value) && isFilter(value['filter']) && isRow(value['row']);
}
