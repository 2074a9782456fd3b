import * as vscode from 'vscode';
import { isAboutRun } from '../../core/api/errors.ts';
import { accountMoneyOf } from '../../core/money/accountMoney.ts';
import { GROUPS, type ChargedRun } from '../../core/money/spending.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Receipt } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import { AccountPage, type AccountPageParts } from '../shared/accountPage.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';
import { reportError } from '../shared/log.ts';
import { isBoolean, isOneOf, isRecord, isText, WebviewPanels } from '../shared/webview.ts';
import { exportSpending } from './exportSpending.ts';
import type {
  SpendAction,
  SpendButton,
  SpendMemory,
  SpendRequest,
  SpendState,
  SpendView,
} from './protocol.ts';
import { COLUMNS } from './spendRuns.ts';
import { spendPageState, spendPageTitle, type SpendFacts } from './spendView.ts';

/** Longer than for other pages: drawing counts all runs, which change constantly during a read. */
const DRAW_MS = 250;
const READING_DRAW_MS = 1_000;
/** How many rows are shown at first, and added by Load More. */
const ROWS = 200;
/** How many details are read when the user asks for prices, and how many at a time. */
const READS = 200;
const READS_AT_ONCE = 4;
const MAX_ID_LENGTH = 400;
const MAX_SEARCH_LENGTH = 200;
const FIRST_VIEW: Readonly<SpendView> = { groupBy: 'month', search: '', sortBy: 'date', isDescending: true };

export type SpendPageParts = AccountPageParts & Pick<Services, 'submissions'>;

/** Returns the panels of the spend pages, one for each account. */
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

/** Owns the page of an account's spending. */
export class SpendPage extends AccountPage<SpendState, SpendRequest, SpendButton> {
  readonly #parts: SpendPageParts;
  #view: SpendView;
  #maxRows = ROWS;
  #receipts: readonly Receipt[] = [];
  #reading: SpendFacts['reading'];

  constructor({ accountId, view }: SpendMemory, panel: vscode.WebviewPanel, parts: SpendPageParts) {
    super(accountId, panel, parts);
    this.#view = viewOf(view);
    this.#parts = parts;
    this.store.add(parts.submissions.onDidChange(() => this.planDraw()));
    this.begin({
      page: 'spend',
      requests: {
        act: { action: isText, target: isText },
        view: { groupBy: isText, search: isText, sortBy: isText, isDescending: isBoolean },
      },
      onRequest: (request) => (request.type === 'act' ? this.act(request) : this.#show(viewOf(request))),
    });
  }

  protected sessionChanged(): void {
    this.planDraw();
  }

  protected override drawDelayMs(): number {
    return this.#reading === undefined ? DRAW_MS : READING_DRAW_MS;
  }

  protected acceptReceipts(receipts: readonly Receipt[]): void {
    this.#receipts = receipts;
  }

  #show(view: SpendView): void {
    if (view.search !== this.#view.search || view.sortBy !== this.#view.sortBy) this.#maxRows = ROWS;
    this.#view = view;
    this.draw();
  }

  protected do({ action, target }: SpendButton): unknown {
    const { accountId } = this;
    const { executeCommand } = vscode.commands;
    const actions: Readonly<Record<SpendAction, () => unknown>> = {
      setBudget: () => executeCommand(COMMANDS.setBudget, { accountId, id: '' }),
      replaceKey: () => executeCommand(COMMANDS.replaceKey, accountId),
      showRun: () => executeCommand(COMMANDS.showRun, { accountId, id: target }),
      exportCsv: () => this.#export(),
      showMore: () => {
        this.#maxRows += ROWS;
        this.draw();
      },
      refresh: () => this.refresh(),
      loadRuns: () => this.#read('runs', loadAllRuns),
      readPrices: () =>
        this.#read('prices', (session, isOver) => readPrices(session, this.#charged(), isOver)),
    };
    return actions[action]();
  }

  async #read(
    what: NonNullable<SpendFacts['reading']>,
    work: (session: Session, isOver: () => boolean) => Promise<void>,
  ): Promise<void> {
    const { session } = this;
    if (session === undefined || this.#reading !== undefined) return;
    this.#reading = what;
    this.draw();
    try {
      await work(session, () => this.store.disposed);
    } catch (error) {
      const { log, sessions } = this.#parts;
      if (!this.store.disposed && !sessions.isReportedByState(error))
        reportError(log, error, () => void this.#read(what, work));
    } finally {
      this.#reading = undefined;
      this.draw();
    }
  }

  /** Exports all runs, regardless of the search. */
  #export(): Promise<void> {
    const { session } = this;
    return exportSpending({
      account: session?.account.name ?? this.#formerName() ?? '',
      nowMs: this.nowMs(),
      runs: () => this.#charged(),
      areAllLoaded: () => this.session?.isLocked === false && this.session.runs.isCompleteSince(0),
      log: this.#parts.log,
    });
  }

  protected title(): string {
    return spendPageTitle({ session: this.session, formerName: this.#formerName() });
  }

  protected state(): SpendState {
    return spendPageState(this.#facts());
  }

  #charged(): readonly ChargedRun[] {
    return this.#facts().money.charged;
  }

  #formerName(): string | undefined {
    return this.#parts.accounts.former.find(({ id }) => id === this.accountId)?.name;
  }

  #facts(): SpendFacts {
    const { accountId, session } = this;
    // Don't show data that was read with an API key that no longer works.
    const known = session?.isLocked === false ? session : undefined;
    return {
      accountId,
      session,
      formerName: this.#formerName(),
      receipts: this.receiptsLoading,
      money: accountMoneyOf({
        account: session?.account ?? { id: accountId },
        receipts: this.#receipts,
        runs: known?.runs,
        pending: this.#parts.submissions.pending,
        balance: known?.balance.current,
        nowMs: this.nowMs(),
      }),
      reading: this.#reading,
      view: this.#view,
      maxRows: this.#maxRows,
    };
  }
}

async function loadAllRuns({ runs }: Session, isOver: () => boolean): Promise<void> {
  if (runs.rows === undefined) await runs.refresh();
  while (runs.hasMore && !runs.isIncomplete && !isOver()) await runs.loadMore();
}

/** Reads the details of the newest runs without a known price; stops at an error that is not about the run. */
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
        // A run without details doesn't prevent reading the others.
        if (!isAboutRun(error)) isStopped = true;
      }
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readSome));
}
