import type * as vscode from 'vscode';
import type { Event } from '../../core/base/event.ts';
import { formatTimesOfDay } from './format.ts';

/** Adds a time, or another difference, after the first words of a row's description, where a narrow view shows it. */
export function withTime(description: string, time: string | undefined): string {
  if (!time) return description;
  const [first = '', ...others] = description.split(' · ');
  return [first, time, ...others].join(' · ');
}

/** Returns times, by ID, for rows that would read alike. @param text all that a row shows */
export function timesOfAlike(
  rows: readonly { id: string; text: string; atMs: number }[],
): ReadonlyMap<string, string> {
  const times = new Map<string, string>();
  const known = rows.filter(({ atMs }) => !Number.isNaN(atMs));
  for (const alike of Map.groupBy(known, ({ text }) => text).values()) {
    if (alike.length === 1) continue;
    const texts = formatTimesOfDay(alike.map(({ atMs }) => atMs));
    for (const [index, { id }] of alike.entries()) times.set(id, texts[index] ?? '');
  }
  return times;
}

/** The rows above the runs in the Runs view. */
export interface RowsAboveRuns {
  /** The message above all rows, or empty; and when it changed. */
  readonly message: string;
  readonly onDidChangeMessage: Event<void>;
  /** In the order of the rows. */
  readonly rowIds: readonly string[];
  /** The rows whose text changes every second, without an event. */
  readonly tickingIds: readonly string[];
  item(id: string): vscode.TreeItem;
}
