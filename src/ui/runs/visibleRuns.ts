import * as vscode from 'vscode';
import type { RunSummary } from '../../core/api/types.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { Emitter } from '../../core/base/event.ts';
import { lazyBy } from '../../core/base/async.ts';
import { hasMarker } from '../../core/runs/marker.ts';
import { matchingRuns, isEmptyFilter, type RunFilter } from './runFilter.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { openMarkers, type PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { CONTEXT_KEYS } from '../shared/ids.ts';

const ALL: Readonly<RunFilter> = { text: '', modelIds: [], phases: [] };

/** The loaded runs that the view shows. */
export interface RowsOfRuns {
  rows: readonly RunSummary[];
  /** The number of runs before filtering. */
  loaded: number;
}

/** Owns the filter of the Runs view. */
export class VisibleRuns implements Disposable {
  readonly #subscription: Disposable;
  readonly #onDidChange = new Emitter<void>();
  #filter: RunFilter = ALL;

  /** Fires when the filter changes. */
  readonly onDidChange = this.#onDidChange.event;

  constructor(sessions: Pick<Sessions, 'onDidChangeActive'>) {
    // Another account has other models.
    this.#subscription = sessions.onDidChangeActive(() => this.clearFilter());
    this.clearFilter();
  }

  get filter(): RunFilter {
    return this.#filter;
  }

  get isFiltered(): boolean {
    return !isEmptyFilter(this.#filter);
  }

  filterBy(filter: RunFilter): void {
    this.#filter = filter;
    void vscode.commands.executeCommand('setContext', CONTEXT_KEYS.runsFiltered, this.isFiltered);
    this.#onDidChange.fire();
  }

  clearFilter(): void {
    this.filterBy(ALL);
  }

  /**
   * Returns the runs to show. Undefined if no API key works, as the welcome text explains.
   * @param pending submissions; those in progress hide their runs, or one charge would look like two
   */
  of(
    { account, runs, models, isLocked }: Session,
    pending: readonly PendingSubmission[],
  ): RowsOfRuns | undefined {
    if (isLocked) return undefined;
    const markers = openMarkers(pending, account.id);
    const isOpen = ({ run_id }: RunSummary) =>
      markers.some((marker) => hasMarker(runs.label(run_id) ?? '', marker));
    const all = runs.rows ?? [];
    const settled = markers.length === 0 ? all : all.filter((run) => !isOpen(run));
    const rows = matchingRuns(settled, this.#filter, {
      label: (runId) => runs.label(runId),
      phase: (run) => runs.phase(run),
      modelName: lazyBy((modelId) => models.nameOf(modelId)),
    });
    return { rows, loaded: settled.length };
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#onDidChange.dispose();
  }
}
