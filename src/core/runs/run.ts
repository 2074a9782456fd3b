import type { RunDetail, RunSummary } from '../api/types.ts';
import { instantOf } from '../base/clock.ts';

/** A run's details. The service sends no currency with them, so that of the balance is assumed at the first read. */
export type KnownDetail = RunDetail & { assumedCurrency?: string | undefined };

/**
 * The progress of a run. The list of states is incomplete (spec: "States and transitions"), so any other
 * status counts as active and is shown unchanged. `ended`: the status reads like an end, but is still
 * watched.
 */
export type Phase = 'waiting' | 'active' | 'finished' | 'ended';

/** Statuses that read like an end. A word such as “cancelling” says that the end is still to come. */
const END = /(?:fail|error|cancel|reject|expire|abort)(?!l?ing)/i;

/** Returns the phase. Lists say `complete`, details `completed`; an available artifact or an end time counts, too. */
export function phaseOf(run: RunSummary, detail?: RunDetail): Phase {
  const statuses = [run.status, detail?.status];
  if (statuses.includes('complete') || statuses.includes('completed')) return 'finished';
  if (run.artifacts_available || detail?.completed_at !== undefined) return 'finished';
  if (run.status === 'queued') return 'waiting';
  return END.test(run.status) ? 'ended' : 'active';
}

/** The timed phases of a run. */
export type Span = 'queue' | 'training';

/** Timestamps in milliseconds since the epoch; undefined if the service sent no valid time. */
export interface RunTimes {
  createdAtMs: number | undefined;
  startedAtMs: number | undefined;
  completedAtMs: number | undefined;
}

export function timesOf(run: Pick<RunDetail, 'created_at' | 'started_at' | 'completed_at'>): RunTimes {
  return {
    createdAtMs: timeOf(run.created_at),
    startedAtMs: timeOf(run.started_at),
    completedAtMs: timeOf(run.completed_at),
  };
}

/** Returns milliseconds since the epoch, or undefined if the text is not a valid time. */
export function timeOf(text: string | undefined): number | undefined {
  const ms = instantOf(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Returns the duration of a phase; undefined if an end is unknown or precedes the beginning. */
export function spanMs(times: RunTimes, span: Span): number | undefined {
  const beginMs = span === 'queue' ? times.createdAtMs : times.startedAtMs;
  const endMs = span === 'queue' ? times.startedAtMs : times.completedAtMs;
  if (beginMs === undefined || endMs === undefined || endMs < beginMs) return undefined;
  return endMs - beginMs;
}

/** The typical duration of a phase. */
export interface UsualTime {
  fromMs: number;
  toMs: number;
}

/** The minimum number of runs for a typical duration. */
const ENOUGH_RUNS = 3;

/**
 * Returns the middle half of a phase's durations in other runs: those of the same model if they are enough, else
 * all.
 */
export function usualTime(
  span: Span,
  { run_id, model_id }: Pick<RunDetail, 'run_id' | 'model_id'>,
  details: readonly RunDetail[],
): UsualTime | undefined {
  const others = details.filter((other) => other.run_id !== run_id);
  const spans = (runs: readonly RunDetail[]) => runs.flatMap((other) => spanMs(timesOf(other), span) ?? []);
  const ofModel = spans(others.filter((other) => other.model_id === model_id));
  const sorted = (ofModel.length < ENOUGH_RUNS ? spans(others) : ofModel).sort((a, b) => a - b);
  if (sorted.length < ENOUGH_RUNS) return undefined;
  const at = (share: number) => sorted[Math.round((sorted.length - 1) * share)] ?? 0;
  return { fromMs: at(0.25), toMs: at(0.75) };
}

/**
 * The state of a run's artifacts. `unknown`: the run finished, but the list hasn't said yet whether they are
 * available. `not-known`: the contract doesn't name the run's status, so there may be no artifacts.
 */
export interface ArtifactsState {
  kind: 'not-yet' | 'not-known' | 'available' | 'expired' | 'unknown';
  expiresAtMs: number | undefined;
}

/** Returns the state of a run’s artifacts. Once they expired, the list no longer counts. */
export function artifactsOf(run: RunSummary, detail: RunDetail | undefined, nowMs: number): ArtifactsState {
  const expiresAtMs = timeOf(run.artifacts_expires_at);
  const isOver = expiresAtMs !== undefined && expiresAtMs <= nowMs;
  if (isOver) return { kind: 'expired', expiresAtMs };
  if (run.artifacts_available) return { kind: 'available', expiresAtMs };
  const kinds = { waiting: 'not-yet', active: 'not-known', finished: 'unknown', ended: 'not-known' } as const;
  return { kind: kinds[phaseOf(run, detail)], expiresAtMs };
}
