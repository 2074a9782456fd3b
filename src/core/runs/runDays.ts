import type { RunSummary } from '../api/types.ts';
import { instantOf } from '../base/instant.ts';

/** The runs of one day of the user's calendar, in their order. */
export interface RunDay {
  /** Such as `2026-05-03`. */
  key: string;
  /** Its first moment, in milliseconds since the epoch. */
  startMs: number;
  rows: RunSummary[];
}

/** Runs by the local day on which they were created, newest first; one that was just submitted has no time: it is of today. */
export function groupByDay(rows: readonly RunSummary[], nowMs: number): RunDay[] {
  const days = new Map<number, RunDay>();
  for (const run of rows) {
    const createdMs = instantOf(run.created_at);
    const startMs = startOfDay(Number.isNaN(createdMs) ? nowMs : createdMs);
    const day = days.get(startMs);
    if (day === undefined) days.set(startMs, { key: keyOf(startMs), startMs, rows: [run] });
    else day.rows.push(run);
  }
  return [...days.values()].sort((a, b) => b.startMs - a.startMs);
}

/** How many days of the calendar lie between a day and now; 0 is today. A day may have 23 hours. */
export function daysAgo(startMs: number, nowMs: number): number {
  return Math.round((startOfDay(nowMs) - startMs) / (24 * 60 * 60_000));
}

/** The first moment of the day of the user's calendar, in milliseconds since the epoch. */
export function startOfDay(timeMs: number): number {
  return new Date(timeMs).setHours(0, 0, 0, 0);
}

function keyOf(startMs: number): string {
  const date = new Date(startMs);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
