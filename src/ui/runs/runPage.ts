import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { RunDetail } from '../../core/api/types.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { DownloadRecord } from '../../core/downloads/types.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { Receipt } from '../../core/submission/intent.ts';
import { receiptOf, type ChargedReceipt } from '../../core/submission/runFacts.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { revealOf } from '../shared/openMessages.ts';
import {
  isOneOf,
  isRecord,
  isText,
  WebviewHost,
  WebviewPanels,
  type RequestTable,
} from '../shared/webview.ts';
import { runPageTitle, type Loading } from './pageMessages.ts';
import type { RunPageAction, RunPageMemory, RunPageRequest, RunPageState } from './protocol.ts';
import { buttonsOf, runPageState, type FileNow, type RunPageView } from './runPageState.ts';

/** Changes that come together are drawn once. */
const DRAW_MS = 50;
/** Times go on while the page is visible, and adapters expire. */
const REDRAW_MS = 2_000;
/** A run that left the list is not read again more often: it may be one that no list shows. */
const READ_AGAIN_MS = 10 * 60_000;
/** IDs of accounts and runs are short: what a page remembered may be anything. */
const MAX_ID_LENGTH = 400;

const REQUESTS: Readonly<RequestTable<RunPageRequest>> = {
  act: {
    action: isOneOf([
      'download',
      'inspect',
      'submitAgain',
      'refresh',
      'openDataset',
      'cancelDownload',
      'reveal',
      'useAccount',
      'switchAccount',
      'replaceKey',
    ]),
    target: isText,
  },
};

/** What run pages work with. */
export interface RunPageParts {
  extensionUri: vscode.Uri;
  accounts: Pick<AccountStore, 'accounts' | 'activate' | 'onDidChange'>;
  sessions: Pick<Sessions, 'active' | 'of' | 'onDidChangeActive'>;
  /** Of what was submitted from this machine. */
  receipts: () => Promise<readonly Receipt[]>;
  onDidChangeReceipts: (listener: () => unknown) => Disposable;
  downloads: Pick<Downloads, 'active' | 'records' | 'onDidChange'>;
  /** The link to a run's page. */
  linkTo: (runId: string) => string;
  log: Pick<Log, 'error' | 'warn'>;
}

/** The open run pages: one for each run of an account. */
export function runPanels(parts: RunPageParts): WebviewPanels<RunPageMemory, RunPage> {
  return new WebviewPanels({
    viewType: PANELS.run,
    memoryOf,
    keyOf: ({ accountId, runId }) => JSON.stringify([accountId, runId]),
    create: (panel, memory) => new RunPage(memory, panel, parts),
  });
}

function memoryOf(state: unknown): RunPageMemory | undefined {
  if (!isRecord(state)) return undefined;
  const { accountId, runId } = state;
  return isId(accountId) && isId(runId) ? { accountId, runId } : undefined;
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
    const { accounts, downloads, sessions } = parts;
    const redraw = setInterval(() => panel.visible && this.#draw(), REDRAW_MS);
    this.#follow();
    this.#readReceipt();
    const { name } = runPageState(this.#view());
    panel.title = runPageTitle(name);
    this.#host = new WebviewHost(panel, {
      page: 'run',
      extensionUri: parts.extensionUri,
      title: panel.title,
      requests: REQUESTS,
      onReady: () => this.#start(),
      onRequest: ({ action, target }) => this.#act(action, target),
      log: parts.log,
    });
    for (const one of [
      { dispose: () => clearInterval(redraw) },
      { dispose: () => clearTimeout(this.#drawTimer) },
      { dispose: () => this.#following.dispose() },
      this.#host,
      accounts.onDidChange(() => this.#follow()),
      sessions.onDidChangeActive(() => this.#planDraw()),
      parts.onDidChangeReceipts(() => this.#readReceipt()),
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
    this.#parts.receipts().then(
      (receipts) => {
        this.#receipt ??= receiptOf(receipts, accountId, runId);
        this.#receiptLoading = 'loaded';
        this.#readFiles();
        this.#planDraw();
      },
      (error: unknown) => {
        this.#receiptLoading = 'failed';
        this.#planDraw();
        this.#parts.log.error('run-page-receipts', error);
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

  async #act(action: RunPageAction, target: string): Promise<void> {
    // Only what the page was offered.
    const offered = this.#state === undefined ? [] : buttonsOf(this.#state);
    if (!offered.some((one) => one.action === action && one.target === target && one.isDisabled !== true))
      return;
    try {
      await this.#do(action, target);
    } finally {
      this.#planDraw();
    }
  }

  #do(action: RunPageAction, target: string): unknown {
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
        return;
      case 'useAccount':
        return this.#parts.accounts.activate(accountId);
      case 'switchAccount':
        return executeCommand(COMMANDS.switchAccount);
      case 'replaceKey':
        return executeCommand(COMMANDS.replaceKey, accountId);
      case 'refresh':
        return this.#refresh();
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
    const { name, state } = runPageState(this.#view());
    const title = runPageTitle(name);
    if (this.#panel.title !== title) this.#panel.title = title;
    const text = JSON.stringify(state);
    if (!this.#host.isReady || text === this.#posted) return;
    this.#state = state;
    this.#posted = text;
    this.#host.post(state);
  }

  #view(): RunPageView {
    const { accountId, runId } = this.#memory;
    const { accounts, sessions, downloads, linkTo } = this.#parts;
    const session = this.#session;
    // While details are read again the last ones stay; those of another API key, or of a run that is gone, don't.
    if (session === undefined || session.isLocked || session.runs.get(runId) === undefined)
      this.#detail = undefined;
    else this.#detail = session.runs.detail(runId) ?? this.#detail;
    return {
      accountId,
      runId,
      account: accounts.accounts.find(({ id }) => id === accountId),
      session,
      isActive: sessions.active?.account.id === accountId,
      detail: this.#detail,
      isReading: session !== undefined && session === this.#reading,
      receipt: this.#receipt,
      receiptLoading: this.#receiptLoading,
      downloads: downloads.active.filter((one) => one.accountId === accountId && one.runId === runId),
      records: this.#ownRecords(),
      files: this.#files,
      link: linkTo(runId),
      nowMs: session === undefined ? Date.now() : serviceNowMs(session),
    };
  }

  #ownRecords(): readonly DownloadRecord[] {
    const { accountId, runId } = this.#memory;
    return this.#parts.downloads.records(accountId).filter((record) => record.runId === runId);
  }
}

async function fileNow(path: string): Promise<FileNow | null> {
  try {
    const { size, mtimeMs } = await stat(path);
    return { sizeBytes: size, changedAtMs: mtimeMs };
  } catch {
    return null;
  }
}
