import { setTimeout as delay } from 'node:timers/promises';
import { CancelledError } from './errors.ts';

/** The time, replaceable in tests. */
export interface Clock {
  /** Milliseconds since the epoch by the wall clock, which the user or the network may set. */
  nowMs(): number;
  /**
   * Milliseconds since the machine was started, the same in every process. Never decreases; on most systems,
   * stops while the machine sleeps.
   */
  monotonicMs(): number;
  /** @throws CancelledError when the signal aborts */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The system's time. */
export const SYSTEM_CLOCK: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => Number(process.hrtime.bigint()) / 1e6,
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal === undefined ? {} : { signal });
    } catch {
      throw new CancelledError();
    }
  },
};

/** ISO 8601 as used by services: a date, or a date and a time, with or without a zone. */
const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/** The end of a time in another notation with a zone. A date may end like an offset: `12-05-2026`. */
const ZONED = /(?:z|utc|gmt|:\d\d(?:\.\d{1,9})? ?(?:utc|gmt)?[+-]\d\d:?\d\d)$/i;

/**
 * Parses a time from the service (spec: "Times") to milliseconds since the epoch; NaN if
 * invalid. `Date.parse` would read a time without a zone as local.
 */
export function instantOf(text: string | undefined): number {
  const iso = ISO.exec(text ?? '');
  if (iso === null) return text !== undefined && ZONED.test(text.slice(-32)) ? Date.parse(text) : NaN;
  const [, day = '', time, zone = 'Z'] = iso;
  if (time === undefined) return Date.parse(day);
  const offset = zone === 'Z' ? zone : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
  return Date.parse(`${day}T${time}${offset}`);
}

/** Parses an HTTP date (RFC 9110, 5.6.7) to milliseconds since the epoch; undefined if invalid. */
export function parseHttpDate(value: string | undefined): number | undefined {
  // `Date.parse` alone would read "-1" as a year.
  if (value === undefined || !/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(value))
    return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}
