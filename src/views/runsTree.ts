import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import type { RunSummary } from '../api/types.ts';
import { COMMANDS, VIEWS } from '../host/ids.ts';
import { formatClock } from '../host/wording/format.ts';
import { asText, explain } from '../host/wording/errors.ts';
import {
  runAccessibleLabel,
  runDescription,
  runFacts,
  runTooltip,
  treeWords,
  type Fact,
  type RunView,
} from '../host/wording/runs.ts';
import { withoutMarker } from '../runs/marker.ts';
import type { PendingSubmission } from '../runs/pendingSubmission.ts';
import type { Session } from '../runs/session.ts';
import type { Sessions } from '../runs/sessions.ts';
import type { Submitter } from '../runs/submitter.ts';
import { followActive } from './activeSession.ts';
import { submissionItem } from './submissionItem.ts';
import { UploadPace } from './uploadPace.ts';

/** A row of the Runs view. Commands take the `run` and `submission` rows as their argument. */
export type RunsNode =
  | { kind: 'submission'; id: string }
  | { kind: 'run'; runId: string }
  | { kind: 'fact'; runId: string; fact: Fact }
  | { kind: 'more' };

/** Relative times are drawn anew this often while the view is visible. */
const REDRAW_MS = 30_000;
/** And the time until the next attempt. */
const TICK_MS = 1_000;

/** Shows pending submissions and the active account's runs, newest first; a run unfolds into its details. */
export class RunsTree implements vscode.TreeDataProvider<RunsNode>, Disposable {
  readonly #sessions: Sessions;
  readonly #submitter: Submitter;
  readonly #view: vscode.TreeView<RunsNode>;
  readonly #subscriptions: Disposable[] = [];
  readonly #onDidChange = new vscode.EventEmitter<RunsNode | undefined>();
  /** One object per row, since `reveal` and the redraw of one row find it by identity. */
  readonly #runNodes = new Map<string, RunsNode & { kind: 'run' }>();
  readonly #submissionNodes = new Map<string, RunsNode & { kind: 'submission' }>();
  readonly #uploadPace = new UploadPace();
  #redraw: NodeJS.Timeout | undefined;
  #tick: NodeJS.Timeout | undefined;

  readonly onDidChangeTreeData = this.#onDidChange.event;

  constructor(sessions: Sessions, submitter: Submitter) {
    this.#sessions = sessions;
    this.#submitter = submitter;
    this.#view = vscode.window.createTreeView(VIEWS.runs, { treeDataProvider: this, showCollapseAll: false });
    this.#subscriptions.push(
      this.#view,
      followActive(sessions, (session) => this.#follow(session)),
      submitter.onDidChange((submission) => this.#drawUpload(submission)),
      this.#view.onDidChangeVisibility(() => this.#planRedraw()),
    );
    this.#planRedraw();
  }

  getChildren(node?: RunsNode): RunsNode[] | Promise<RunsNode[]> {
    const session = this.#sessions.active;
    if (session === undefined) return [];
    if (node === undefined) return this.#roots(session);
    return node.kind === 'run' ? this.#facts(session, node.runId) : [];
  }

  getParent(node: RunsNode): RunsNode | undefined {
    return node.kind === 'fact' ? this.#runNodes.get(node.runId) : undefined;
  }

  getTreeItem(node: RunsNode): vscode.TreeItem {
    switch (node.kind) {
      case 'submission':
        return this.#submissionItem(node);
      case 'run':
        return this.#runItem(node);
      case 'fact':
        return factItem(node.runId, node.fact);
      case 'more': {
        const item = new vscode.TreeItem(treeWords.loadMore());
        item.id = 'more';
        item.iconPath = new vscode.ThemeIcon('ellipsis');
        item.command = { command: COMMANDS.loadMoreRuns, title: treeWords.loadMore() };
        return item;
      }
    }
  }

  /** Shows a run in the view, unfolded if asked; a run that the active account's list does not hold is left. */
  async reveal(runId: string, expand: boolean): Promise<void> {
    if (this.#sessions.active?.runs.get(runId) === undefined) return;
    await this.#view.reveal(this.#runNode(runId), { select: true, focus: expand, expand });
  }

  dispose(): void {
    clearInterval(this.#redraw);
    clearInterval(this.#tick);
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#onDidChange.dispose();
  }

  #follow(session: Session | undefined): Disposable[] {
    this.#runNodes.clear();
    this.#draw();
    if (session === undefined) return [];
    const draw = () => this.#draw();
    return [
      session.runs.onDidChange(draw),
      session.models.onDidChange(draw),
      session.balance.onDidChange(draw),
      session.onDidChangeState(draw),
    ];
  }

  #draw(): void {
    const session = this.#sessions.active;
    this.#view.message = session === undefined ? '' : messageOf(session);
    // Runs that are not shown are not counted either.
    const active = session === undefined || session.isLocked ? 0 : session.runs.activeCount;
    this.#view.badge = active === 0 ? undefined : { value: active, tooltip: treeWords.activeRuns(active) };
    this.#onDidChange.fire(undefined);
  }

  #drawUpload(submission: PendingSubmission): void {
    const isPending = this.#submitter.pending.some(({ id }) => id === submission.id);
    const part = this.#uploadPace.next(submission, isPending, Date.now());
    if (!isPending) this.#submissionNodes.delete(submission.id);
    if (part === 'list') this.#draw();
    // A row that was never shown, such as another account's, is nothing to draw.
    const node = part === 'row' ? this.#submissionNodes.get(submission.id) : undefined;
    if (node !== undefined) this.#onDidChange.fire(node);
  }

  #drawWaiting(): void {
    for (const { id, state } of this.#submitter.pending) {
      const node = state === 'waiting' ? this.#submissionNodes.get(id) : undefined;
      if (node !== undefined) this.#onDidChange.fire(node);
    }
  }

  #planRedraw(): void {
    clearInterval(this.#redraw);
    clearInterval(this.#tick);
    if (!this.#view.visible) return;
    this.#redraw = setInterval(() => this.#draw(), REDRAW_MS);
    this.#tick = setInterval(() => this.#drawWaiting(), TICK_MS);
  }

  #roots(session: Session): RunsNode[] {
    // Nothing that a rejected key once read is shown: the welcome text says what to do.
    if (session.isLocked) return this.#submissions(session);
    const rows = session.runs.rows ?? [];
    return [
      ...this.#submissions(session),
      ...rows.map((row) => this.#runNode(row.run_id)),
      ...(session.runs.hasMore ? [{ kind: 'more' } as const] : []),
    ];
  }

  #submissions(session: Session): RunsNode[] {
    return this.#submitter.pending
      .filter(({ accountId }) => accountId === session.account.id)
      .map(({ id }) => {
        const node = this.#submissionNodes.get(id) ?? { kind: 'submission', id };
        this.#submissionNodes.set(id, node);
        return node;
      });
  }

  async #facts(session: Session, runId: string): Promise<RunsNode[]> {
    try {
      const failure = session.runs.detailFailure(runId);
      if (failure !== undefined) return [failureFact(runId, failure)];
      const detail = session.runs.detail(runId) ?? (await session.runs.loadDetail(runId));
      const currency = session.balance.current?.currency;
      return runFacts(detail, session.models.nameOf(detail.model_id), currency).map((fact) => ({
        kind: 'fact',
        runId,
        fact,
      }));
    } catch (error) {
      return [failureFact(runId, error)];
    }
  }

  #runNode(runId: string): RunsNode & { kind: 'run' } {
    let node = this.#runNodes.get(runId);
    if (node === undefined) {
      node = { kind: 'run', runId };
      this.#runNodes.set(runId, node);
    }
    return node;
  }

  #runItem({ runId }: RunsNode & { kind: 'run' }): vscode.TreeItem {
    const session = this.#sessions.active;
    const run = session?.runs.get(runId);
    if (session === undefined || run === undefined) return new vscode.TreeItem(runId);
    const view = viewOf(session, run);
    const item = new vscode.TreeItem(view.label ?? view.modelName, vscode.TreeItemCollapsibleState.Collapsed);
    item.id = `run:${runId}`;
    item.description = runDescription(view, Date.now());
    item.tooltip = runTooltip(view);
    item.accessibilityInformation = { label: runAccessibleLabel(view, Date.now()) };
    item.iconPath = iconOf(view.phase);
    item.contextValue = run.artifacts_available ? 'run.downloadable' : 'run';
    return item;
  }

  #submissionItem({ id }: RunsNode & { kind: 'submission' }): vscode.TreeItem {
    const submission = this.#submitter.pending.find((pending) => pending.id === id);
    if (submission === undefined) return new vscode.TreeItem('');
    const modelId = submission.intent.model_id;
    const modelName = this.#sessions.active?.models.nameOf(modelId) ?? modelId;
    return submissionItem(submission, modelName, Date.now());
  }
}

function failureFact(runId: string, error: unknown): RunsNode {
  const name = treeWords.detailsFailed(asText(explain(error)));
  return { kind: 'fact', runId, fact: { icon: 'warning', name, value: '' } };
}

function viewOf(session: Session, run: RunSummary): RunView {
  // The marker is for the extension: the details and the service show it.
  const label = withoutMarker(session.runs.label(run.run_id) ?? '');
  return {
    run,
    phase: session.runs.phase(run),
    modelName: session.models.nameOf(run.model_id),
    label: label === '' ? undefined : label,
  };
}

function iconOf(phase: RunView['phase']): vscode.ThemeIcon {
  if (phase === 'finished') return new vscode.ThemeIcon('pass', new vscode.ThemeColor('testing.iconPassed'));
  // No spinner: a status that is not known may be the last one.
  return new vscode.ThemeIcon(phase === 'waiting' ? 'clockface' : 'pulse');
}

function factItem(runId: string, fact: Fact): vscode.TreeItem {
  const item = new vscode.TreeItem(fact.name);
  item.id = `fact:${runId}:${fact.name}`;
  item.description = fact.value;
  item.tooltip = fact.value === '' ? fact.name : `${fact.name}: ${fact.value}`;
  item.iconPath = new vscode.ThemeIcon(fact.icon);
  item.contextValue = 'fact';
  return item;
}

function messageOf(session: Session): string {
  const parts: string[] = [];
  const isEmpty = (session.runs.rows ?? []).length === 0;
  if (session.state === 'offline' && !isEmpty && session.offlineSince !== undefined)
    parts.push(treeWords.offlineSince(formatClock(session.offlineSince)));
  if (session.account.kind === 'sandbox' && !isEmpty) parts.push(treeWords.sandbox());
  if (session.runs.skipped > 0) parts.push(treeWords.skipped(session.runs.skipped));
  return parts.join('\n');
}
