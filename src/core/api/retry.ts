import { NetworkError, ServiceError, UnexpectedAnswerError, type NetworkErrorReason } from './errors.ts';

const BASE_MS = 500;
const CAP_MS = 20_000;
const MAX_RETRIES = 3;
/** A longer Retry-After is not waited for: the person is told instead. */
export const MAX_RETRY_AFTER_MS = 60_000;

/** A repeat would fail the same way (`tls`, `proxy`), or the person has waited long enough (the others). */
const NOT_REPEATED: ReadonlySet<NetworkErrorReason> = new Set([
  'tls',
  'proxy',
  'connect-timeout',
  'stalled',
  'answer-timeout',
]);

/**
 * How long to wait before a GET is sent again, in milliseconds; undefined when it is not. Full jitter: anything from
 * nothing to the doubled limit, so that clients which failed together do not return together; on top of Retry-After.
 * @param retries how many there were already
 * @param random from 0 up to 1
 */
export function retryDelayMs(error: unknown, retries: number, random: number): number | undefined {
  if (retries >= MAX_RETRIES) return undefined;
  if (error instanceof NetworkError)
    return NOT_REPEATED.has(error.reason) ? undefined : jitterMs(retries, random);
  if (!(error instanceof ServiceError || error instanceof UnexpectedAnswerError)) return undefined;
  const { httpStatus, retryAfterMs = 0 } = error;
  if (!isForLater(httpStatus)) return undefined;
  return retryAfterMs > MAX_RETRY_AFTER_MS ? undefined : retryAfterMs + jitterMs(retries, random);
}

/** Whether an answer says that the same may succeed later. */
export function isForLater(httpStatus: number): boolean {
  return httpStatus === 408 || httpStatus === 429 || httpStatus >= 500;
}

/** Nobody waits longer, and more digits than a number holds would be no time at all. */
export const LONGEST_RETRY_AFTER_MS = 7 * 24 * 60 * 60_000;

/** Retry-After in milliseconds, a week at most, from seconds or an HTTP date; undefined when it is neither. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(LONGEST_RETRY_AFTER_MS, Number(text) * 1000);
  const dateMs = parseHttpDate(text);
  return dateMs === undefined ? undefined : Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, dateMs - nowMs));
}

/** Milliseconds since the epoch of an HTTP date (RFC 9110, 5.6.7); undefined for anything else. */
export function parseHttpDate(value: string | undefined): number | undefined {
  // `Date.parse` alone would read "-1" as a year.
  if (value === undefined || !/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(value))
    return undefined;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}

function jitterMs(retries: number, random: number): number {
  return random * Math.min(CAP_MS, BASE_MS * 2 ** retries);
}
