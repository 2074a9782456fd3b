const HOUR_MS = 3_600_000;

/** How long before the artifacts of a run are gone the person is reminded, the last one first. */
const STAGES = [
  { what: 'expires-in-2-hours', beforeMs: 2 * HOUR_MS },
  { what: 'expires-in-1-day', beforeMs: 24 * HOUR_MS },
  { what: 'expires-in-7-days', beforeMs: 7 * 24 * HOUR_MS },
] as const;

/** A run whose artifacts can be downloaded for some time more; times by the service's clock, in milliseconds since the epoch. */
export interface ExpiringRun {
  runId: string;
  /** NaN where the service's text is no time: nothing is reminded of then. */
  expiresAtMs: number;
  /** Undefined where it is not known. */
  completedAtMs?: number | undefined;
}

/** One reminder that is due. */
export interface DueReminder {
  runId: string;
  /** Which of the reminders; told once, ever. */
  what: (typeof STAGES)[number]['what'];
  expiresAtMs: number;
}

/**
 * What is due now, the run that expires first before the others: of each run the latest reminder alone, however many passed
 * unseen, and none that lies at or before its completion.
 * @param isSafe whether of a run nothing needs to be said: its adapter is on the disk, or on its way
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

/** How long it is until another reminder may be due; undefined where none comes. */
export function nextReminderInMs(runs: readonly ExpiringRun[], nowMs: number): number | undefined {
  let nextMs = Infinity;
  for (const { expiresAtMs } of runs)
    for (const { beforeMs } of STAGES) {
      const inMs = expiresAtMs - beforeMs - nowMs;
      if (inMs > 0 && inMs < nextMs) nextMs = inMs;
    }
  return nextMs === Infinity ? undefined : nextMs;
}
