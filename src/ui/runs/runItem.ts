import * as vscode from 'vscode';
import { MAX_LABEL_LENGTH, type RunSummary } from '../../core/api/types.ts';
import { COMMANDS } from '../shared/ids.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { runAccessibleLabel, runDescription, treeWords, type RunView } from './messages.ts';
import type { ActiveDownload } from '../../core/downloads/types.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import { offlineRow } from './offlineRows.ts';
import type { RunDownloads } from './runDownloads.ts';

/** What is known of a run, as its row shows it. */
export function runView(session: Session, run: RunSummary, downloads: RunDownloads): RunView {
  // The marker is for the extension: the details and the service show it. Another client may have sent any text.
  const label = sanitizeServiceText(withoutMarker(session.runs.label(run.run_id) ?? ''), MAX_LABEL_LENGTH);
  const { id } = session.account;
  const download = downloads.active(id, run.run_id);
  return {
    run,
    phase: session.runs.phase(run),
    modelName: sanitizeServiceText(session.models.nameOf(run.model_id)),
    label: label === '' ? undefined : label,
    isDownloaded: downloads.isHome(id, run.run_id),
    download: download && progressOf(download),
  };
}

/** The row of a run; its tooltip comes when it is asked for. Selecting it, or Enter, opens the run's page. */
export function runItem(view: RunView, isOffline: boolean, nowMs: number): vscode.TreeItem {
  const runId = view.run.run_id;
  const item = new vscode.TreeItem(view.label ?? view.modelName, vscode.TreeItemCollapsibleState.Collapsed);
  item.id = `run:${runId}`;
  item.description = runDescription(view, nowMs);
  item.accessibilityInformation = { label: runAccessibleLabel(view, nowMs) };
  item.iconPath = iconOf(view, isOffline);
  item.contextValue = contextOf(view);
  item.command = { command: COMMANDS.showRun, title: treeWords.showRun(), arguments: [runId] };
  if (isOffline) item.resourceUri = offlineRow(runId);
  return item;
}

/** What its menus go by. */
function contextOf({ run, isDownloaded, download }: RunView): string {
  const home = isDownloaded === true ? '.downloaded' : '';
  if (download !== undefined && download.state !== 'interrupted') return `run.downloading${home}`;
  // What was interrupted goes on where it is downloaded again.
  return run.artifacts_available ? `run.downloadable${home}` : `run${home}`;
}

function iconOf({ phase, isDownloaded }: RunView, isOffline: boolean): vscode.ThemeIcon {
  const color = (id: string) => new vscode.ThemeColor(isOffline ? 'disabledForeground' : id);
  if (phase === 'finished')
    return new vscode.ThemeIcon(isDownloaded === true ? 'pass-filled' : 'pass', color('testing.iconPassed'));
  // No spinner: a status that is not known may be the last one.
  return new vscode.ThemeIcon(phase === 'waiting' ? 'clockface' : 'pulse', color('icon.foreground'));
}

function progressOf({ state, receivedBytes, totalBytes }: ActiveDownload): RunView['download'] {
  const isTold = totalBytes !== undefined && totalBytes > 0;
  return { state, ...(isTold && { fraction: Math.min(1, receivedBytes / totalBytes) }) };
}
