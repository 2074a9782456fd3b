import type { Client } from '../api/client.ts';
import type { Clock } from '../base/clock.ts';
import type { Moment } from './submission.ts';

/** The clock, and the random numbers for jitter (at least 0, less than 1). */
export interface Time {
  clock: Clock;
  random: () => number;
}

/** Returns the current time by this machine's clocks. */
export function localMoment(clock: Clock): Moment {
  return { localMs: clock.nowMs(), monotonicMs: Math.round(clock.monotonicMs()) };
}

/** Returns the current time by this machine's clocks and, if known, the service's clock. */
export function momentOf(client: Pick<Client, 'clockSkewMs'>, clock: Clock): Moment {
  return withService(localMoment(clock), client.clockSkewMs);
}

/** Adds the service's time to a moment, if its distance from this machine's clock is known. */
export function withService(moment: Moment, clockSkewMs: number | undefined): Moment {
  return clockSkewMs === undefined ? moment : { ...moment, serviceMs: moment.localMs + clockSkewMs };
}
