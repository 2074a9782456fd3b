import * as vscode from 'vscode';
import type { RunSummary } from '../../core/api/types.ts';
import type { ActiveDownload, Downloads } from '../../core/downloads/downloads.ts';
import { isDamagedAdapter, isSoundAdapter } from '../../core/downloads/localFiles.ts';
import { runState, type RunState } from '../../core/downloads/runState.ts';
import { hasMarker, withoutMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import { openMarkers, type PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { compact } from '../shared/format.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { timesOfAlike, withTime } from '../shared/rowText.ts';
import { agoText, type RunView, runWords, serviceText, stateText } from '../shared/runText.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';

/** A row of the Runs view. Commands accept `run` and `submission` rows as their argument. */
export type RunsNode = { kind: 'submission'; id: string } | { kind: 'run'; runId: string } | { kind: 'more' };

/** An account's downloads, indexed by run, since thousands of rows may be drawn. */
export interface DownloadsByRun {
  readonly active: ReadonlyMap<string, ActiveDownload>;
  readonly downloaded: ReadonlySet<string>;
  readonly damaged: ReadonlySet<string>;
}

export function downloadsByRun(
  downloads: Pick<Downloads, 'active' | 'records'>,
  accountId: string,
): DownloadsByRun {
  const active = new Map<string, ActiveDownload>();
  for (const download of downloads.active)
    if (download.accountId === accountId && active.get(download.runId)?.state !== 'downloading')
      active.set(download.runId, download);
  const here = downloads.records(accountId).filter((record) => !record.isGone);
  const runsOf = (records: typeof here) => new Set(records.map(({ runId }) => runId));
  return {
    active,
    downloaded: runsOf(here.filter(isSoundAdapter)),
    damaged: runsOf(here.filter(isDamagedAdapter)),
  };
}

/**
 * Returns the IDs of the runs to show: none if no API key works, as the welcome text explains.
 * @param pending submissions; those in progress hide their runs, or one charge would look like two
 */
export function shownRuns(
  { account, runs, isLocked }: Session,
  pending: readonly PendingSubmission[],
): readonly string[] {
  const markers = openMarkers(pending, account.id);
  const isOpen = (runId: string) => markers.some((marker) => hasMarker(runs.label(runId) ?? '', marker));
  return isLocked ? [] : (runs.rows ?? []).map(({ run_id }) => run_id).filter((runId) => !isOpen(runId));
}

/** Collects what a run's row shows. */
export function runView(
  { runs, models }: Session,
  run: RunSummary,
  { active, downloaded, damaged }: DownloadsByRun,
): RunView {
  const label = serviceText(withoutMarker(runs.label(run.run_id) ?? ''));
  const download = active.get(run.run_id);
  return {
    run,
    phase: runs.phase(run),
    modelName: sanitizeServiceText(models.nameOf(run.model_id)),
    label: label === '' ? undefined : label,
    isDownloaded: downloaded.has(run.run_id),
    isDamaged: damaged.has(run.run_id),
    download: download && progressOf(download),
  };
}

function progressOf(download: ActiveDownload): RunView['download'] {
  const { state, receivedBytes, totalBytes } = download;
  const isKnown = totalBytes !== undefined && totalBytes > 0;
  return {
    state,
    ...(isKnown && { fraction: Math.min(1, receivedBytes / totalBytes) }),
  };
}

/** The row of a run. The tooltip is created on demand: formatting its times costs more than the rest of the row. */
export class RunItem extends vscode.TreeItem {
  /** @param difference given if the row would read like another one */
  constructor(view: RunView, isOffline: boolean, nowMs: number, difference?: string) {
    super(view.label ?? view.modelName);
    const runId = view.run.run_id;
    const state = runState(view, nowMs);
    const [icon, color] = ICONS[state];
    this.id = `run:${runId}`;
    this.description = withTime(runDescription(view, nowMs), difference);
    this.accessibilityInformation = { label: runAccessibleLabel(view, nowMs, difference) };
    this.iconPath = new vscode.ThemeIcon(
      icon,
      new vscode.ThemeColor(isOffline ? 'disabledForeground' : color),
    );
    this.contextValue = contextOf(view, state);
    this.command = { command: COMMANDS.showRun, title: TERMS.showRun, arguments: [runId] };
  }
}

/** The text of a run's row for screen readers. @param difference given if the row would read like another one */
function runAccessibleLabel(view: RunView, nowMs: number, difference?: string): string {
  const words = new Set(compact(...runWords(view, nowMs), difference));
  return vscode.l10n.t('Run {0}, {1}', view.label ?? view.modelName, [...words].join(', '));
}

/** The gray text of a run's row: its age, then one fact, since a narrow view truncates the end. */
export function runDescription(view: RunView, nowMs: number): string {
  const state = runState(view, nowMs);
  const isNow = ['queued', 'downloading', 'verifying'].includes(state);
  // When an adapter expires matters only when it soon does.
  const text = state === 'available' ? TERMS.notDownloaded : stateText(state, view, nowMs);
  return compact(!isNow && agoText(view, nowMs), text).join(' · ');
}

/** No spinner for active runs: an unknown status may be final. */
const ICONS: Readonly<Record<RunState, readonly [icon: string, color: string]>> = {
  queued: ['clockface', 'icon.foreground'],
  active: ['pulse', 'icon.foreground'],
  ended: ['error', 'list.errorForeground'],
  available: ['pass', 'testing.iconPassed'],
  expiring: ['warning', 'list.warningForeground'],
  expired: ['circle-slash', 'icon.foreground'],
  'no-adapter': ['pass', 'testing.iconPassed'],
  downloading: ['sync', 'icon.foreground'],
  verifying: ['sync', 'icon.foreground'],
  stopped: ['warning', 'list.warningForeground'],
  downloaded: ['pass-filled', 'testing.iconPassed'],
  damaged: ['warning', 'list.warningForeground'],
};

/** Returns the context value, which determines the buttons and menus of the row. */
function contextOf({ run, isDownloaded }: RunView, state: RunState): string {
  const downloaded = isDownloaded === true ? '.downloaded' : '';
  if (state === 'downloading' || state === 'verifying') return `run.downloading${downloaded}`;
  return run.artifacts_available && state !== 'expired'
    ? `run.downloadable${downloaded}`
    : `run${downloaded}`;
}

/** A row that runs a command. */
export class CommandItem extends vscode.TreeItem {
  constructor(id: string, icon: string, title: string, command: CommandId) {
    super(title);
    this.id = id;
    this.iconPath = new vscode.ThemeIcon(icon);
    this.command = { command, title };
  }
}

/**
 * Returns what distinguishes rows of the same name: the fact that differs most, and a time if they still read alike.
 * @param facts in order of preference; `text` is all else that a row shows
 */
export function differencesOfAlike(
  rows: readonly { id: string; name: string; text: string; atMs: number; facts: readonly string[] }[],
): ReadonlyMap<string, string> {
  const shown = new Map<string, string>();
  for (const alike of Map.groupBy(rows, ({ name }) => name).values()) {
    const [first] = alike;
    if (alike.length === 1) continue;
    const values = first?.facts.map((_, at) => new Set(alike.map(({ facts }) => facts[at]))) ?? [];
    const most = Math.max(...values.map(({ size }) => size));
    const chosen = values.findIndex(({ size }) => size === most);
    if (most > 1) for (const { id, facts } of alike) shown.set(id, facts[chosen] ?? '');
  }
  const texts = rows.map((row) => ({ ...row, text: [row.name, row.text, shown.get(row.id)].join('\n') }));
  for (const [id, time] of timesOfAlike(texts)) shown.set(id, compact(shown.get(id), time).join(' · '));
  return shown;
}
