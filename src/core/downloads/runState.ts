import type { RunSummary } from '../api/types.ts';
import { instantOf } from '../base/clock.ts';
import type { Phase } from '../runs/run.ts';
import type { DownloadState } from './types.ts';

const HOUR_MS = 3_600_000;
/** An adapter that is not downloaded counts as expiring this long before it expires. */
const EXPIRING_MS = 48 * HOUR_MS;

/** The facts about a run and its adapter that decide its state. */
export interface RunFacts {
  run: RunSummary;
  phase: Phase;
  isDownloaded?: boolean;
  /** Whether the downloaded file is damaged. */
  isDamaged?: boolean;
  /** A download that is not complete; `fraction` from 0 to 1 if known. */
  download?: { state: DownloadState; fraction?: number } | undefined;
}

/** The most important fact about a run. `stopped`: its download is interrupted. */
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

/** Decides the state of a run. Its download comes first, then its artifacts, then its phase. */
export function runState(known: RunFacts, nowMs: number): RunState {
  const { run, phase, isDownloaded, isDamaged, download } = known;
  const leftMs = adapterLeftMs(run, nowMs);
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

/** Returns how long the service still keeps the adapter, in milliseconds; NaN if it provides no time. */
export function adapterLeftMs(run: RunSummary, nowMs: number): number {
  return instantOf(run.artifacts_expires_at) - nowMs;
}

/** The reminders before a run's artifacts expire, the last one first. */
const REMINDERS = [
  { what: 'expires-in-2-hours', beforeMs: 2 * HOUR_MS },
  { what: 'expires-in-1-day', beforeMs: 24 * HOUR_MS },
] as const;

/** A reminder, which is shown only once. */
export type Reminder = (typeof REMINDERS)[number]['what'];

/**
 * Returns the latest reminder that is due, however many were missed.
 * @param expiresAtMs NaN if unknown, which gives no reminder
 */
export function reminderAt(expiresAtMs: number, nowMs: number): Reminder | undefined {
  const leftMs = expiresAtMs - nowMs;
  return leftMs > 0 ? REMINDERS.find(({ beforeMs }) => leftMs <= beforeMs)?.what : undefined;
}
