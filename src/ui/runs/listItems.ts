import * as vscode from 'vscode';
import type { CommandId } from '../shared/ids.ts';
import { formatMoment } from '../shared/format.ts';
import { treeWords } from './messages.ts';
import { dayName, runCount } from './listMessages.ts';
import { daysAgo, type RunDay } from '../../core/runs/runDays.ts';
import type { Session } from '../../core/runs/session.ts';

/** Days are unfolded at first as long as no more runs than these stand there. */
const UNFOLDED = 100;

/** The row above the runs of a day. */
export function dayItem(days: readonly RunDay[], key: string, nowMs: number): vscode.TreeItem {
  const at = days.findIndex((day) => day.key === key);
  const day = days[at];
  if (day === undefined) return new vscode.TreeItem(key);
  const isUnfolded = days.slice(0, at).reduce((sum, { rows }) => sum + rows.length, 0) < UNFOLDED;
  const name = dayName(day.startMs, daysAgo(day.startMs, nowMs));
  const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
  const item = new vscode.TreeItem(name, isUnfolded ? Expanded : Collapsed);
  // VS Code remembers how a row of this id is: one that unfolds because a filter left few rows is another row.
  item.id = `day:${day.key}:${isUnfolded ? 'unfolded' : 'folded'}`;
  item.description = String(day.rows.length);
  item.tooltip = `${name}, ${runCount(day.rows.length)}`;
  item.contextValue = 'day';
  return item;
}

/** A row that stands for a command. */
export function commandItem(id: string, icon: string, title: string, command: CommandId): vscode.TreeItem {
  const item = new vscode.TreeItem(title);
  item.id = id;
  item.iconPath = new vscode.ThemeIcon(icon);
  item.command = { command, title };
  return item;
}

/** What stands above the rows. @param filter what is said of the filter @param submissions those that are not settled */
export function messageOf(
  { runs, account, state, isLocked, offlineSince }: Session,
  filter: string | undefined,
  submissions: readonly unknown[] = [],
): string {
  // Nothing that a rejected key once read is shown; where nothing else stands there either, the welcome text says why.
  if (isLocked) return submissions.length === 0 ? '' : treeWords.locked(state === 'key-missing');
  const parts: string[] = [];
  const isEmpty = (runs.rows ?? []).length === 0;
  if (state === 'offline' && !isEmpty && offlineSince !== undefined)
    parts.push(treeWords.offlineSince(formatMoment(offlineSince, Date.now())));
  // It answers, and not to this.
  if (state === 'ready' && !isEmpty && runs.failed) parts.push(treeWords.notRead());
  if (filter !== undefined && !isEmpty) parts.push(filter);
  if (account.kind === 'sandbox' && !isEmpty) parts.push(treeWords.sandbox());
  if (runs.isIncomplete) parts.push(treeWords.incomplete());
  if (runs.skipped > 0) parts.push(treeWords.skipped(runs.skipped));
  return parts.join('\n');
}
