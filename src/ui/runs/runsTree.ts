import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { runDescription, runTooltip, treeWords, type RunView } from './messages.ts';
import type { RunSummary } from '../../core/api/types.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { Submitter } from '../../core/submission/submitter.ts';
import type { NotificationLedger } from '../../core/runs/notificationLedger.ts';
import { followActive } from '../shared/activeSession.ts';
import type { RunsSection } from '../shared/runsSection.ts';
import { factItem, factRows } from './factRows.ts';
import { commandItem, dayItem, messageOf } from './listItems.ts';
import { ProgressPace } from './progressPace.ts';
import { RunDownloads, type DownloadsShown } from './runDownloads.ts';
import { runItem, runView } from './runItem.ts';
import { RunsBadge } from './runsBadge.ts';
import { RunsDrawing } from './runsDrawing.ts';
import { RunsNodes, type RunsNode } from './runsNodes.ts';
import { isSameList, type RunsShown, type ShownRuns } from './runsShown.ts';

/** Relative times are drawn anew this often while the view is visible. */
const REDRAW_MS = 30_000;
/** And the time until the next attempt, and how far uploads and downloads are. */
const TICK_MS = 1_000;

export interface RunsTreeParts {
  sessions: Sessions;
  /** Its open submissions hide their own runs. */
  submitter: Pick<Submitter, 'pending'>;
  submissions: RunsSection;
  downloads: DownloadsShown;
  told: Pick<NotificationLedger, 'unseen' | 'see' | 'follow' | 'onDidChangeUnseen'>;
  shown: RunsShown;
}

/** Shows the submissions of all accounts that are not settled and the active account's runs, newest first; a run unfolds into its details. */
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
  readonly #nodes = new RunsNodes();
  readonly #pace = new ProgressPace();
  readonly #drawing = new RunsDrawing();
  #list: ShownRuns | undefined;
  #currency: string | undefined;
  #redraw: NodeJS.Timeout | undefined;
  #tick: NodeJS.Timeout | undefined;

  readonly onDidChangeTreeData = this.#drawing.onDidChange;

  /** Fires when the view comes to be seen. */
  readonly onDidShow = this.#onDidShow.event;

  constructor({ sessions, submitter, submissions, downloads, told, shown }: RunsTreeParts) {
    this.#sessions = sessions;
    this.#submitter = submitter;
    this.#submissions = submissions;
    this.#shown = shown;
    this.#downloads = new RunDownloads(downloads);
    this.#view = vscode.window.createTreeView(VIEWS.runs, { treeDataProvider: this, showCollapseAll: false });
    this.#badge = new RunsBadge(sessions, this.#view, told);
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
      return this.#drawing.given(this.#roots());
    }
    if (node.kind === 'day') return this.#runs(this.#list?.days?.find(({ key }) => key === node.key)?.rows);
    // A row of the account before may still be asked for.
    const isOwn = node.kind === 'run' && session.runs.get(node.runId) !== undefined;
    return isOwn ? factRows(session, node.runId) : [];
  }

  getParent(node: RunsNode): RunsNode | undefined {
    if (node.kind === 'fact') return this.#nodes.run(node.runId);
    if (node.kind !== 'run') return undefined;
    const day = this.#list?.days?.find(({ rows }) => rows.some(({ run_id }) => run_id === node.runId));
    return day && this.#nodes.day(day.key);
  }

  getTreeItem(node: RunsNode): vscode.TreeItem {
    switch (node.kind) {
      case 'submission':
        return this.#submissions.item(node.id);
      case 'day':
        return dayItem(this.#list?.days ?? [], node.key, this.#nowMs());
      case 'run':
        return this.#runItem(node.runId);
      case 'fact':
        return factItem(node.runId, node.fact);
      case 'more':
        return commandItem('more', 'ellipsis', treeWords.loadMore(), COMMANDS.loadMoreRuns);
      case 'none':
        return commandItem('none', 'filter', treeWords.noneFits(), COMMANDS.clearRunsFilter);
    }
  }

  /** The tooltip of a run when it is asked for: its times cost more than all the rest of a row. */
  resolveTreeItem(item: vscode.TreeItem, node: RunsNode): vscode.TreeItem {
    const view = node.kind === 'run' ? this.#viewOf(node.runId) : undefined;
    if (view !== undefined) item.tooltip = runTooltip(view);
    return item;
  }

  /** Shows a run in the view, unfolded if asked; a run that the view does not show is left. */
  async reveal(runId: string, expand: boolean): Promise<void> {
    if (this.#list?.rows.some(({ run_id }) => run_id === runId) !== true) return;
    await this.#view.reveal(this.#nodes.run(runId), { select: true, focus: expand, expand });
  }

  dispose(): void {
    clearInterval(this.#redraw);
    clearInterval(this.#tick);
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#drawing.dispose();
    this.#onDidShow.dispose();
  }

  #follow(session: Session | undefined): Disposable[] {
    this.#nodes.forgetRuns();
    this.#drawing.forget();
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

  /** Whatever stands there: rows that come, go or move, and what all of them say. */
  #draw(): void {
    const before = this.#list;
    this.#drawHead();
    const session = this.#sessions.active;
    if (session === undefined || !isSameList(before, this.#list)) this.#drawList();
    else this.#drawing.all(this.#roots(), this.#runs(this.#list?.rows));
  }

  /** What stands above and beside the rows; the list as it is now is known afterwards. */
  #drawHead(): void {
    const session = this.#sessions.active;
    this.#list = session && this.#listOf(session);
    const filter = session && this.#shown.message(session, this.#list);
    const submissions = this.#submissionRows();
    if (session !== undefined) this.#view.message = messageOf(session, filter, submissions);
    else this.#view.message = submissions.length === 0 ? '' : treeWords.noAccount();
    this.#badge.draw();
  }

  #drawList(): void {
    this.#drawing.list(this.#list?.rows.length ?? 0);
  }

  /** Prices are shown in the currency of the balance, the only one that is told. */
  #drawCurrency({ balance: { current } }: Session): void {
    if (current?.currency === this.#currency) return;
    this.#currency = current?.currency;
    this.#draw();
  }

  /** Where the same rows stand in the same order, only those that changed: of ten thousand, VS Code draws all or these. */
  #drawRuns(session: Session, runIds: readonly string[]): void {
    const before = this.#list;
    this.#drawHead();
    if (!isSameList(before, this.#list)) this.#drawList();
    else this.#drawing.rows(runIds.filter((id) => session.runs.get(id)).map((id) => this.#nodes.run(id)));
  }

  #drawDownload(accountId: string, runId: string): void {
    this.#downloads.changed();
    const session = this.#sessions.active;
    if (session?.account.id !== accountId) return;
    // Without the id of a run: all that came home.
    if (session.runs.get(runId) === undefined) this.#drawTimes();
    else if (this.#pace.next(`run ${runId}`, this.#downloads.active(accountId, runId)?.state, true))
      this.#drawing.rows([this.#nodes.run(runId)]);
  }

  #drawSubmission(id: string | undefined): void {
    if (id === undefined) this.#draw();
    else this.#drawing.rows([this.#nodes.submission(id)]);
  }

  #drawProgress(): void {
    this.#drawing.rows(this.#submissions.tickingIds.map((id) => this.#nodes.submission(id)));
    const runIds = this.#downloads.progressing(this.#sessions.active?.account.id);
    this.#drawing.rows(this.#stale(runIds));
  }

  /** The rows that say something else now than when they were drawn: most have not changed for days. */
  #drawTimes(): void {
    const before = this.#list;
    this.#drawHead();
    if (!isSameList(before, this.#list)) {
      this.#drawList();
      return;
    }
    const runIds = (this.#list?.rows ?? []).map(({ run_id }) => run_id);
    this.#drawing.rows(this.#stale(runIds));
  }

  #stale(runIds: readonly string[]): RunsNode[] {
    const nowMs = this.#nowMs();
    const isStale = (view: RunView | undefined) =>
      view !== undefined && this.#drawing.isStale(view.run.run_id, runDescription(view, nowMs));
    return runIds.filter((runId) => isStale(this.#viewOf(runId))).map((runId) => this.#nodes.run(runId));
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
      ...(days?.map(({ key }) => this.#nodes.day(key)) ?? this.#runs(rows)),
      ...(isNone ? [this.#nodes.none] : []),
      ...(hasMore ? [this.#nodes.more] : []),
    ];
  }

  #submissionRows(): RunsNode[] {
    return this.#submissions.rowIds.map((id) => this.#nodes.submission(id));
  }

  #runs(rows: readonly RunSummary[] = []): RunsNode[] {
    return rows.map(({ run_id }) => this.#nodes.run(run_id));
  }

  /** By the service's clock, which tells its times. */
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
    this.#drawing.drew(runId, runDescription(view, nowMs));
    return runItem(view, this.#sessions.active?.state === 'offline', nowMs);
  }
}
