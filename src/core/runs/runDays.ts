import type { RunSummary } from '../api/types.ts';
import { instantOf } from '../base/instant.ts';

/** The runs of one day of the user's calendar, in their order. */
export interface RunDay {
  /** Its first moment, in milliseconds since the epoch. */
  startMs: number;
  rows: RunSummary[];
}

/** Runs by the local day on which they were created, newest first; one that was just submitted has no time: it is of today. */
export function groupByDay(rows: readonly RunSummary[], nowMs: number): RunDay[] {
  const days = Map.groupBy(rows, ({ created_at }) => startOfDay(instantOf(created_at) || nowMs));
  return [...days].map(([startMs, of]) => ({ startMs, rows: of })).sort((a, b) => b.startMs - a.startMs);
}

/** How many days of the calendar lie between a day and now; 0 is today. A day may have 23 hours. */
export function daysAgo(startMs: number, nowMs: number): number {
  return Math.round((startOfDay(nowMs) - startMs) / (24 * 60 * 60_000));
}

/** The first moment of the day of the user's calendar, in milliseconds since the epoch. */
export function startOfDay(timeMs: number): number {
  return new Date(timeMs).setHours(0, 0, 0, 0);
}
