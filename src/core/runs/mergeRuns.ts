import type { RunPage, RunSummary } from '../api/types.ts';
import { instantOf } from '../base/instant.ts';

/**
 * Merges the newest page, or the newest ones together, into the loaded rows. Rows of other pages stay. A row that should
 * have stood there and does not is gone; a row without `created_at` (just submitted, not listed yet) stays. Where the page
 * and the loaded rows do not touch, runs may be missing between them: then the page is all that is kept. Where it holds the
 * oldest row that is kept, the list goes on at its cursor (`restarted`).
 * @param doTouch where that is known from elsewhere, such as when what is missing is about to be read
 */
export function mergeFirstPage(
  rows: readonly RunSummary[],
  page: RunPage,
  doTouch?: boolean,
): { rows: readonly RunSummary[]; restarted: boolean } {
  const listed = new Set(page.data.map((row) => row.run_id));
  const waiting: RunSummary[] = [];
  const older: RunSummary[] = [];
  const oldest = oldestMs(page.data);
  let meet = false;
  for (const row of rows) {
    if (listed.has(row.run_id)) meet = true;
    else if (createdAtMs(row) === Infinity) waiting.push(row);
    else if (createdAtMs(row) <= oldest) older.push(row);
  }
  if (!page.has_more || !(doTouch ?? meet))
    return { rows: sorted([...waiting, ...page.data]), restarted: true };
  return { rows: sorted([...waiting, ...page.data, ...older]), restarted: older.length === 0 };
}

/** Merges an older page: its rows replace the loaded ones with their ids. */
export function mergeLaterPage(rows: readonly RunSummary[], page: RunPage): readonly RunSummary[] {
  const listed = new Set(page.data.map((row) => row.run_id));
  return sorted([...rows.filter((row) => !listed.has(row.run_id)), ...page.data]);
}

/** When a run was made, in milliseconds since the epoch; Infinity where that is not told: it was just submitted. */
export function createdAtMs(row: RunSummary): number {
  const time = instantOf(row.created_at);
  return Number.isNaN(time) ? Infinity : time;
}

/** When the oldest of some runs was made. */
export function oldestMs(rows: readonly RunSummary[]): number {
  return rows.reduce((oldest, row) => Math.min(oldest, createdAtMs(row)), Infinity);
}

/** Newest first, as the service lists; a row without a time was just submitted and stands first. */
function sorted(rows: RunSummary[]): RunSummary[] {
  const times = rows.map(createdAtMs);
  // The usual case, and the only one with many rows.
  if (times.every((time, index) => index === 0 || time <= (times[index - 1] ?? 0))) return rows;
  return rows
    .map((row, index) => ({ row, time: times[index] ?? 0 }))
    .sort((a, b) => (a.time === b.time ? 0 : b.time - a.time))
    .map(({ row }) => row);
}
