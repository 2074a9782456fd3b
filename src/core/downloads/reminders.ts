const HOUR_MS = 3_600_000;

/** How long before the artifacts of a run expire the user is reminded, the last one first. */
const STAGES = [
  { what: 'expires-in-2-hours', beforeMs: 2 * HOUR_MS },
  { what: 'expires-in-1-day', beforeMs: 24 * HOUR_MS },
] as const;

/** Which of the reminders; shown once, ever. */
export type Reminder = (typeof STAGES)[number]['what'];

/** A run whose artifacts will expire. */
export interface ExpiringRun {
  runId: string;
  /** By the service's clock, in milliseconds since the epoch; NaN where its text is not a time: then there is no reminder. */
  expiresAtMs: number;
}

/** One reminder that is due. */
export interface DueReminder extends ExpiringRun {
  what: Reminder;
}

/** The latest reminder whose time has come, however many were missed. */
export function reminderAt(expiresAtMs: number, nowMs: number): Reminder | undefined {
  const leftMs = expiresAtMs - nowMs;
  return leftMs > 0 ? STAGES.find(({ beforeMs }) => leftMs <= beforeMs)?.what : undefined;
}

/**
 * What is due now, the run that expires first before the others.
 * @param isSafe whether a run's adapter is downloaded or downloading
 */
export function dueReminders(
  runs: readonly ExpiringRun[],
  nowMs: number,
  isSafe: (runId: string) => boolean,
): DueReminder[] {
  return runs
    .flatMap((run) => {
      const what = reminderAt(run.expiresAtMs, nowMs);
      return what === undefined || isSafe(run.runId) ? [] : [{ ...run, what }];
    })
    .sort((one, other) => one.expiresAtMs - other.expiresAtMs);
}
