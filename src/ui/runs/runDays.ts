import type { RunSummary } from '../../core/api/types.ts';
import { instantOf } from '../../core/base/clock.ts';

/** The runs of one local calendar day. */
export interface RunDay {
  /** The start of the day, in milliseconds since the epoch. */
  startMs: number;
  rows: RunSummary[];
}

/** Groups runs by local day, newest first. A run without a valid time is new and belongs to today. */
export function groupByDay(rows: readonly RunSummary[], nowMs: number): RunDay[] {
  const days = Map.groupBy(rows, ({ created_at }) => startOfDay(instantOf(created_at) || nowMs));
  return [...days].map(([startMs, of]) => ({ startMs, rows: of })).sort((a, b) => b.startMs - a.startMs);
}

/** Returns how many calendar days ago a day started; 0 is today. Rounds, as a day may have 23 hours. */
export function daysAgo(startMs: number, nowMs: number): number {
  return Math.round((startOfDay(nowMs) - startMs) / (24 * 60 * 60_000));
}

/** Returns the start of the local day, in milliseconds since the epoch. */
export function startOfDay(timeMs: number): number {
  return new Date(timeMs).setHours(0, 0, 0, 0);
}
