import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import { isOneOf, isText, WebviewHost, type RequestTable } from '../shared/webview.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { RunDetail } from '../../core/api/types.ts';
import { runPageTitle, type DetailsState } from './pageMessages.ts';
import type { DownloadRecord } from '../../core/downloads/types.ts';
import { receiptOf, type ChargedReceipt } from '../../core/submission/runFacts.ts';
import type { RunPageMemory, RunPageMessage, RunPageRequest } from './protocol.ts';
import { serviceNowMs } from '../../core/runs/serviceClock.ts';
import type { Session } from '../../core/runs/session.ts';
import { RunPageActions } from './runPageActions.ts';
import { recordsOf } from './runPageArtifacts.ts';
import { PageButtons } from './runPageButtons.ts';
import { runPageClocks, runPageState } from './runPageState.ts';
import type { FileNow, RunPageParts, RunPageView } from './runPageView.ts';

/** Changes that come together are drawn once. */
const DRAW_MS = 50;
const TICK_MS = 1_000;
/** A run that has gone from the list is not read anew more often: it may be one that no list shows. */
const READ_AGAIN_MS = 10 * 60_000;

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
      'compare',
      'useAccount',
      'switchAccount',
      'replaceKey',
    ]),
    key: isText,
  },
};

/** Owns the page of one run in an editor tab: tells it what is known, and does what its buttons ask for. */
export class RunPage implements Disposable {
  readonly #memory: RunPageMemory;
  readonly #panel: vscode.WebviewPanel;
  readonly #parts: RunPageParts;
  readonly #actions: RunPageActions;
  readonly #store = new DisposableStore();
  readonly #host: WebviewHost<RunPageMessage, RunPageRequest>;
  #following = new DisposableStore();
  #session: Session | undefined;
  #detail: RunDetail | undefined;
  #receipt: ChargedReceipt | undefined;
  #receiptState: DetailsState = 'being-read';
  #records: readonly DownloadRecord[] | undefined;
  #files = new Map<string, FileNow | null>();
  #buttons = new PageButtons();
  /** Whose details are on their way. */
  #reading: Session | undefined;
  #readAtMs = -Infinity;
  #posted = '';
  #postedClocks = '';
  /** Which clocks the page has. */
  #clocks = '';
  #drawTimer: NodeJS.Timeout | undefined;
  #tick: NodeJS.Timeout | undefined;

  constructor(memory: RunPageMemory, panel: vscode.WebviewPanel, parts: RunPageParts) {
    this.#memory = memory;
    this.#panel = panel;
    this.#parts = parts;
    this.#actions = new RunPageActions(memory, parts, () => this.#session);
    const { accountId, runId } = memory;
    this.#store.add(
      panel.onDidChangeViewState(() => {
        this.#planTick();
      }),
    );
    this.#store.add(parts.accounts.onDidChange(() => this.#follow()));
    this.#store.add(parts.sessions.onDidChangeActive(() => this.#planDraw()));
    this.#store.add(parts.onDidChangeReceipts(() => this.#readReceipt()));
    this.#store.add(
      parts.downloads.onDidChange((change) => {
        if (change.accountId !== accountId || change.runId !== runId) return;
        this.#planDraw();
        // Of a download that goes on this comes several times a second.
        if (parts.downloads.records(accountId) !== this.#records) this.#lookAtFiles();
      }),
    );
    this.#store.add(
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused && panel.visible) this.#lookAtFiles();
      }),
    );
    this.#follow();
    this.#readReceipt();
    this.#planTick();
    const title = runPageTitle(runPageState(this.#view()).name);
    this.#panel.title = title;
    this.#host = this.#store.add(
      new WebviewHost(panel, {
        page: 'run',
        extensionUri: parts.extensionUri,
        title,
        requests: REQUESTS,
        onReady: () => this.#start(),
        onRequest: (request) => this.#answer(request),
        log: parts.log,
      }),
    );
  }

  dispose(): void {
    clearTimeout(this.#drawTimer);
    clearInterval(this.#tick);
    this.#following.dispose();
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
      this.#read();
      draw();
    };
    for (const change of [session.runs.onDidChange, session.onDidChangeState])
      this.#following.add(change(read));
    for (const change of [session.models.onDidChange, session.balance.onDidChange])
      this.#following.add(change(draw));
    this.#read();
  }

  /** Reads the details where they are not known; what could not be read is not asked for again by itself. */
  #read(): void {
    const session = this.#session;
    const { runId } = this.#memory;
    if (session === undefined || session.isLocked || session === this.#reading) return;
    const { runs } = session;
    if (runs.detailFailure(runId) !== undefined) return;
    if (runs.detail(runId) !== undefined) {
      // A list that began anew has left it out, or the service does not have it any more: that tells them apart.
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
        this.#receiptState = 'read';
        this.#lookAtFiles();
        this.#planDraw();
      },
      (error: unknown) => {
        this.#receiptState = 'failed';
        this.#planDraw();
        this.#parts.log.error('run-page-receipts', error);
      },
    );
  }

  /** Looks whether the dataset and what was downloaded are still there. */
  #lookAtFiles(): void {
    this.#records = this.#parts.downloads.records(this.#memory.accountId);
    const paths = recordsOf({ ...this.#memory, downloads: this.#parts.downloads }).map(({ path }) => path);
    if (this.#receipt !== undefined) paths.push(this.#receipt.dataset.path);
    void Promise.all(paths.map(async (path) => [path, await fileNow(path)] as const)).then((files) => {
      this.#files = new Map(files);
      this.#planDraw();
    });
  }

  #start(): void {
    this.#posted = '';
    this.#postedClocks = '';
    this.#draw();
    this.#lookAtFiles();
  }

  async #answer({ action, key }: RunPageRequest): Promise<void> {
    // Only what the page was offered.
    const button = this.#buttons.find(action, key);
    if (button === undefined) return;
    try {
      await this.#actions.do(action, button.target);
    } finally {
      this.#planDraw();
    }
  }

  #planTick(): void {
    clearInterval(this.#tick);
    if (this.#panel.visible) this.#tick = setInterval(() => this.#goOn(), TICK_MS);
  }

  /** Lets the clocks go on; where one ended, as when the adapter expires, everything is drawn. */
  #goOn(): void {
    const texts = runPageClocks(this.#view());
    if (Object.keys(texts).join() !== this.#clocks) this.#draw();
    else if (this.#host.isReady)
      this.#postedClocks = this.#postIfNew({ type: 'clocks', texts }, this.#postedClocks);
  }

  #planDraw(): void {
    this.#drawTimer ??= setTimeout(() => this.#draw(), DRAW_MS);
  }

  /** Tells the page what has changed, if anything. */
  #draw(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    if (this.#store.disposed) return;
    const view = this.#view();
    const { name, state, buttons } = runPageState(view);
    const title = runPageTitle(name);
    if (this.#panel.title !== title) this.#panel.title = title;
    if (!this.#host.isReady) return;
    this.#buttons = buttons;
    this.#posted = this.#postIfNew(state, this.#posted);
    const texts = runPageClocks(view);
    this.#clocks = Object.keys(texts).join();
    this.#postedClocks = this.#postIfNew({ type: 'clocks', texts }, this.#postedClocks);
  }

  #postIfNew(message: RunPageMessage, posted: string): string {
    const text = JSON.stringify(message);
    if (text !== posted) this.#host.post(message);
    return text;
  }

  #view(): RunPageView {
    const { accountId, runId } = this.#memory;
    const { accounts, sessions, downloads, linkTo } = this.#parts;
    const session = this.#session;
    // While it is read anew the last detail stands; what another API key read, or of a run that is gone, does not.
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
      receipt: this.#receipt,
      receiptState: this.#receiptState,
      isReading: session !== undefined && session === this.#reading,
      downloads,
      fileNow: (path) => this.#files.get(path),
      link: linkTo(runId),
      nowMs: session === undefined ? Date.now() : serviceNowMs(session),
    };
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
