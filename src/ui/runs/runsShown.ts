import * as vscode from 'vscode';
import type { RunSummary } from '../../core/api/types.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { Emitter } from '../../core/base/event.ts';
import { CONTEXT_KEYS } from '../shared/ids.ts';
import { filterMessage } from './messages.ts';
import { groupByDay, startOfDay, type RunDay } from '../../core/runs/runDays.ts';
import { filterRuns, isEmptyFilter, type RunFilter } from '../../core/runs/runFilter.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { hasMarker } from '../../core/runs/marker.ts';
import { openMarkers, type PendingSubmission } from '../../core/submission/pendingSubmission.ts';

/** Whether runs are grouped by day, for windows to come. */
const GROUPED = 'runsGrouped';

/** Which of an account's loaded runs the view shows, and how. */
export interface ShownRuns {
  rows: readonly RunSummary[];
  /** The same rows by day, where they are grouped. */
  days: readonly RunDay[] | undefined;
  /** The day that is called today, in milliseconds since the epoch. */
  todayMs: number | undefined;
  /** Of how many they were chosen. */
  loaded: number;
  hasMore: boolean;
}

/** Whether the same rows are in the same places, whatever their texts. */
export function isSameList(a: ShownRuns | undefined, b: ShownRuns | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.hasMore !== b.hasMore || a.rows.length !== b.rows.length) return false;
  if (a.days?.length !== b.days?.length || a.todayMs !== b.todayMs) return false;
  if (
    a.days?.some(({ key, rows }, at) => key !== b.days?.[at]?.key || rows.length !== b.days[at].rows.length)
  )
    return false;
  return a.rows.every(({ run_id }, at) => run_id === b.rows[at]?.run_id);
}

/** Owns the filter and the grouping of the Runs view. */
export class RunsShown implements Disposable {
  readonly #memento: Pick<vscode.Memento, 'get' | 'update'>;
  readonly #subscription: Disposable;
  readonly #onDidChange = new Emitter<void>();
  #filter: RunFilter = { text: '', modelIds: [], phases: [] };
  #isGrouped: boolean;

  /** Fires when the filter or the grouping changed. */
  readonly onDidChange = this.#onDidChange.event;

  constructor(
    sessions: Pick<Sessions, 'onDidChangeActive'>,
    memento: Pick<vscode.Memento, 'get' | 'update'>,
  ) {
    this.#memento = memento;
    this.#isGrouped = memento.get(GROUPED, false);
    // Another account has other models.
    this.#subscription = sessions.onDidChangeActive(() =>
      this.filterBy({ text: '', modelIds: [], phases: [] }),
    );
    this.#setContext();
  }

  get filter(): RunFilter {
    return this.#filter;
  }

  get isFiltered(): boolean {
    return !isEmptyFilter(this.#filter);
  }

  filterBy(filter: RunFilter): void {
    this.#filter = filter;
    this.#setContext();
    this.#onDidChange.fire();
  }

  clearFilter(): void {
    this.filterBy({ text: '', modelIds: [], phases: [] });
  }

  async toggleGrouping(): Promise<void> {
    this.#isGrouped = !this.#isGrouped;
    this.#onDidChange.fire();
    await this.#memento.update(GROUPED, this.#isGrouped);
  }

  /**
   * The runs to show; none that were read with a rejected API key: the welcome text says what to do.
   * @param pending submissions, which have their own rows: beside its run, an open one would look like two charges
   */
  of(session: Session, nowMs: number, pending: readonly PendingSubmission[]): ShownRuns | undefined {
    if (session.isLocked) return undefined;
    const { account, runs, models } = session;
    const names = new Map<string, string>();
    const modelName = (modelId: string) => {
      const name = names.get(modelId) ?? models.nameOf(modelId);
      names.set(modelId, name);
      return name;
    };
    const markers = openMarkers(pending, account.id);
    const isOpen = ({ run_id }: RunSummary) =>
      markers.some((marker) => hasMarker(runs.label(run_id) ?? '', marker));
    const all = runs.rows ?? [];
    const settled = markers.length === 0 ? all : all.filter((run) => !isOpen(run));
    const rows = filterRuns(settled, this.#filter, {
      label: (runId) => runs.label(runId),
      phase: (run) => runs.phase(run),
      modelName,
    });
    const days = this.#isGrouped
      ? { days: groupByDay(rows, nowMs), todayMs: startOfDay(nowMs) }
      : { days: undefined, todayMs: undefined };
    return { rows, ...days, loaded: settled.length, hasMore: runs.hasMore };
  }

  /** The line above filtered runs. */
  message({ runs, models }: Session, shown: ShownRuns | undefined): string | undefined {
    if (shown === undefined || !this.isFiltered) return undefined;
    const { text, modelIds, phases } = this.#filter;
    const rows = runs.rows ?? [];
    const isUnknown = (runId: string) => runs.label(runId) === undefined && runs.detail(runId) === undefined;
    const unlabelled = text === '' ? 0 : rows.filter(({ run_id }) => isUnknown(run_id)).length;
    const { loaded, hasMore } = shown;
    const modelNames = modelIds.map((id) => models.nameOf(id));
    return filterMessage({ text, modelNames, phases, shown: shown.rows.length, loaded, unlabelled, hasMore });
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#onDidChange.dispose();
  }

  #setContext(): void {
    void vscode.commands.executeCommand('setContext', CONTEXT_KEYS.runsFiltered, this.isFiltered);
  }
}
