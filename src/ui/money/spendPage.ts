import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { safeFileName } from '../../core/downloads/downloadTarget.ts';
import { accountMoneyOf } from '../../core/money/accountMoney.ts';
import { toCsv, toJsonl } from '../../core/money/exports.ts';
import { GROUPS, type ChargedRun } from '../../core/money/spending.ts';
import { isAnswer } from '../../core/runs/detailStore.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Receipt } from '../../core/submission/intent.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';
import { reportError } from '../shared/log.ts';
import { isBoolean, isOneOf, isRecord, isText, WebviewHost, WebviewPanels } from '../shared/webview.ts';
import { exportWords, notifyExported, notifyNotExported } from './messages.ts';
import type { SpendButton, SpendMemory, SpendRequest, SpendState, SpendView } from './protocol.ts';
import { COLUMNS, spendPageState, type SpendFacts } from './spendMessages.ts';

/** Changes that come together are drawn once. */
const DRAW_MS = 100;
/** While everything is read they come all the time. */
const READING_DRAW_MS = 1_000;
/** So many rows are added at a time. */
const ROWS = 200;
/** How many details are read when the user asks for prices, and how many at the same time. */
const READS = 200;
const READS_AT_ONCE = 4;
const MAX_ID_LENGTH = 400;
const MAX_SEARCH_LENGTH = 200;
const FIRST_VIEW: Readonly<SpendView> = { groupBy: 'month', search: '', sortBy: 'date', isDescending: true };

export type SpendPageParts = Pick<
  Services,
  'accounts' | 'context' | 'journal' | 'log' | 'openJournal' | 'sessions' | 'submitter'
>;

/** The open spend pages: one for each account. */
export function spendPanels(parts: SpendPageParts): WebviewPanels<SpendMemory, SpendPage> {
  return new WebviewPanels({
    viewType: PANELS.spend,
    memoryOf,
    keyOf: ({ accountId }) => accountId,
    create: (panel, memory) => new SpendPage(memory, panel, parts),
  });
}

function memoryOf(state: unknown): SpendMemory | undefined {
  if (!isRecord(state)) return undefined;
  const { accountId, view } = state;
  if (!isText(accountId) || accountId === '' || accountId.length > MAX_ID_LENGTH) return undefined;
  return { accountId, view: viewOf(view) };
}

function viewOf(view: unknown): SpendView {
  const { groupBy, search, sortBy, isDescending } = isRecord(view) ? view : {};
  return {
    groupBy: isOneOf(GROUPS)(groupBy) ? groupBy : FIRST_VIEW.groupBy,
    search: isText(search) ? search.slice(0, MAX_SEARCH_LENGTH) : FIRST_VIEW.search,
    sortBy: isOneOf(COLUMNS)(sortBy) ? sortBy : FIRST_VIEW.sortBy,
    isDescending: isBoolean(isDescending) ? isDescending : FIRST_VIEW.isDescending,
  };
}

/** Owns the page of what an account spent: posts what is known of it and does what its buttons ask for. */
export class SpendPage implements Disposable {
  readonly #accountId: string;
  readonly #panel: vscode.WebviewPanel;
  readonly #parts: SpendPageParts;
  readonly #store = new DisposableStore();
  readonly #host: WebviewHost<SpendState, SpendRequest>;
  #view: SpendView;
  #mostRows = ROWS;
  #following = new DisposableStore();
  #session: Session | undefined;
  #receipts: readonly Receipt[] = [];
  #receiptsLoading: SpendFacts['receipts'] = 'loading';
  #reading: SpendFacts['reading'];
  #state: SpendState | undefined;
  /** The last message, which is not repeated. */
  #posted = '';
  #drawTimer: NodeJS.Timeout | undefined;

  constructor({ accountId, view }: SpendMemory, panel: vscode.WebviewPanel, parts: SpendPageParts) {
    this.#accountId = accountId;
    this.#view = viewOf(view);
    this.#panel = panel;
    this.#parts = parts;
    const { accounts, context, journal, log, submitter } = parts;
    this.#follow();
    this.#readReceipts();
    panel.title = spendPageState(this.#facts()).tabTitle;
    this.#host = new WebviewHost(panel, {
      page: 'spend',
      extensionUri: context.extensionUri,
      title: panel.title,
      requests: {
        act: { action: isText, target: isText },
        view: { groupBy: isText, search: isText, sortBy: isText, isDescending: isBoolean },
      },
      onReady: () => {
        this.#posted = '';
        this.#draw();
      },
      onRequest: (request) => (request.type === 'act' ? this.#act(request) : this.#show(viewOf(request))),
      log,
    });
    for (const one of [
      { dispose: () => clearTimeout(this.#drawTimer) },
      { dispose: () => this.#following.dispose() },
      this.#host,
      accounts.onDidChange(() => this.#follow()),
      journal.onDidChange(() => this.#readReceipts()),
      submitter.onDidChange(() => this.#planDraw()),
    ])
      this.#store.add(one);
  }

  dispose(): void {
    this.#store.dispose();
  }

  /** Works with the account's session: another one where its address changed, none where the account is gone. */
  #follow(): void {
    const session = this.#parts.sessions.find(this.#accountId);
    this.#planDraw();
    if (session === this.#session) return;
    this.#following.dispose();
    this.#following = new DisposableStore();
    this.#session = session;
    this.#reading = undefined;
    if (session === undefined) return;
    const draw = () => this.#planDraw();
    for (const { onDidChange } of [session.runs, session.models, session.balance])
      this.#following.add(onDidChange(draw));
    this.#following.add(session.onDidChangeState(draw));
  }

  #readReceipts(): void {
    const { journal, openJournal, log } = this.#parts;
    openJournal()
      .then(() => journal.receipts())
      .then(
        (receipts) => {
          this.#receipts = receipts;
          this.#receiptsLoading = 'loaded';
        },
        (error: unknown) => {
          this.#receiptsLoading = 'failed';
          log.error('spend-page-receipts', error);
        },
      )
      .finally(() => this.#planDraw());
  }

  #show(view: SpendView): void {
    if (view.search !== this.#view.search || view.sortBy !== this.#view.sortBy) this.#mostRows = ROWS;
    this.#view = view;
    this.#draw();
  }

  /** Does what a button was offered for, and nothing else. */
  async #act({ action, target }: Extract<SpendRequest, { type: 'act' }>): Promise<void> {
    const buttons = this.#state === undefined ? [] : buttonsOf(this.#state);
    const pressed = buttons.find((one) => one.action === action && one.target === target);
    if (pressed === undefined || pressed.isDisabled === true) return;
    await this.#do(pressed);
  }

  #do({ action, target }: SpendButton): unknown {
    const { executeCommand } = vscode.commands;
    switch (action) {
      case 'setBudget':
        return executeCommand(COMMANDS.setBudget, { accountId: this.#accountId, id: '' });
      case 'replaceKey':
        return executeCommand(COMMANDS.replaceKey, this.#accountId);
      case 'showRun':
        return executeCommand(COMMANDS.showRun, { accountId: this.#accountId, id: target });
      case 'exportCsv':
        return this.#export('csv', toCsv);
      case 'exportJsonl':
        return this.#export('jsonl', toJsonl);
      case 'showMore':
        this.#mostRows += ROWS;
        this.#draw();
        return undefined;
      case 'refresh':
        return this.#refresh();
      case 'loadRuns':
        return this.#read('runs', loadAllRuns);
      case 'readPrices':
        return this.#read('prices', (session, isOver) => readPrices(session, this.#charged(), isOver));
    }
  }

  /** Failures show on the page, as the session's state. */
  async #refresh(): Promise<void> {
    const session = this.#session;
    if (session === undefined) return;
    session.runs.retryDetails();
    await Promise.allSettled([session.runs.refresh(), session.models.refresh(), session.balance.refresh()]);
  }

  async #read(
    what: NonNullable<SpendFacts['reading']>,
    work: (session: Session, isOver: () => boolean) => Promise<void>,
  ): Promise<void> {
    const session = this.#session;
    if (session === undefined || this.#reading !== undefined) return;
    this.#reading = what;
    this.#draw();
    try {
      await work(session, () => this.#store.disposed);
    } catch (error) {
      const { log, sessions } = this.#parts;
      if (!this.#store.disposed && !sessions.isReportedByState(error))
        reportError(log, error, () => void this.#read(what, work));
    } finally {
      if (session === this.#session) this.#reading = undefined;
      this.#draw();
    }
  }

  /** Saves every run, whatever is searched for. */
  async #export(ending: 'csv' | 'jsonl', textOf: (runs: readonly ChargedRun[]) => string): Promise<void> {
    const { account, formerName } = this.#facts();
    const day = new Date(this.#nowMs()).toISOString().slice(0, 10);
    const name = safeFileName(exportWords.fileName(account?.name ?? formerName ?? '', day), 'spending');
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(homedir());
    const file = await vscode.window.showSaveDialog({
      title: exportWords.title(),
      defaultUri: vscode.Uri.joinPath(folder, `${name}.${ending}`),
      filters: { [ending.toUpperCase()]: [ending] },
    });
    if (file === undefined) return;
    const runs = this.#charged();
    try {
      await vscode.workspace.fs.writeFile(file, Buffer.from(textOf(runs)));
    } catch (error) {
      this.#parts.log.error('spend-export', error);
      notifyNotExported(file);
      return;
    }
    const isComplete = this.#session?.isLocked === false && this.#session.runs.isCompleteSince(0);
    notifyExported(runs.length, isComplete && runs.every(({ priceCents }) => priceCents !== undefined), file);
  }

  #planDraw(): void {
    const delayMs = this.#reading === undefined ? DRAW_MS : READING_DRAW_MS;
    this.#drawTimer ??= setTimeout(() => this.#draw(), delayMs);
  }

  /** Posts what has changed, if anything. */
  #draw(): void {
    clearTimeout(this.#drawTimer);
    this.#drawTimer = undefined;
    if (this.#store.disposed || !this.#host.isReady) return;
    const { tabTitle, state } = spendPageState(this.#facts());
    if (this.#panel.title !== tabTitle) this.#panel.title = tabTitle;
    const text = JSON.stringify(state);
    if (text === this.#posted) return;
    this.#state = state;
    this.#posted = text;
    this.#host.post(state);
  }

  #charged(): readonly ChargedRun[] {
    return this.#facts().money.charged;
  }

  #nowMs(): number {
    return this.#session === undefined ? Date.now() : serviceNowMs(this.#session);
  }

  #facts(): SpendFacts {
    const { accounts, submitter } = this.#parts;
    const session = this.#session;
    const account = accounts.accounts.find(({ id }) => id === this.#accountId);
    // Nothing that was read with a rejected API key is shown.
    const isReadable = session?.isLocked === false;
    return {
      accountId: this.#accountId,
      account,
      formerName: accounts.former.find(({ id }) => id === this.#accountId)?.name,
      session,
      receipts: this.#receiptsLoading,
      money: accountMoneyOf({
        account: account ?? { id: this.#accountId },
        receipts: this.#receipts,
        runs: isReadable ? session.runs : undefined,
        pending: submitter.pending,
        balance: isReadable ? session.balance.current : undefined,
        nowMs: this.#nowMs(),
      }),
      reading: this.#reading,
      view: this.#view,
      mostRows: this.#mostRows,
    };
  }
}

/** The buttons of a page: it may ask for nothing else. */
function buttonsOf({ actions, notices, runs }: SpendState): SpendButton[] {
  return [
    ...actions,
    ...notices.flatMap((notice) => notice.button ?? []),
    ...(runs?.rows ?? []).map(({ show }) => show),
    ...(runs?.more === undefined ? [] : [runs.more]),
  ];
}

async function loadAllRuns({ runs }: Session, isOver: () => boolean): Promise<void> {
  if (runs.rows === undefined) await runs.refresh();
  while (runs.hasMore && !runs.isIncomplete && !isOver()) await runs.loadMore();
}

/** Reads the details of the newest runs without a known price, until one cannot be read for want of an answer. */
async function readPrices(
  { runs }: Session,
  charged: readonly ChargedRun[],
  isOver: () => boolean,
): Promise<void> {
  const unread = charged
    .filter(({ isUnread }) => isUnread)
    .slice(0, READS)
    .values();
  let isStopped = false;
  const readSome = async () => {
    for (const { runId } of unread) {
      if (isStopped || isOver()) return;
      try {
        await runs.loadDetail(runId);
      } catch (error) {
        // One that has no details is no reason to leave the others.
        if (!isAnswer(error)) isStopped = true;
      }
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readSome));
}
