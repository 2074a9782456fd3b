import type { Client } from '../api/client.ts';
import type { Clock } from '../base/clock.ts';
import type { Moment } from './intent.ts';

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

/** Returns a time with the one of the service's clock, if it is known how far that is from this machine's. */
export function withService(moment: Moment, clockSkewMs: number | undefined): Moment {
  return clockSkewMs === undefined ? moment : { ...moment, serviceMs: moment.localMs + clockSkewMs };
}
