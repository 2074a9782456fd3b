const HOUR_MS = 3_600_000;

/** How long before the artifacts of a run expire the user is reminded, the last one first. */
const STAGES = [
  { what: 'expires-in-2-hours', beforeMs: 2 * HOUR_MS },
  { what: 'expires-in-1-day', beforeMs: 24 * HOUR_MS },
] as const;

/** A run whose artifacts will expire; times by the service's clock, in milliseconds since the epoch. */
export interface ExpiringRun {
  runId: string;
  /** NaN where the service's text is not a time: then there is no reminder. */
  expiresAtMs: number;
  /** Undefined where it is unknown. */
  completedAtMs?: number | undefined;
}

/** One reminder that is due. */
export interface DueReminder {
  runId: string;
  /** Which of the reminders; shown once, ever. */
  what: (typeof STAGES)[number]['what'];
  expiresAtMs: number;
}

/**
 * What is due now, the run that expires first before the others: of each run the latest reminder only, however many were
 * missed, and none at or before its completion.
 * @param isSafe whether a run's adapter is downloaded or downloading
 */
export function dueReminders(
  runs: readonly ExpiringRun[],
  nowMs: number,
  isSafe: (runId: string) => boolean,
): DueReminder[] {
  return runs
    .filter(({ expiresAtMs }) => expiresAtMs > nowMs)
    .flatMap(({ runId, expiresAtMs, completedAtMs }) => {
      const stage = STAGES.find(({ beforeMs }) => expiresAtMs - beforeMs <= nowMs);
      if (stage === undefined || expiresAtMs - stage.beforeMs <= (completedAtMs ?? -Infinity)) return [];
      return isSafe(runId) ? [] : [{ runId, what: stage.what, expiresAtMs }];
    })
    .sort((one, other) => one.expiresAtMs - other.expiresAtMs);
}
