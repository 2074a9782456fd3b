import type { RunPage, RunSummary } from '../api/types.ts';

/**
 * Merges the newest page into the loaded rows. Rows of other pages stay. A row that should have stood on this page and
 * does not is gone; a row without `created_at` (just submitted, not listed yet) stays. Where the page and the loaded rows
 * do not touch, runs may be missing between them: then the page is all that is kept. Where it holds the oldest row that is
 * kept, the list goes on at its cursor (`restarted`).
 */
export function mergeFirstPage(
  rows: readonly RunSummary[],
  page: RunPage,
): { rows: readonly RunSummary[]; restarted: boolean } {
  const listed = new Set(page.data.map((row) => row.run_id));
  const waiting = rows.filter((row) => createdAtMs(row) === Infinity && !listed.has(row.run_id));
  const touches = rows.some((row) => listed.has(row.run_id));
  if (!page.has_more || !touches) return { rows: sorted([...waiting, ...page.data]), restarted: true };
  const oldest = Math.min(...page.data.map(createdAtMs));
  const older = rows.filter(
    (row) => !listed.has(row.run_id) && !waiting.includes(row) && createdAtMs(row) <= oldest,
  );
  return { rows: sorted([...waiting, ...page.data, ...older]), restarted: older.length === 0 };
}

/** Merges an older page: its rows replace the loaded ones with their ids. */
export function mergeLaterPage(rows: readonly RunSummary[], page: RunPage): readonly RunSummary[] {
  const listed = new Set(page.data.map((row) => row.run_id));
  return sorted([...rows.filter((row) => !listed.has(row.run_id)), ...page.data]);
}

/** Newest first, as the service lists; a row without a time was just submitted and stands first. */
function sorted(rows: RunSummary[]): RunSummary[] {
  const times = new Map(rows.map((row) => [row, createdAtMs(row)]));
  return rows.sort((a, b) => {
    const [left, right] = [times.get(a) ?? 0, times.get(b) ?? 0];
    return left === right ? 0 : right - left;
  });
}

function createdAtMs(row: RunSummary): number {
  const time = row.created_at === undefined ? NaN : Date.parse(row.created_at);
  return Number.isNaN(time) ? Infinity : time;
}
