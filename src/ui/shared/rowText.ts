import type * as vscode from 'vscode';
import type { Event } from '../../core/base/event.ts';
import { formatTimesOfDay } from './format.ts';
import { sanitizeServiceText } from './serviceText.ts';

/** VS Code gives a row's label all width, and the description only the rest, which may begin with a time. */
const LABEL_UNITS = 16;
const LABEL_UNITS_WITH_TIME = 9;

/**
 * Shortens the label of a row so that the description after it remains readable.
 * @param time in the description, if any
 */
export function rowLabel(name: string, time?: string): string {
  return sanitizeServiceText(name, time === undefined ? LABEL_UNITS : LABEL_UNITS_WITH_TIME);
}

/** Adds a time after the first words of a row's description, where a narrow view still shows it. */
export function withTime(description: string, time: string | undefined): string {
  if (time === undefined) return description;
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
