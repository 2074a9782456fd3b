import type * as vscode from 'vscode';
import type { Event } from '../../core/base/event.ts';
import { compact, formatTimesOfDay } from './format.ts';
import { sanitizeServiceText } from './serviceText.ts';

/** VS Code gives a row's label all width, and the description, with money first, only the rest. */
const LABEL_UNITS = 16;
const LABEL_UNITS_WITH_TIME = 9;

/**
 * Shortens the label of a row so that the description after it remains readable.
 * @param time in the description, if any
 */
export function rowLabel(name: string, time?: string): string {
  return sanitizeServiceText(name, time === undefined ? LABEL_UNITS : LABEL_UNITS_WITH_TIME);
}

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

/**
 * Returns what tells rows of one name apart: the fact that differs most, and a time if they would still read alike.
 * @param facts in order of preference; `text` is all else that a row shows
 */
export function differencesOfAlike(
  rows: readonly { id: string; name: string; text: string; atMs: number; facts: readonly string[] }[],
): ReadonlyMap<string, string> {
  const told = new Map<string, string>();
  for (const alike of Map.groupBy(rows, ({ name }) => name).values()) {
    const [first] = alike;
    const values = first?.facts.map((_, at) => new Set(alike.map(({ facts }) => facts[at]))) ?? [];
    const most = Math.max(...values.map(({ size }) => size));
    const chosen = values.findIndex(({ size }) => size === most);
    if (most > 1) for (const { id, facts } of alike) told.set(id, facts[chosen] ?? '');
  }
  const texts = rows.map((row) => ({ ...row, text: [row.name, row.text, told.get(row.id)].join('\n') }));
  for (const [id, time] of timesOfAlike(texts)) told.set(id, compact(told.get(id), time).join(' · '));
  return told;
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
