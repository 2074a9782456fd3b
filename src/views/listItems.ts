import * as vscode from 'vscode';
import type { CommandId } from '../host/ids.ts';
import { formatMoment } from '../host/wording/pending.ts';
import { treeWords } from '../host/wording/runs.ts';
import { dayName, runCount } from '../host/wording/runsList.ts';
import { daysAgo, type RunDay } from '../runs/runDays.ts';
import type { Session } from '../runs/session.ts';

/** The row above the runs of a day. */
export function dayItem(day: RunDay, isUnfolded: boolean, nowMs: number): vscode.TreeItem {
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

/** What stands above the rows. @param filter what is said of the filter */
export function messageOf(
  { runs, account, state, isLocked, offlineSince }: Session,
  filter: string | undefined,
): string {
  // Nothing that a rejected key once read is shown.
  if (isLocked) return '';
  const parts: string[] = [];
  const isEmpty = (runs.rows ?? []).length === 0;
  if (state === 'offline' && !isEmpty && offlineSince !== undefined)
    parts.push(treeWords.offlineSince(formatMoment(offlineSince, Date.now())));
  // It answers, and not to this.
  if (state === 'ready' && !isEmpty && runs.failed) parts.push(treeWords.notRead());
  if (filter !== undefined && !isEmpty) parts.push(filter);
  if (account.kind === 'sandbox' && !isEmpty) parts.push(treeWords.sandbox());
  if (runs.skipped > 0) parts.push(treeWords.skipped(runs.skipped));
  return parts.join('\n');
}
