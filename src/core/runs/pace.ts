const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How often is looked, by how long ago anything changed. */
const PACES = [
  { belowMs: MINUTE, everyMs: 5 * SECOND },
  { belowMs: 5 * MINUTE, everyMs: 15 * SECOND },
  { belowMs: 20 * MINUTE, everyMs: 45 * SECOND },
  { belowMs: HOUR, everyMs: 2 * MINUTE },
  { belowMs: DAY, everyMs: 5 * MINUTE },
] as const;
const SLOWEST_MS = 30 * MINUTE;
/** At most this often where nobody looks at a window. */
const UNSEEN_MS = 2 * MINUTE;
/** At most this often where few GETs are left. */
const SCARCE_MS = 90 * SECOND;

/** How often is asked whether the service can be reached again, where nothing else is waited for. */
export const OFFLINE_MS = MINUTE;

/** How long a status that is not known is watched without a change. */
export const UNKNOWN_WATCHED_MS = 7 * DAY;

export interface Watched {
  /** How long ago the youngest of what is watched changed; undefined when nothing is watched. */
  ageMs: number | undefined;
  /** Whether a window of the machine has the focus. */
  isSeen: boolean;
  /** Whether few GETs are left. */
  isScarce: boolean;
}

/** When to look again, in milliseconds after the last look ended; undefined to sleep. */
export function pollEveryMs({ ageMs, isSeen, isScarce }: Watched): number | undefined {
  if (ageMs === undefined) return undefined;
  const everyMs = PACES.find(({ belowMs }) => ageMs < belowMs)?.everyMs ?? SLOWEST_MS;
  return Math.max(everyMs, isSeen ? 0 : UNSEEN_MS, isScarce ? SCARCE_MS : 0);
}
