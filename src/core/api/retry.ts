import { MAX_RETRY_AFTER_MS } from '../base/retry.ts';
import { NetworkError, statusOf, type NetworkErrorReason } from './errors.ts';

/**
 * Whether the same may succeed later.
 * @param lasting how the network fails where another attempt would fail the same way
 */
export function mayPass(error: unknown, lasting: readonly NetworkErrorReason[]): boolean {
  if (error instanceof NetworkError) return !lasting.includes(error.reason);
  const status = statusOf(error);
  return status !== undefined && isForLater(status);
}

/** Whether an answer says that the same may succeed later. */
export function isForLater(httpStatus: number): boolean {
  return httpStatus === 408 || httpStatus === 425 || httpStatus === 429 || httpStatus >= 500;
}

/** Retry-After in milliseconds, a week at most, from seconds or an HTTP date; undefined when it is neither. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(MAX_RETRY_AFTER_MS, Number(text) * 1000);
  const dateMs = parseHttpDate(text);
  return dateMs === undefined ? undefined : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, dateMs - nowMs));
}

/** Milliseconds since the epoch of an HTTP date (RFC 9110, 5.6.7); undefined for anything else. */
export function parseHttpDate(value: string | undefined): number | undefined {
  // `Date.parse` alone would read "-1" as a year.
  if (value === undefined || !/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(value))
    return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}
