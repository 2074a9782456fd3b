import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';

/** GETs added per hour. Together with a full bucket, no hour exceeds 115 (the limit is 120). */
const PER_HOUR = 75;
/** The bucket size: enough for the frequent polls in the first minutes after a submission. */
const BUCKET_SIZE = 40;
/** Below this, polls become rare. */
const SCARCE = 8;
/** Tokens that other background reads leave for polls. */
const LEFT_FOR_POLLS = 3;
/** Tokens that `leavesForPolls` leaves: enough for frequent polls for a minute or two. */
const LEFT_IN_PLENTY = 20;
const REFILL_MS = (60 * 60_000) / PER_HOUR;
/** The sandbox runs locally, and its runs take half a minute. */
const LOCAL_FACTOR = 20;

/**
 * Limits the background GETs of an account with a token bucket. All windows share it: each takes over the tokens that
 * the others left, and stores what it leaves itself. Requests by the user are not limited.
 */
export class RequestQuota {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #bucketSize: number;
  readonly #refillMs: number;
  #tokens: number;
  #countedAtMs: number;
  #unshared = 0;
  /** Whether this window asked the service last. Then it also sends the requests that only one window has to send. */
  isReader = true;

  /** @param isLocal whether the service is on this machine, where nobody else shares it */
  constructor(clock: Pick<Clock, 'monotonicMs'> = SYSTEM_CLOCK, isLocal = false) {
    const factor = isLocal ? LOCAL_FACTOR : 1;
    this.#clock = clock;
    this.#bucketSize = this.#tokens = BUCKET_SIZE * factor;
    this.#refillMs = REFILL_MS / factor;
    this.#countedAtMs = clock.monotonicMs();
  }

  /** Takes over the tokens that were left some time ago, less those that this window took since its last `share`. */
  adopt(left: number, agoMs: number): void {
    this.#tokens = Math.min(this.#bucketSize, left + Math.max(0, agoMs) / this.#refillMs) - this.#unshared;
    this.#countedAtMs = this.#clock.monotonicMs();
  }

  /** How many tokens this window took since its last `share`. */
  get unshared(): number {
    return this.#unshared;
  }

  /** Returns how many tokens are left, to be stored for the other windows. */
  share(): number {
    this.#unshared = 0;
    return this.#count();
  }

  /** Whether polls should be rare to save tokens. */
  get isScarce(): boolean {
    return this.#count() < SCARCE;
  }

  /** Whether `count` more GETs leave enough for frequent polls. A full bucket always suffices. */
  leavesForPolls(count: number): boolean {
    return this.#count() >= Math.min(LEFT_IN_PLENTY + count, this.#bucketSize - 1);
  }

  /** Takes a token for a poll, or a check of a submission. @returns whether it may be sent */
  take(): boolean {
    return this.#takeAbove(0);
  }

  /**
   * Takes a token for other background reads, such as details. Leaves some tokens for polls.
   * @param isForUser whether the user sees the result in this window, so that it need not be the reader
   */
  takeForExtras(isForUser = false): boolean {
    return (this.isReader || isForUser) && this.#takeAbove(LEFT_FOR_POLLS);
  }

  /** Takes a token even if none is left, for work that must be finished, such as a list's next page. */
  recordExtra(): void {
    this.#tokens = this.#count() - 1;
    this.#unshared++;
  }

  /** How long until `take` can succeed, in milliseconds. */
  get waitMs(): number {
    return Math.max(0, Math.ceil((1 - this.#count()) * this.#refillMs));
  }

  #takeAbove(left: number): boolean {
    if (this.#count() < left + 1) return false;
    this.recordExtra();
    return true;
  }

  /** Returns the tokens, with those that were added since the last count. */
  #count(): number {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#bucketSize, this.#tokens + (nowMs - this.#countedAtMs) / this.#refillMs);
    this.#countedAtMs = nowMs;
    return this.#tokens;
  }
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How often the list is polled, by the time since the last change of a watched run. */
const PACES = [
  { belowMs: MINUTE, everyMs: 5 * SECOND },
  { belowMs: 5 * MINUTE, everyMs: 15 * SECOND },
  { belowMs: 20 * MINUTE, everyMs: 45 * SECOND },
  { belowMs: HOUR, everyMs: 2 * MINUTE },
  { belowMs: DAY, everyMs: 5 * MINUTE },
] as const;
const SLOWEST_MS = 30 * MINUTE;
/** The minimum interval while few GETs are left. */
const SCARCE_MS = 90 * SECOND;

/** How often to check whether the service is reachable again, if no other poll is due. */
export const OFFLINE_MS = MINUTE;

/** How long an unknown status is watched without a change. */
export const UNKNOWN_WATCHED_MS = 7 * DAY;

/**
 * Returns when to poll again, in milliseconds after the end of the last poll; Infinity to sleep.
 * @param ageMs time since the latest change of a watched run, Infinity without one
 * @param isScarce whether few GETs are left
 */
export function pollEveryMs(ageMs: number, isScarce: boolean): number {
  if (ageMs === Infinity) return Infinity;
  const everyMs = PACES.find(({ belowMs }) => ageMs < belowMs)?.everyMs ?? SLOWEST_MS;
  return Math.max(everyMs, isScarce ? SCARCE_MS : 0);
}
