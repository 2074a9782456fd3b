/** When to retry. The maximum delay doubles from `firstMs` up to `longestMs`. */
interface RetryPolicy {
  readonly firstMs: number;
  readonly longestMs: number;
  /** The maximum number of retries; unlimited if undefined. */
  readonly retries?: number;
  /** A longer Retry-After is not awaited; the user gets the error instead. */
  readonly longestRetryAfterMs?: number;
}

const MINUTE = 60_000;

/** All retry policies. */
export const RETRIES = {
  /** A request that changes nothing. */
  read: { firstMs: 500, longestMs: 20_000, retries: 3, longestRetryAfterMs: MINUTE },
  /** A submission, with the same Idempotency-Key and bytes. */
  submission: { firstMs: 2_000, longestMs: MINUTE, retries: 4, longestRetryAfterMs: 10 * MINUTE },
  /** A stalled download: a minute or two in total. */
  download: { firstMs: 1_000, longestMs: 30_000, retries: 8, longestRetryAfterMs: 5 * MINUTE },
  /** Watching runs. */
  watch: { firstMs: 15_000, longestMs: 5 * MINUTE },
  /** After a 429 without Retry-After. */
  rateLimit: { firstMs: 500, longestMs: 20_000 },
} as const satisfies Record<string, RetryPolicy>;

/** The longest Retry-After that is accepted; its digits may exceed the range of a number. */
export const MAX_RETRY_AFTER_MS = 7 * 24 * 60 * MINUTE;

/** Returns the maximum delay. @param retries the number of previous retries */
export function backoffMs({ firstMs, longestMs }: RetryPolicy, retries: number): number {
  return Math.min(longestMs, firstMs * 2 ** retries);
}

/**
 * Returns the delay before the next attempt in milliseconds; undefined if there is none. Adds full jitter (0
 * to the maximum delay) to Retry-After, so that clients which failed together don't retry together.
 * @param random at least 0, less than 1
 */
export function retryDelayMs(
  policy: RetryPolicy,
  retries: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  const { retries: maxRetries = Infinity, longestRetryAfterMs = Infinity } = policy;
  if (retries >= maxRetries || retryAfterMs > longestRetryAfterMs) return undefined;
  return retryAfterMs + random * backoffMs(policy, retries);
}
