import { l10n } from 'vscode';
import { MAX_LABEL_LENGTH, type RunSummary } from '../../core/api/types.ts';
import { instantOf } from '../../core/base/clock.ts';
import type { DownloadState } from '../../core/downloads/types.ts';
import type { Phase } from '../../core/runs/phase.ts';
import type { SessionState } from '../../core/runs/session.ts';
import { formatAgo, formatLeft, formatMoment, formatRoughly, formatTimesOfDay } from './format.ts';
import { sanitizeServiceText } from './serviceText.ts';
import { TERMS } from './termMessages.ts';

/** An adapter that is not downloaded counts as expiring this long before it expires. */
const EXPIRING_MS = 72 * 3_600_000;

/** The known facts of a run that its row shows. */
export interface RunView {
  run: RunSummary;
  phase: Phase;
  modelName: string;
  label?: string | undefined;
  isDownloaded?: boolean;
  /** The file on disk is damaged. */
  isDamaged?: boolean;
  /** A download that is not complete; `fraction` from 0 to 1 if known; `isKept` as in `ActiveDownload`. */
  download?: { state: DownloadState; fraction?: number; isKept?: false } | undefined;
}

/** Sanitizes a text from the service or another client that may be as long as a label. */
export function serviceText(text: string): string {
  return sanitizeServiceText(text, MAX_LABEL_LENGTH);
}

/** VS Code gives the label of a row all available width, and the description only the rest, which may begin with a time. */
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

/** Returns the times of rows that would read alike, by ID. @param text all that a row shows */
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

/** `Queued`, `Completed`, or the service's status, since it uses many for active and failed runs. */
export function runStatus(status: string, phase: Phase): string {
  if (phase === 'waiting') return TERMS.queued;
  return phase === 'finished'
    ? TERMS.completed
    : capitalized(serviceText(status)) || l10n.t('Status unknown');
}

/** A status is a word of the service's, beside others that begin with a capital. */
function capitalized(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}

/** The most important fact about a run, shown in its row. */
export type RunState =
  | 'queued'
  | 'active'
  | 'ended'
  | 'available'
  | 'expiring'
  | 'expired'
  | 'no-adapter'
  | 'downloading'
  | 'verifying'
  | 'stopped'
  | 'downloaded'
  | 'damaged';

export function runState(view: RunView, nowMs: number): RunState {
  const { run, phase, isDownloaded, isDamaged, download } = view;
  const leftMs = leftMsOf(run, nowMs);
  if (download?.state === 'verifying') return 'verifying';
  if (download !== undefined && download.state !== 'interrupted') return 'downloading';
  if (isDownloaded === true) return 'downloaded';
  // An interrupted download can be resumed as long as the service has the adapter.
  const isGone = !run.artifacts_available || leftMs <= 0;
  if (download !== undefined && !isGone) return 'stopped';
  if (isDamaged === true && !isGone) return 'damaged';
  if (phase !== 'finished') return phase === 'waiting' ? 'queued' : phase;
  if (isGone) return leftMs <= 0 ? 'expired' : 'no-adapter';
  return leftMs <= EXPIRING_MS ? 'expiring' : 'available';
}

/** NaN if the service provides no time. */
function leftMsOf(run: RunSummary, nowMs: number): number {
  return instantOf(run.artifacts_expires_at) - nowMs;
}

/** The gray text of a run's row. The most important words are first, since a narrow view truncates the end. */
export function runDescription(view: RunView, nowMs: number): string {
  const state = runState(view, nowMs);
  const text = stateText(state, view, nowMs);
  const ago = ['queued', 'downloading', 'verifying', 'stopped', 'damaged'].includes(state)
    ? ''
    : agoText(view, nowMs);
  return ago === '' ? text : `${text} · ${ago}`;
}

/** The same without omissions, for screen readers and where there is room. */
export function runWords(view: RunView, nowMs: number): string[] {
  const state = runState(view, nowMs);
  const { run, phase, label, modelName } = view;
  return [
    runStatus(run.status, phase),
    label === undefined ? '' : modelName,
    agoText(view, nowMs),
    ['queued', 'active', 'ended'].includes(state) ? '' : stateText(state, view, nowMs),
  ].filter((word) => word !== '');
}

function stateText(state: RunState, { run, download }: RunView, nowMs: number): string {
  const percent = download?.fraction === undefined ? undefined : Math.floor(download.fraction * 100);
  const leftMs = leftMsOf(run, nowMs);
  switch (state) {
    case 'queued': {
      const queuedMs = nowMs - instantOf(run.created_at);
      return queuedMs >= 60_000 ? l10n.t('Queued {0}', formatRoughly(queuedMs)) : TERMS.queued;
    }
    case 'active':
    case 'ended':
      return capitalized(sanitizeServiceText(run.status)) || l10n.t('Status unknown');
    case 'available':
    case 'expiring':
      return Number.isNaN(leftMs) ? l10n.t('Not downloaded') : leftText(formatLeft(leftMs));
    case 'expired':
      return l10n.t('Expired');
    case 'no-adapter':
      return l10n.t('No adapter');
    case 'downloading':
      if (download?.isKept === false)
        return percent === undefined
          ? l10n.t('Downloading… · can’t be resumed')
          : l10n.t('Download {0}% · can’t be resumed', percent);
      return percent === undefined ? l10n.t('Downloading…') : l10n.t('Download {0}%', percent);
    case 'verifying':
      return l10n.t('Verifying…');
    case 'stopped':
      return percent === undefined ? l10n.t('Download stopped') : l10n.t('Stopped at {0}%', percent);
    case 'downloaded':
      return l10n.t('Downloaded');
    case 'damaged':
      return l10n.t('Damaged · Download again');
  }
}

export function leftText(duration: string): string {
  return l10n.t('{0} left', duration);
}

function agoText({ run }: RunView, nowMs: number): string {
  const createdAtMs = instantOf(run.created_at);
  return Number.isNaN(createdAtMs) ? '' : formatAgo(createdAtMs, nowMs);
}

/** Describes the problem with an account's API key; undefined if none is known. */
export function keyProblem(state: SessionState): string | undefined {
  if (state === 'key-rejected') return l10n.t('The service rejected this account’s API key.');
  return state === 'key-missing' ? l10n.t('This window doesn’t have this account’s API key.') : undefined;
}

/** For an account whose service can't be reached. */
export function offlineText(sinceMs: number | undefined): string {
  return sinceMs === undefined
    ? l10n.t('Offline. This may be out of date.')
    : l10n.t('Offline since {0}. This may be out of date.', formatMoment(sinceMs, Date.now()));
}

export const chooseRunWords = {
  title: () => l10n.t('Choose a Run'),
  none: () => l10n.t('No matching runs yet.'),
};
