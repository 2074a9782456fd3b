const HOUR_MS = 3_600_000;

/** How long before the artifacts of a run expire the user is reminded, the last one first. */
const STAGES = [
  { what: 'expires-in-2-hours', beforeMs: 2 * HOUR_MS },
  { what: 'expires-in-1-day', beforeMs: 24 * HOUR_MS },
] as const;

/** Which of the reminders; shown once, ever. */
export type Reminder = (typeof STAGES)[number]['what'];

/**
 * The latest reminder whose time has come, however many were missed.
 * @param expiresAtMs NaN where it is not a time: then there is no reminder
 */
export function reminderAt(expiresAtMs: number, nowMs: number): Reminder | undefined {
  const leftMs = expiresAtMs - nowMs;
  return leftMs > 0 ? STAGES.find(({ beforeMs }) => leftMs <= beforeMs)?.what : undefined;
}
