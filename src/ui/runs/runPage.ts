import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { RunDetail } from '../../core/api/types.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { DownloadRecord } from '../../core/downloads/types.ts';
import { estimateBefore, heldRanges } from '../../core/money/estimate.ts';
import { runLinkPath } from '../../core/runs/runLink.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import { chargedReceiptsOf, type ChargedReceipt } from '../../core/submission/runFacts.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';
import { revealOf } from '../shared/openMessages.ts';
import { isRecord, isText, WebviewHost, WebviewPanels } from '../shared/webview.ts';
import { runPageState, type FileNow, type Loading } from './pageMessages.ts';
import type { RunPageButton, RunPageMemory, RunPageRequest, RunPageState } from './protocol.ts';

/** Changes that come together are drawn once. */
const DRAW_MS = 50;
/** Times go on while the page is visible, and adapters expire. */
const REDRAW_MS = 2_000;
/** A run that left the list is not read again more often: it may be one that no list shows. */
const READ_AGAIN_MS = 10 * 60_000;
/** IDs of accounts and runs are short: what a page remembered may be anything. */
const MAX_ID_LENGTH = 400;

export type RunPageParts = Pick<
  Services,
  'accounts' | 'context' | 'downloads' | 'journal' | 'log' | 'openJournal' | 'sessions'
>;

/** The open run pages: one that shows one run after the other, and those of runs that are kept. */
export function runPanels(parts: RunPageParts): WebviewPanels<RunPageMemory, RunPage> {
  return new WebviewPanels({
    viewType: PANELS.run,
    memoryOf,
    keyOf,
    slotOf: (memory) => (memory.isKept === true ? keyOf(memory) : ''),
    create: (panel, memory) => new RunPage(memory, panel, parts),
  });
}

function keyOf({ accountId, runId, isKept }: RunPageMemory): string {
  return JSON.stringify([accountId, runId, isKept]);
}

function memoryOf(state: unknown): RunPageMemory | undefined {
  if (!isRecord(state)) return undefined;
  const { accountId, runId, isKept } = state;
  if (!isId(accountId) || !isId(runId)) return undefined;
  return { accountId, runId, ...(isKept === true && { isKept }) };
}

function isId(value: unknown): value is string {
  return isText(value) && value !== '' && value.length <= MAX_ID_LENGTH;
}

/** Owns the page of one run: posts what is known of it and does what its buttons ask for. */
export class RunPage implements Disposable {
  readonly #memory: RunPageMemory;
  readonly #panel: vscode.WebviewPanel;
  readonly #parts: RunPageParts;
  readonly #store = new DisposableStore();
  readonly #host: WebviewHost<RunPageState, RunPageRequest>;
  #following = new DisposableStore();
  #session: Session | undefined;
  #detail: RunDetail | undefined;
  #receipt: ChargedReceipt | undefined;
  #receiptLoading: Loading = 'loading';
  #estimate: Parameters<typeof runPageState>[0]['estimate'];
  #records: readonly DownloadRecord[] | undefined;
  #files = new Map<string, FileNow | null>();
  /** Whose details are being read. */
  #reading: Session | undefined;
  #readAtMs = -Infinity;
  #state: RunPageState | undefined;
  /** The last message, which is not repeated. */
  #posted = '';
  #drawTimer: NodeJS.Timeout | undefined;

  constructor(memory: RunPageMemory, panel: vscode.WebviewPanel, parts: RunPageParts) {
    this.#memory = memory;
    this.#panel = panel;
    this.#parts = parts;
    const { accounts, context, downloads, journal, log, sessions } = parts;
    const redraw = setInterval(() => panel.visible && this.#draw(), REDRAW_MS);
    this.#follow();
    this.#readReceipt();
    panel.title = runPageState(this.#view()).title;
    this.#host = new WebviewHost(panel, {
      page: 'run',
      extensionUri: context.extensionUri,
      title: panel.title,
      requests: { act: { action: isText, target: isText } },
      onReady: () => this.#start(),
      onRequest: (request) => this.#act(request),
      log,
    });
    for (const one of [
      { dispose: () => clearInterval(redraw) },
      { dispose: () => clearTimeout(this.#drawTimer) },
      { dispose: () => this.#following.dispose() },
      this.#host,
      accounts.onDidChange(() => this.#follow()),
      sessions.onDidChangeActive(() => this.#planDraw()),
      journal.onDidChange(() => this.#readReceipt()),
      downloads.onDidChange((change) => this.#downloadChanged(change)),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused && panel.visible) this.#readFiles();
      }),
    ])
      this.#store.add(one);
  }

  dispose(): void {
    this.#store.dispose();
  }

  /** Works with the account's session: another one where its address changed, none where the account is gone. */
  #follow(): void {
    const account = this.#parts.accounts.accounts.find(({ id }) => id === this.#memory.accountId);
    const session = account && this.#parts.sessions.of(account);
    this.#planDraw();
    if (session === this.#session) return;
    this.#following.dispose();
    this.#following = new DisposableStore();
    this.#session = session;
    this.#detail = undefined;
    if (session === undefined) return;
    const draw = () => this.#planDraw();
    const read = () => {
      this.#readDetails();
      draw();
    };
    for (const one of [
      session.runs.onDidChange(read),
      session.onDidChangeState(read),
      session.models.onDidChange(draw),
      session.balance.onDidChange(draw),
    ])
      this.#following.add(one);
    this.#readDetails();
  }

  /** Reads details that are not known; after a failure only the user asks again. */
  #readDetails(): void {
    const session = this.#session;
    const { runId } = this.#memory;
    if (session === undefined || session.isLocked || session === this.#reading) return;
    const { runs } = session;
    if (runs.detailFailure(runId) !== undefined) return;
    if (runs.detail(runId) !== undefined) {
      // Either a list that was read again left it out, or the service no longer has it: a read says which.
      const isGone = runs.get(runId) === undefined;
      if (!isGone || performance.now() - this.#readAtMs < READ_AGAIN_MS) return;
      this.#readAtMs = performance.now();
    }
    this.#reading = session;
    runs
      .loadDetail(runId)
      .catch((error: unknown) => this.#parts.log.warn(String(error)))
      .finally(() => {
        if (session === this.#reading) this.#reading = undefined;
        this.#planDraw();
      });
  }

  #readReceipt(): void {
    if (this.#receipt !== undefined) return;
    const { accountId, runId } = this.#memory;
    const { journal, openJournal, log } = this.#parts;
    const read = openJournal().then(() => journal.receipts());
    read.then(
      (receipts) => {
        const charged = chargedReceiptsOf(receipts, accountId);
        this.#receipt = charged.find(({ settled }) => settled.run.run_id === runId);
        if (this.#receipt !== undefined)
          this.#estimate = { before: estimateBefore(charged, this.#receipt), held: heldRanges(charged) };
        this.#receiptLoading = 'loaded';
        this.#readFiles();
        this.#planDraw();
      },
      (error: unknown) => {
        this.#receiptLoading = 'failed';
        this.#planDraw();
        log.error('run-page-receipts', error);
      },
    );
  }

  #downloadChanged({ accountId, runId }: { accountId: string; runId: string }): void {
    if (accountId !== this.#memory.accountId || runId !== this.#memory.runId) return;
    this.#planDraw();
    // Progress comes several times a second.
    if (this.#parts.downloads.records(accountId) !== this.#records) this.#readFiles();
  }

  /** Finds out whether the dataset and the downloaded files still exist. */
  #readFiles(): void {
    this.#records = this.#parts.downloads.records(this.#memory.accountId);
    const paths = this.#ownRecords().map(({ path }) => path);
    if (this.#receipt !== undefined) paths.push(this.#receipt.dataset.path);
    void Promise.all(paths.map(async (path) => [path, await fileNow(path)] as const)).then((files) => {
      this.#files = new Map(files);
      this.#planDraw();
    });
  }

  #start(): void {
    this.#posted = '';
    this.#draw();
    this.#readFiles();
  }

  /** Does what a button was offered for, and nothing else. */
  async #act({ action, target }: RunPageRequest): Promise<void> {
    const buttons = this.#state === undefined ? [] : buttonsOf(this.#state);
    const pressed = buttons.find((one) => one.action === action && one.target === target);
    if (pressed === undefined || pressed.isDisabled === true) return;
    try {
      await this.#do(pressed);
    } finally {
      this.#planDraw();
    }
  }

  #do({ action, target }: RunPageButton): unknown {
    const { accountId, runId } = this.#memory;
    const { executeCommand } = vscode.commands;
    switch (action) {
      case 'download':
        return executeCommand(COMMANDS.downloadAdapter, { accountId, id: runId });
      case 'submitAgain':
        return executeCommand(COMMANDS.submitAgain, { accountId, id: runId });
      case 'inspect':
        return executeCommand(COMMANDS.inspectAdapter, vscode.Uri.file(target));
      case 'openDataset':
        return executeCommand(COMMANDS.previewDataset, vscode.Uri.file(target));
      case 'cancelDownload':
        return executeCommand(COMMANDS.cancelDownload, target);
      case 'reveal':
        revealOf(vscode.Uri.file(target)).show();
        return undefined;
      case 'useAccount':
        return this.#parts.accounts.activate(accountId);
      case 'switchAccount':
        return executeCommand(COMMANDS.switchAccount);
      case 'replaceKey':
        return executeCommand(COMMANDS.replaceKey, accountId);
      case 'refresh':
        return this.#refresh();
      case 'copy':
        // By the host of the page.
        return undefined;
    }
  }

  /** Failures show on the page, as the session's state or in place of the details. */
  async #refresh(): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    await Promise.allSettled([
      session.runs.loadDetail(this.#memory.runId),
      session.runs.refresh(),
      session.models.refresh(),
      session.balance.refresh(),
    ]);
  }

  #planDraw(): void {
    this.#drawTimer ??= setTimeout(() => this.#draw(), DRAW_MS);
  }

  /** Posts what has changed, if anything. */
  #draw(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    if (this.#store.disposed) return;
    const { title, state } = runPageState(this.#view());
    if (this.#panel.title !== title) this.#panel.title = title;
    const text = JSON.stringify(state);
    if (!this.#host.isReady || text === this.#posted) return;
    this.#state = state;
    this.#posted = text;
    this.#host.post(state);
  }

  #view(): Parameters<typeof runPageState>[0] {
    const { accountId, runId } = this.#memory;
    const { accounts, context, sessions, downloads } = this.#parts;
    const session = this.#session;
    // While details are read again the last ones stay; those of another API key, or of a run that is gone, don't.
    if (session === undefined || session.isLocked || session.runs.get(runId) === undefined)
      this.#detail = undefined;
    else this.#detail = session.runs.detail(runId) ?? this.#detail;
    return {
      ...this.#memory,
      account: accounts.accounts.find(({ id }) => id === accountId),
      session,
      isActive: sessions.active?.account.id === accountId,
      detail: this.#detail,
      isReading: session !== undefined && session === this.#reading,
      receipt: this.#receipt,
      receiptLoading: this.#receiptLoading,
      estimate: this.#estimate,
      downloads: downloads.active.filter((one) => one.accountId === accountId && one.runId === runId),
      records: this.#ownRecords(),
      files: this.#files,
      link: `${vscode.env.uriScheme}://${context.extension.id}${runLinkPath(runId)}`,
      nowMs: session === undefined ? Date.now() : serviceNowMs(session),
    };
  }

  #ownRecords(): readonly DownloadRecord[] {
    const { accountId, runId } = this.#memory;
    return this.#parts.downloads.records(accountId).filter((record) => record.runId === runId);
  }
}

/** The buttons of a page: it may ask for nothing else. */
function buttonsOf({ actions, notices, sections }: RunPageState): RunPageButton[] {
  const holders = sections.flatMap((section): readonly { buttons: readonly RunPageButton[] }[] => {
    if (section.kind === 'timeline') return [];
    return section.kind === 'facts' ? section.facts : [...section.downloads, ...section.files];
  });
  return [...actions, ...[...notices, ...holders].flatMap(({ buttons }) => buttons)];
}

async function fileNow(path: string): Promise<FileNow | null> {
  try {
    const { size, mtimeMs } = await stat(path);
    return { sizeBytes: size, changedAtMs: mtimeMs };
  } catch {
    return null;
  }
}
