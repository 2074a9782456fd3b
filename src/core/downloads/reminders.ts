const HOUR_MS = 3_600_000;

/** Reminders before a run's artifacts expire, the last one first. */
const STAGES = [
  { what: 'expires-in-2-hours', beforeMs: 2 * HOUR_MS },
  { what: 'expires-in-1-day', beforeMs: 24 * HOUR_MS },
] as const;

/** A reminder, which is shown only once. */
export type Reminder = (typeof STAGES)[number]['what'];

/**
 * Returns the latest reminder that is due, however many were missed.
 * @param expiresAtMs NaN if unknown, which gives no reminder
 */
export function reminderAt(expiresAtMs: number, nowMs: number): Reminder | undefined {
  const leftMs = expiresAtMs - nowMs;
  return leftMs > 0 ? STAGES.find(({ beforeMs }) => leftMs <= beforeMs)?.what : undefined;
}
