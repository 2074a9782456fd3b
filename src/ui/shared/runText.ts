import { l10n } from 'vscode';
import { MAX_LABEL_LENGTH } from '../../core/api/types.ts';
import { instantOf } from '../../core/base/clock.ts';
import { adapterLeftMs, runState, type RunFacts, type RunState } from '../../core/downloads/runState.ts';
import type { Phase } from '../../core/runs/run.ts';
import { formatAgo, formatLeft, formatPercent, formatRoughly } from './format.ts';
import { sanitizeServiceText } from './serviceText.ts';
import { TERMS } from './terms.ts';

/** What a run's row shows. */
export interface RunView extends RunFacts {
  modelName: string;
  label?: string | undefined;
}

/** Sanitizes a text from the service or another client that may be as long as a label. */
export function serviceText(text: string): string {
  return sanitizeServiceText(text, MAX_LABEL_LENGTH);
}

/** `Queued`, `Completed`, or the service's status, since it uses many for active and failed runs. */
export function runStatus(status: string, phase: Phase): string {
  if (phase === 'waiting') return TERMS.queued;
  return phase === 'finished'
    ? TERMS.completed
    : capitalized(serviceText(status)) || l10n.t('Status unknown');
}

/** The service's status stands beside words that begin with a capital. */
function capitalized(text: string): string {
  const [first = ''] = text;
  return first.toUpperCase() + text.slice(first.length);
}

/** All facts of a run, for screen readers and where there is room. */
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

/** The state of a run in its row. */
export function stateText(state: RunState, { run, download }: RunView, nowMs: number): string {
  const fraction = download?.fraction;
  const percent = fraction === undefined ? undefined : formatPercent(Math.floor(fraction * 100) / 100);
  const leftMs = adapterLeftMs(run, nowMs);
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
      return Number.isNaN(leftMs) ? TERMS.notDownloaded : leftText(formatLeft(leftMs));
    case 'expired':
      return l10n.t('Expired');
    case 'no-adapter':
      return l10n.t('No adapter');
    case 'downloading':
      return percent === undefined ? l10n.t('Downloading…') : l10n.t('Download {0}', percent);
    case 'verifying':
      return l10n.t('Verifying…');
    case 'stopped':
      return percent === undefined ? l10n.t('Download stopped') : l10n.t('Stopped at {0}', percent);
    case 'downloaded':
      return l10n.t('Downloaded');
    case 'damaged':
      return l10n.t('Damaged');
  }
}

export function leftText(duration: string): string {
  return l10n.t('{0} left', duration);
}

/** When a run was created; empty if the service provides no time. */
export function agoText({ run }: RunView, nowMs: number): string {
  const createdAtMs = instantOf(run.created_at);
  return Number.isNaN(createdAtMs) ? '' : formatAgo(createdAtMs, nowMs);
}
