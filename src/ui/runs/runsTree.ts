import * as vscode from 'vscode';
import type { RunSummary } from '../../core/api/types.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import type { DownloadState } from '../../core/downloads/types.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { NotificationLedger } from '../../core/runs/notificationLedger.ts';
import type { Submitter } from '../../core/submission/submitter.ts';
import { followActive } from '../shared/activeSession.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { runDescription, type RunView } from '../shared/runMessages.ts';
import type { RunsSection } from '../shared/runsSection.ts';
import { runTooltip, treeWords } from './messages.ts';
import {
  CommandItem,
  DayItem,
  FactItem,
  factRows,
  RunDownloads,
  RunItem,
  runView,
  type DownloadsShown,
  type RunsNode,
} from './runRows.ts';
import { RunsBadge } from './runsBadge.ts';
import { isSameList, type RunsShown, type ShownRuns } from './runsShown.ts';
import { TreeUpdates } from './treeUpdates.ts';

/** While the view is visible relative times are drawn this often, */
const REDRAW_MS = 30_000;
/** and the progress of uploads and downloads this often: a row that is drawn between press and release loses the click. */
const TICK_MS = 1_000;

const MORE: Readonly<RunsNode> = { kind: 'more' };
/** In place of the runs that a filter hides. */
const NONE: Readonly<RunsNode> = { kind: 'none' };

export interface RunsTreeParts {
  sessions: Sessions;
  /** Its open submissions hide their own runs. */
  submitter: Pick<Submitter, 'pending'>;
  submissions: RunsSection;
  downloads: DownloadsShown;
  ledger: Pick<NotificationLedger, 'unseen' | 'see' | 'follow' | 'onDidChangeUnseen'>;
  shown: RunsShown;
}

/** Shows the open submissions of all accounts and the active account's runs, newest first; a run expands into its details. */
export class RunsTree implements vscode.TreeDataProvider<RunsNode>, Disposable {
  readonly #sessions: Sessions;
  readonly #submitter: Pick<Submitter, 'pending'>;
  readonly #submissions: RunsSection;
  readonly #shown: RunsShown;
  readonly #downloads: RunDownloads;
  readonly #view: vscode.TreeView<RunsNode>;
  readonly #badge: RunsBadge;
  readonly #subscriptions: Disposable[] = [];
  readonly #onDidShow = new vscode.EventEmitter<void>();
  readonly #updates = new TreeUpdates();
  /** One object for each row: VS Code finds a row by it. */
  readonly #nodes = new Map<string, RunsNode>();
  readonly #downloadStates = new Map<string, DownloadState | undefined>();
  #list: ShownRuns | undefined;
  #currency: string | undefined;
  #redraw: NodeJS.Timeout | undefined;
  #tick: NodeJS.Timeout | undefined;

  readonly onDidChangeTreeData = this.#updates.onDidChange;

  /** Fires when the view is shown. */
  readonly onDidShow = this.#onDidShow.event;

  constructor({ sessions, submitter, submissions, downloads, ledger, shown }: RunsTreeParts) {
    this.#sessions = sessions;
    this.#submitter = submitter;
    this.#submissions = submissions;
    this.#shown = shown;
    this.#downloads = new RunDownloads(downloads);
    this.#view = vscode.window.createTreeView(VIEWS.runs, { treeDataProvider: this, showCollapseAll: false });
    this.#badge = new RunsBadge(sessions, this.#view, ledger);
    this.#subscriptions.push(
      this.#view,
      this.#badge,
      followActive(sessions, (session) => this.#follow(session)),
      submissions.onDidChange((id) => this.#drawSubmission(id)),
      downloads.onDidChange(({ accountId, runId }) => this.#drawDownload(accountId, runId)),
      shown.onDidChange(() => this.#draw()),
      this.#view.onDidChangeVisibility(() => this.#planRedraw()),
    );
    this.#planRedraw();
  }

  get isVisible(): boolean {
    return this.#view.visible;
  }

  getChildren(node?: RunsNode): RunsNode[] | Promise<RunsNode[]> {
    const session = this.#sessions.active;
    if (session === undefined) return node === undefined ? this.#submissionRows() : [];
    if (node === undefined) {
      this.#list = this.#listOf(session);
      return this.#updates.given(this.#roots());
    }
    if (node.kind === 'day') return this.#runs(this.#list?.days?.find(({ key }) => key === node.key)?.rows);
    // A row of the account before may still be asked for.
    const isOwn = node.kind === 'run' && session.runs.get(node.runId) !== undefined;
    return isOwn ? factRows(session, node.runId) : [];
  }

  getParent(node: RunsNode): RunsNode | undefined {
    if (node.kind === 'fact') return this.#run(node.runId);
    if (node.kind !== 'run') return undefined;
    const day = this.#list?.days?.find(({ rows }) => rows.some(({ run_id }) => run_id === node.runId));
    return day && this.#day(day.key);
  }

  getTreeItem(node: RunsNode): vscode.TreeItem {
    switch (node.kind) {
      case 'submission':
        return this.#submissions.item(node.id);
      case 'day':
        return this.#dayItem(node.key);
      case 'run':
        return this.#runItem(node.runId);
      case 'fact':
        return new FactItem(node.runId, node.fact);
      case 'more':
        return new CommandItem('more', 'ellipsis', treeWords.loadMore(), COMMANDS.loadMoreRuns);
      case 'none':
        return new CommandItem('none', 'filter', treeWords.noneMatch(), COMMANDS.clearRunsFilter);
    }
  }

  resolveTreeItem(item: vscode.TreeItem, node: RunsNode): vscode.TreeItem {
    const view = node.kind === 'run' ? this.#viewOf(node.runId) : undefined;
    if (view !== undefined) item.tooltip = runTooltip(view);
    return item;
  }

  /** Selects a run in the view, if the view shows it. */
  async reveal(runId: string): Promise<void> {
    if (this.#list?.rows.some(({ run_id }) => run_id === runId) !== true) return;
    await this.#view.reveal(this.#run(runId), { select: true, focus: false, expand: false });
  }

  dispose(): void {
    clearInterval(this.#redraw);
    clearInterval(this.#tick);
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#updates.dispose();
    this.#onDidShow.dispose();
  }

  #follow(session: Session | undefined): Disposable[] {
    this.#nodes.clear();
    this.#downloadStates.clear();
    this.#updates.forget();
    this.#downloads.changed();
    this.#draw();
    if (session === undefined) return [];
    return [
      session.runs.onDidChange(({ added, changed }) => this.#drawRuns(session, [...added, ...changed])),
      session.models.onDidChange(() => this.#draw()),
      session.balance.onDidChange(() => this.#drawCurrency(session)),
      session.onDidChangeState(() => this.#draw()),
    ];
  }

  /** Draws everything that changed: rows that come, go or move, or the texts of all. */
  #draw(): void {
    const before = this.#list;
    this.#drawHead();
    const session = this.#sessions.active;
    if (session === undefined || !isSameList(before, this.#list)) this.#drawList();
    else this.#updates.all(this.#roots(), this.#runs(this.#list?.rows));
  }

  /** Draws what is above the rows, and the badge; `#list` is the current list afterwards. */
  #drawHead(): void {
    const session = this.#sessions.active;
    this.#list = session && this.#listOf(session);
    const filter = session && this.#shown.message(session, this.#list);
    const submissions = this.#submissionRows();
    if (session !== undefined) this.#view.message = messageOf(session, filter, submissions.length > 0);
    else this.#view.message = submissions.length === 0 ? '' : treeWords.noAccount();
    this.#badge.draw();
  }

  #drawList(): void {
    this.#updates.list(this.#list?.rows.length ?? 0);
  }

  /** Prices are shown in the currency of the balance. */
  #drawCurrency({ balance: { current } }: Session): void {
    if (current?.currency === this.#currency) return;
    this.#currency = current?.currency;
    this.#draw();
  }

  /** Draws only rows that changed where the list is the same: of ten thousand, VS Code draws all or these. */
  #drawRuns(session: Session, runIds: readonly string[]): void {
    const before = this.#list;
    this.#drawHead();
    if (!isSameList(before, this.#list)) this.#drawList();
    else this.#updates.rows(runIds.filter((id) => session.runs.get(id)).map((id) => this.#run(id)));
  }

  #drawDownload(accountId: string, runId: string): void {
    this.#downloads.changed();
    const session = this.#sessions.active;
    if (session?.account.id !== accountId) return;
    // Without the ID of a run: all downloaded files were read.
    if (session.runs.get(runId) === undefined) {
      this.#drawTimes();
      return;
    }
    const state = this.#downloads.active(accountId, runId)?.state;
    const isProgress = state === 'downloading' && this.#downloadStates.get(runId) === state;
    this.#downloadStates.set(runId, state);
    if (!isProgress) this.#updates.rows([this.#run(runId)]);
  }

  #drawSubmission(id: string | undefined): void {
    if (id === undefined) this.#draw();
    else this.#updates.rows([this.#submission(id)]);
  }

  #drawProgress(): void {
    this.#updates.rows(this.#submissions.tickingIds.map((id) => this.#submission(id)));
    const { active } = this.#sessions;
    if (active !== undefined) this.#updates.rows(this.#stale(this.#downloads.downloading(active.account.id)));
  }

  /** Draws the rows whose text changed with time: most have not changed for days. */
  #drawTimes(): void {
    const before = this.#list;
    this.#drawHead();
    if (!isSameList(before, this.#list)) {
      this.#drawList();
      return;
    }
    const runIds = (this.#list?.rows ?? []).map(({ run_id }) => run_id);
    this.#updates.rows(this.#stale(runIds));
  }

  #stale(runIds: readonly string[]): RunsNode[] {
    const nowMs = this.#nowMs();
    const isStale = (view: RunView | undefined) =>
      view !== undefined && this.#updates.isStale(view.run.run_id, runDescription(view, nowMs));
    return runIds.filter((runId) => isStale(this.#viewOf(runId))).map((runId) => this.#run(runId));
  }

  #planRedraw(): void {
    clearInterval(this.#redraw);
    clearInterval(this.#tick);
    if (!this.#view.visible) return;
    this.#onDidShow.fire();
    this.#drawTimes();
    this.#redraw = setInterval(() => this.#drawTimes(), REDRAW_MS);
    this.#tick = setInterval(() => this.#drawProgress(), TICK_MS);
  }

  #listOf(session: Session): ShownRuns | undefined {
    return this.#shown.of(session, serviceNowMs(session), this.#submitter.pending);
  }

  #roots(): RunsNode[] {
    const submissions = this.#submissionRows();
    if (this.#list === undefined) return submissions;
    const { rows, days, loaded, hasMore } = this.#list;
    const isNone = rows.length === 0 && loaded > 0;
    return [
      ...submissions,
      ...(days?.map(({ key }) => this.#day(key)) ?? this.#runs(rows)),
      ...(isNone ? [NONE] : []),
      ...(hasMore ? [MORE] : []),
    ];
  }

  #submissionRows(): RunsNode[] {
    return this.#submissions.rowIds.map((id) => this.#submission(id));
  }

  #runs(rows: readonly RunSummary[] = []): RunsNode[] {
    return rows.map(({ run_id }) => this.#run(run_id));
  }

  /** By the service's clock. */
  #nowMs(): number {
    return this.#sessions.active === undefined ? Date.now() : serviceNowMs(this.#sessions.active);
  }

  #viewOf(runId: string): RunView | undefined {
    const session = this.#sessions.active;
    const run = session?.runs.get(runId);
    return session === undefined || run === undefined ? undefined : runView(session, run, this.#downloads);
  }

  #runItem(runId: string): vscode.TreeItem {
    const view = this.#viewOf(runId);
    if (view === undefined) return new vscode.TreeItem(runId);
    const nowMs = this.#nowMs();
    this.#updates.drew(runId, runDescription(view, nowMs));
    return new RunItem(view, this.#sessions.active?.state === 'offline', nowMs);
  }

  #dayItem(key: string): vscode.TreeItem {
    const days = this.#list?.days ?? [];
    const index = days.findIndex((day) => day.key === key);
    const day = days[index];
    return day === undefined ? new vscode.TreeItem(key) : new DayItem(day, index, days, this.#nowMs());
  }

  #run(runId: string): RunsNode {
    return this.#node({ kind: 'run', runId }, runId);
  }

  #day(key: string): RunsNode {
    return this.#node({ kind: 'day', key }, key);
  }

  #submission(id: string): RunsNode {
    return this.#node({ kind: 'submission', id }, id);
  }

  #node(node: RunsNode, id: string): RunsNode {
    const key = `${node.kind} ${id}`;
    const known = this.#nodes.get(key) ?? node;
    this.#nodes.set(key, known);
    return known;
  }
}

/** The lines above the rows. @param filter what is said of the filter */
function messageOf(
  { runs, account, state, isLocked, offlineSince }: Session,
  filter: string | undefined,
  hasSubmissions: boolean,
): string {
  // Nothing that was read with a rejected API key is shown; in an empty view the welcome text says why.
  if (isLocked) return hasSubmissions ? treeWords.locked(state === 'key-missing') : '';
  const lines: string[] = [];
  const isEmpty = (runs.rows ?? []).length === 0;
  if (state === 'offline' && !isEmpty && offlineSince !== undefined)
    lines.push(treeWords.offlineSince(offlineSince));
  if (state === 'ready' && !isEmpty && runs.failed) lines.push(treeWords.notRead());
  if (filter !== undefined && !isEmpty) lines.push(filter);
  if (account.kind === 'sandbox' && !isEmpty) lines.push(treeWords.sandbox());
  if (runs.isIncomplete) lines.push(treeWords.incomplete());
  if (runs.skipped > 0) lines.push(treeWords.skipped(runs.skipped));
  return lines.join('\n');
}
