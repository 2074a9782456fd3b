import * as vscode from 'vscode';
import { instantOf } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import type { Notices } from '../../core/runs/notices.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import { followActive, type Sessions } from '../../core/runs/sessions.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { isCharged, type ChargedReceipt, type Receipt } from '../../core/submission/submission.ts';
import type { Submissions } from '../../core/submission/submissions.ts';
import { compact, formatRows } from '../shared/format.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { withTime, type RowsAboveRuns } from '../shared/rowText.ts';
import type { RunView } from '../shared/runText.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';
import { runsMessage } from './linesAboveRows.ts';
import {
  CommandItem,
  differencesOfAlike,
  type DownloadsByRun,
  downloadsByRun,
  runDescription,
  RunItem,
  type RunsNode,
  runView,
  shownRuns,
} from './runRows.ts';
import { showRunsBadge } from './runsBadge.ts';
import { TreeUpdates } from './treeUpdates.ts';

/** How often relative times are redrawn while the view is visible. */
const REDRAW_MS = 30_000;
/** How often progress is redrawn. A row that is redrawn between press and release loses the click. */
const TICK_MS = 1_000;

const MORE: Readonly<RunsNode> = { kind: 'more' };

export interface RunsTreeParts {
  sessions: Sessions;
  /** Runs of submissions in progress are hidden. */
  submissions: Pick<Submissions, 'pending' | 'onDidChange'>;
  /** The rows of open submissions, above the runs. */
  rowsAbove: RowsAboveRuns;
  downloads: Pick<Downloads, 'active' | 'records' | 'onDidChange'>;
  notices: Pick<Notices, 'unseenCount' | 'markSeen' | 'follow' | 'onDidChangeUnseen'>;
  /** Returns the receipts as last read. */
  knownReceipts: () => readonly Receipt[];
  /** Returns the receipts of an account's charges. */
  receiptsOf: (accountId: string) => Promise<readonly ChargedReceipt[]>;
}

/** Shows the open submissions of all accounts and the active account's runs, newest first. */
export class RunsTree implements vscode.TreeDataProvider<RunsNode>, Disposable {
  readonly #parts: RunsTreeParts;
  readonly #view: vscode.TreeView<RunsNode>;
  readonly #subscriptions: readonly Disposable[];
  readonly #onDidShow = new vscode.EventEmitter<void>();
  readonly #updates = new TreeUpdates();
  /** One object per row, since VS Code finds a row by its object. */
  readonly #nodes = new Map<string, RunsNode>();
  /** The IDs of the runs in the view. */
  #runIds: readonly string[] = [];
  /** All rows in order. */
  #rows: readonly RunsNode[] = [];
  #downloads: DownloadsByRun | undefined;
  /** What distinguishes runs of one name; determined when a row is drawn. */
  #differences: ReadonlyMap<string, string> | undefined;
  #redraw: NodeJS.Timeout | undefined;
  #tick: NodeJS.Timeout | undefined;

  readonly onDidChangeTreeData = this.#updates.onDidChange;

  /** Fires when the view becomes visible. */
  readonly onDidShow = this.#onDidShow.event;

  constructor(parts: RunsTreeParts) {
    const { sessions, rowsAbove, submissions, downloads } = parts;
    this.#parts = parts;
    this.#view = vscode.window.createTreeView(VIEWS.runs, { treeDataProvider: this });
    this.#subscriptions = [
      this.#view,
      showRunsBadge(sessions, parts.notices, this.#view),
      followActive(sessions, (session) => this.#follow(session)),
      submissions.onDidChange((submission) => this.#drawSubmission(submission)),
      rowsAbove.onDidChangeMessage(() => this.#drawMessage()),
      downloads.onDidChange(({ accountId, runId }) => this.#drawDownload(accountId, runId)),
      this.#view.onDidChangeVisibility(() => this.#planRedraw()),
    ];
    this.#planRedraw();
  }

  get isVisible(): boolean {
    return this.#view.visible;
  }

  getChildren(node?: RunsNode): RunsNode[] {
    if (node !== undefined) return [];
    this.#updateRows();
    this.#updates.fetched(this.#rows.length);
    return [...this.#rows];
  }

  getTreeItem(node: RunsNode): vscode.TreeItem {
    switch (node.kind) {
      case 'submission':
        return this.#parts.rowsAbove.item(node.id);
      case 'run':
        return this.#runItem(node.runId);
      case 'more':
        return new CommandItem('more', 'ellipsis', TERMS.loadMore, COMMANDS.loadMoreRuns);
    }
  }

  async resolveTreeItem(item: vscode.TreeItem, node: RunsNode): Promise<vscode.TreeItem> {
    const { active } = this.#parts.sessions;
    const view = node.kind === 'run' ? this.#viewOf(node.runId) : undefined;
    if (active === undefined || view === undefined) return item;
    const { runTooltip } = await import('./runTooltip.ts');
    const receipts = await this.#parts.receiptsOf(active.account.id).catch(() => []);
    const detail = active.runs.detail(view.run.run_id);
    item.tooltip = runTooltip(view, detail, receipts);
    return item;
  }

  dispose(): void {
    clearInterval(this.#redraw);
    clearInterval(this.#tick);
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#updates.dispose();
    this.#onDidShow.dispose();
  }

  /** Shows the runs of another session. Returns what to dispose with it. */
  #follow(session: Session | undefined): Disposable[] {
    this.#nodes.clear();
    this.#updates.forget();
    this.#downloads = undefined;
    this.#view.description = session && sanitizeServiceText(session.account.name);
    this.#draw();
    if (session === undefined) return [];
    return [
      session.runs.onDidChange(({ added, changed }) => this.#drawRuns([...added, ...changed])),
      session.models.onDidChange(() => this.#draw()),
      session.onDidChangeState(() => this.#draw()),
    ];
  }

  /** Redraws what changed. @param isChanged selects the rows to redraw if none was added, removed, or moved */
  #draw(isChanged: (row: RunsNode) => boolean = () => true): void {
    const before = this.#rows;
    this.#updateRows();
    const isSame = before.length === this.#rows.length && before.every((row, at) => row === this.#rows[at]);
    if (isSame) this.#updates.rows(this.#rows.filter(isChanged));
    else this.#updates.list(this.#rows.length);
    // Update the rows first: VS Code delays later updates by 200 ms, too long after a switch of accounts.
    this.#drawMessage();
  }

  #drawSubmission({ id, state, sentBytes }: PendingSubmission): void {
    const isOpen = this.#parts.submissions.pending.some((pending) => pending.id === id);
    // Progress is drawn by the tick.
    if (isOpen && state === 'uploading' && sentBytes > 0) return;
    this.#draw((row) => row.kind === 'submission' && row.id === id);
  }

  #drawRuns(runIds: readonly string[]): void {
    const changed = new Set(runIds);
    this.#draw((row) => row.kind === 'run' && changed.has(row.runId));
  }

  /** Redraws all submissions, and runs with outdated text; most runs' text hasn't changed for days. */
  #drawTimes(): void {
    this.#draw((row) => row.kind === 'submission' || (row.kind === 'run' && this.#isStale(row.runId)));
  }

  #drawProgress(): void {
    const submissions = this.#parts.rowsAbove.tickingIds.map((id) => this.#submission(id));
    const runs = [...(this.#downloads?.active.keys() ?? [])].filter((runId) => this.#isStale(runId));
    this.#updates.rows([...submissions, ...runs.map((runId) => this.#run(runId))]);
  }

  #drawDownload(accountId: string, runId: string): void {
    this.#downloads = undefined;
    const session = this.#parts.sessions.active;
    if (session?.account.id !== accountId) return;
    // A run that is not loaded has no row of its own to redraw.
    if (session.runs.get(runId) === undefined) this.#drawTimes();
    // Progress is drawn by the tick.
    else if (this.#downloadsOf(session).active.get(runId)?.state !== 'downloading') this.#drawRuns([runId]);
  }

  #drawMessage(): void {
    const { sessions, rowsAbove } = this.#parts;
    const message = compact(rowsAbove.message, this.#messageOf(sessions.active)).join(' · ');
    if (this.#view.message !== message) this.#view.message = message;
  }

  #messageOf(session: Session | undefined): string {
    const hasSubmissions = this.#parts.rowsAbove.rowIds.length > 0;
    if (session === undefined) return hasSubmissions ? TERMS.noAccount : '';
    return runsMessage(session, hasSubmissions);
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

  /** Determines the current rows. */
  #updateRows(): void {
    const { sessions, submissions, rowsAbove } = this.#parts;
    const { active } = sessions;
    this.#differences = undefined;
    this.#runIds = active === undefined ? [] : shownRuns(active, submissions.pending);
    const hasMore = active?.isLocked === false && active.runs.hasMore;
    this.#rows = [
      ...rowsAbove.rowIds.map((id) => this.#submission(id)),
      ...this.#runIds.map((runId) => this.#run(runId)),
      ...(hasMore ? [MORE] : []),
    ];
  }

  /** By the service's clock. */
  #nowMs(): number {
    const { active } = this.#parts.sessions;
    return active === undefined ? Date.now() : serviceNowMs(active);
  }

  #viewOf(runId: string): RunView | undefined {
    const session = this.#parts.sessions.active;
    const run = session?.runs.get(runId);
    return session && run && runView(session, run, this.#downloadsOf(session));
  }

  #downloadsOf({ account }: Session): DownloadsByRun {
    return (this.#downloads ??= downloadsByRun(this.#parts.downloads, account.id));
  }

  #isStale(runId: string): boolean {
    const view = this.#viewOf(runId);
    const nowMs = this.#nowMs();
    const text = view && withTime(runDescription(view, nowMs), this.#differenceOf(runId, nowMs));
    return text !== undefined && this.#updates.isStale(runId, text);
  }

  /** Returns what distinguishes a run from others of its name: rows or model, or the time. */
  #differenceOf(runId: string, nowMs: number): string | undefined {
    const receipts = this.#differences ? [] : this.#parts.knownReceipts().filter(isCharged);
    const rowsOf = new Map(receipts.map(({ charge, dataset }) => [charge.run.run_id, dataset.rows]));
    this.#differences ??= differencesOfAlike(
      this.#runIds.flatMap((id) => {
        const view = this.#viewOf(id);
        if (view === undefined) return [];
        const { label: name = view.modelName, modelName } = view;
        const { created_at } = view.run;
        const rows = rowsOf.get(id);
        const facts = [rows === undefined ? '' : formatRows(rows), modelName];
        return [{ id, name, text: runDescription(view, nowMs), atMs: instantOf(created_at), facts }];
      }),
    );
    return this.#differences.get(runId);
  }

  #runItem(runId: string): vscode.TreeItem {
    const view = this.#viewOf(runId);
    if (view === undefined) return new vscode.TreeItem(runId);
    const nowMs = this.#nowMs();
    const isOffline = this.#parts.sessions.active?.state === 'offline';
    const item = new RunItem(view, isOffline, nowMs, this.#differenceOf(runId, nowMs));
    this.#updates.drew(runId, String(item.description));
    return item;
  }

  #run(runId: string): RunsNode {
    return this.#node(`run ${runId}`, { kind: 'run', runId });
  }

  #submission(id: string): RunsNode {
    return this.#node(`submission ${id}`, { kind: 'submission', id });
  }

  #node(key: string, node: RunsNode): RunsNode {
    const known = this.#nodes.get(key) ?? node;
    this.#nodes.set(key, known);
    return known;
  }
}
