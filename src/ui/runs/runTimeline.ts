import { l10n } from 'vscode';
import { type Span, spanMs, timesOf, usualTime } from '../../core/runs/run.ts';
import { chargedPhrase } from '../shared/chargeText.ts';
import { compact, formatCount, formatDuration, formatLeft, formatTime } from '../shared/format.ts';
import { leftText } from '../shared/runText.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';
import type { RunPageEntry, RunPageSection } from './protocol.ts';
import { hidesMissing, missingText, type KnownRun } from './runPageFacts.ts';
import { runPriceText, queuedFor, trainedFor } from './runTooltip.ts';

/** The events of a run in order, including future ones. */
export function timeline(view: KnownRun): RunPageSection {
  const { session, run, detail, details, phase, nowMs } = view;
  const times = timesOf({ ...run, ...detail });
  const { createdAtMs, startedAtMs, completedAtMs } = times;
  const known = (session.runs.rows ?? []).flatMap((row) => session.runs.detail(row.run_id) ?? []);
  const usually = (span: Span) => usualText(usualTime(span, run, known));
  const withUsual = (text: string, span: Span) => {
    const usual = usually(span);
    return usual === undefined ? text : l10n.t('{0} ({1})', text, usual);
  };
  const took = (span: Span, say: (ms: number) => string) => {
    const ms = spanMs(times, span);
    return ms !== undefined && withUsual(say(ms), span);
  };
  const since = (atMs: number | undefined) => formatDuration(nowMs - (atMs ?? nowMs));
  const isWaiting = phase === 'waiting';
  // A time that doesn't apply yet may be null or missing: say "not yet" only if that is certain.
  const toCome = isWaiting ? l10n.t('not yet') : missingText(details, phase === 'active');
  const event = (
    key: string,
    name: string,
    atMs: number | undefined,
    notes: string[],
    usual: string[] = [],
  ) =>
    atMs === undefined
      ? entry(key, isWaiting ? 'next' : 'unknown', name, toCome, usual)
      : entry(key, 'done', name, atMs, notes);
  const soFar = isWaiting && withUsual(l10n.t('{0} so far', since(createdAtMs)), 'queue');
  // No status in the contract shows whether the run is still training.
  const ago = phase === 'active' && l10n.t('{0} ago', since(startedAtMs));
  const events = compact(
    submitted(view),
    createdAtMs === undefined
      ? entry('queued', 'unknown', TERMS.queued, missingText('loaded'))
      : entry('queued', isWaiting ? 'now' : 'done', TERMS.queued, createdAtMs, compact(soFar)),
    event('started', TERMS.started, startedAtMs, compact(took('queue', queuedFor), ago)),
    event(
      'completed',
      TERMS.completed,
      completedAtMs,
      compact(took('training', trainedFor)),
      compact(usually('training')),
    ),
    expiry(view),
  );
  const entries = hidesMissing(view) ? events.filter(({ state }) => state !== 'unknown') : events;
  return { kind: 'timeline', key: 'timeline', title: l10n.t('Timeline'), entries };
}

/** Undefined for a run that was submitted elsewhere; its section says so. */
function submitted({ session, detail, receipt, receiptLoading }: KnownRun): RunPageEntry | undefined {
  const name = TERMS.submitted;
  if (receipt === undefined)
    return receiptLoading === 'loaded'
      ? undefined
      : entry('submitted', 'unknown', name, missingText(receiptLoading));
  const { attempts, created, dataset, charge } = receipt;
  const price = runPriceText(receipt, detail);
  const notes = compact(
    l10n.t('From this machine: {0}', sanitizeServiceText(dataset.filename)),
    attempts.length > 1 && l10n.t('{0} attempts', formatCount(attempts.length)),
    price && chargedPhrase(price, session.account.kind === 'sandbox'),
    charge.foundBy === 'found' && l10n.t('Found by its marker'),
    charge.foundBy === 'recognised' && l10n.t('You confirmed the run'),
  );
  return entry('submitted', 'done', name, created.localMs, notes);
}

function expiry({ artifacts: { kind, expiresAtMs }, phase, nowMs }: KnownRun): RunPageEntry {
  const name = kind === 'expired' ? l10n.t('Adapter expired') : TERMS.adapterExpires;
  if (kind === 'not-yet') return entry('adapter', 'next', name, l10n.t('not yet'));
  if (expiresAtMs === undefined)
    return entry('adapter', 'unknown', name, missingText('loaded', phase === 'active'));
  if (kind === 'expired') return entry('adapter', 'over', name, expiresAtMs);
  const left = leftText(formatLeft(expiresAtMs - nowMs));
  return entry('adapter', 'next', name, expiresAtMs, [left]);
}

/** @param at milliseconds since the epoch, or the text for an unknown time */
function entry(
  key: string,
  state: RunPageEntry['state'],
  name: string,
  at: number | string,
  notes: readonly string[] = [],
): RunPageEntry {
  if (typeof at === 'string') return { key, state, name, when: at, notes };
  return { key, state, name, when: formatTime(at), iso: new Date(at).toISOString(), notes };
}

/** `usually 12–18 min` */
function usualText(usual: ReturnType<typeof usualTime>): string | undefined {
  if (usual === undefined) return undefined;
  const { fromMs, toMs } = usual;
  const [from, to] = [formatDuration(fromMs), formatDuration(toMs)];
  if (from === to) return l10n.t('usually {0}', from);
  const minutes = [fromMs, toMs].map((ms) => Math.round(ms / 60_000));
  return minutes.every((one) => one >= 1 && one < 60)
    ? l10n.t('usually {0}–{1} min', ...minutes)
    : l10n.t('usually {0} to {1}', from, to);
}
