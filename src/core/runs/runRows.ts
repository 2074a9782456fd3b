import type { RunSummary } from '../api/types.ts';
import { createdAtMs } from './runPages.ts';
import { UNKNOWN_WATCHED_MS } from './pacing.ts';
import { phaseOf, type Phase } from './phase.ts';

/** A run that changed while it was known, also before this window began: its status or whether it has artifacts. */
export interface Moved {
  runId: string;
  before: RunSummary;
  after: RunSummary;
}

/** What is different since the rows were read before. */
export interface RowChange {
  added: string[];
  changed: string[];
  moved: Moved[];
  isAnyRemoved: boolean;
}

/** How long artifacts are waited for after a run was seen to be finished without them. */
const ARTIFACTS_WATCHED_MS = 60 * 60_000;

/** Owns the rows that are known of an account's runs, newest first, and when each was last seen to change. */
export class RunRows {
  readonly #now: () => number;
  #all: readonly RunSummary[] | undefined;
  #byId = new Map<string, RunSummary>();
  /** By this machine's clock; of a run that was not seen to change: when it was made. */
  readonly #changedAtMs = new Map<string, number>();
  /** Runs that had ended when only a detail was known of them: it does not say whether there are artifacts. */
  readonly #endedUnlisted = new Set<string>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Undefined until some were read. */
  get all(): readonly RunSummary[] | undefined {
    return this.#all;
  }

  get(runId: string): RunSummary | undefined {
    return this.#byId.get(runId);
  }

  /**
   * Takes over a merged list.
   * @param listed the rows of it that were read now: the others are as they were
   * @param changedAtMs when some of them changed, where another window saw it
   */
  accept(
    all: readonly RunSummary[],
    listed: readonly RunSummary[],
    changedAtMs: ReadonlyMap<string, number> = new Map(),
  ): RowChange {
    const change: RowChange = { added: [], changed: [], moved: [], isAnyRemoved: false };
    for (const row of listed) {
      const before = this.#byId.get(row.run_id);
      this.#note(before, row, change);
      this.#byId.set(row.run_id, row);
      const seenAtMs = changedAtMs.get(row.run_id);
      if (seenAtMs !== undefined) this.#changedAtMs.set(row.run_id, seenAtMs);
    }
    if (this.#byId.size > all.length) {
      change.isAnyRemoved = true;
      this.#byId = new Map(all.map((row) => [row.run_id, row]));
      for (const runId of this.#changedAtMs.keys())
        if (!this.#byId.has(runId)) this.#changedAtMs.delete(runId);
    }
    this.#all = all;
    return change;
  }

  /** A run has ended before any list had it: what the next one says of it is no change. */
  noteEndedUnlisted(runId: string): void {
    this.#endedUnlisted.add(runId);
  }

  clear(): void {
    this.#all = undefined;
    this.#byId = new Map();
    this.#changedAtMs.clear();
    this.#endedUnlisted.clear();
  }

  /** When a run was last seen to change, in milliseconds since the epoch. */
  changedAtMs(row: RunSummary): number {
    const nowMs = this.#now();
    // A clock may have been set back since.
    return Math.min(nowMs, this.#changedAtMs.get(row.run_id) ?? Math.min(nowMs, createdAtMs(row)));
  }

  /** Whether a run counts as active: an unknown status may be the last one, and counts for a week. */
  isActive(row: RunSummary, phase: Phase): boolean {
    return phase === 'waiting' || (phase === 'active' && this.#isRecent(row));
  }

  /** Whether a change of a run is waited for. */
  isWatched(row: RunSummary, phase: Phase): boolean {
    if (phase !== 'finished') return phase === 'waiting' || this.#isRecent(row);
    return (
      !row.artifacts_available &&
      row.artifacts_expires_at === undefined &&
      this.#now() - (this.#changedAtMs.get(row.run_id) ?? -Infinity) < ARTIFACTS_WATCHED_MS
    );
  }

  #isRecent(row: RunSummary): boolean {
    return this.#now() - this.changedAtMs(row) < UNKNOWN_WATCHED_MS;
  }

  #note(before: RunSummary | undefined, row: RunSummary, { added, changed, moved }: RowChange): void {
    const runId = row.run_id;
    const wasEnded = this.#endedUnlisted.delete(runId) && phaseOf(row) === 'finished';
    if (before === undefined) {
      added.push(runId);
      if (createdAtMs(row) === Infinity) this.#changedAtMs.set(runId, this.#now());
      return;
    }
    const isOther = before.status !== row.status || before.artifacts_available !== row.artifacts_available;
    if (isOther && !wasEnded) {
      moved.push({ runId, before, after: row });
      this.#changedAtMs.set(runId, this.#now());
    } else if (JSON.stringify(before) === JSON.stringify(row)) return;
    changed.push(runId);
  }
}
