/** When something that failed is tried again. The limit of the wait doubles from `firstMs` up to `longestMs`. */
interface RetryPolicy {
  readonly firstMs: number;
  readonly longestMs: number;
  /** How many retries at most; no limit where undefined. */
  readonly retries?: number;
  /** A longer Retry-After is not waited for: the user gets the error instead. */
  readonly longestRetryAfterMs?: number;
}

const MINUTE = 60_000;

/** Every retry of the product. */
export const RETRIES = {
  /** A request that changes nothing. */
  read: { firstMs: 500, longestMs: 20_000, retries: 3, longestRetryAfterMs: MINUTE },
  /** A submission, with the same Idempotency-Key and bytes. */
  submission: { firstMs: 2_000, longestMs: MINUTE, retries: 4, longestRetryAfterMs: 10 * MINUTE },
  /** A download that stopped receiving bytes: a minute or two altogether. */
  download: { firstMs: 1_000, longestMs: 30_000, retries: 8, longestRetryAfterMs: 5 * MINUTE },
  /** Watching runs. */
  watch: { firstMs: 15_000, longestMs: 5 * MINUTE },
  /** After a 429 without Retry-After. */
  rateLimit: { firstMs: 500, longestMs: 20_000 },
} as const satisfies Record<string, RetryPolicy>;

/** A longer Retry-After is cut to a week: it may have more digits than a number holds. */
export const MAX_RETRY_AFTER_MS = 7 * 24 * 60 * MINUTE;

/** The limit of a wait. @param retries how many there were already */
export function backoffMs({ firstMs, longestMs }: RetryPolicy, retries: number): number {
  return Math.min(longestMs, firstMs * 2 ** retries);
}

/**
 * How long to wait before the next try, in milliseconds; undefined when there is none. Full jitter (anything from 0 to the
 * limit), so that clients which failed together do not return together; on top of Retry-After.
 * @param random from 0 up to 1
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
