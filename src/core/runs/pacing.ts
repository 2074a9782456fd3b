import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';

/** GETs added in an hour. With those in store, no hour sees more than 115 (the limit is 120). */
const PER_HOUR = 75;
/** Enough for the first minutes after a submission, which are polled often. */
const IN_STORE = 40;
/** What a window may begin with that takes the watch over: the one before it may have spent its store just now. */
const AFTER_ANOTHER = 2;
/** Below it, polls are rare. */
const SCARCE = 8;
/** What other reads leave for polls. */
const LEFT_FOR_POLLS = 3;
/** What is left in plenty: polls that are frequent for a minute or two. */
const LEFT_IN_PLENTY = 20;
const REFILL_MS = (60 * 60_000) / PER_HOUR;
/** The sandbox is on this machine, and its runs take half a minute. */
const LOCAL_FACTOR = 20;

/**
 * How many GETs the background of an account may still send: a token bucket. All are sent by the one window that polls;
 * the other windows' are closed. What the user asks for takes nothing.
 */
export class Budget {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #inStore: number;
  readonly #refillMs: number;
  #isOpen = false;
  #tokens: number;
  #countedAtMs: number;

  /** @param isLocal whether the service is on this machine, where nobody else waits for it */
  constructor(clock: Pick<Clock, 'monotonicMs'> = SYSTEM_CLOCK, isLocal = false) {
    const factor = isLocal ? LOCAL_FACTOR : 1;
    this.#clock = clock;
    this.#inStore = this.#tokens = IN_STORE * factor;
    this.#refillMs = REFILL_MS / factor;
    this.#countedAtMs = clock.monotonicMs();
  }

  /** This window polls now. @param isAfterAnother whether another window did until now */
  open(isAfterAnother: boolean): void {
    if (isAfterAnother) this.#tokens = Math.min(AFTER_ANOTHER, this.#count());
    this.#isOpen = true;
  }

  /** Another window may poll now. */
  close(): void {
    this.#isOpen = false;
  }

  /** Whether polls should be rare, so that something is left. */
  get isScarce(): boolean {
    return this.#count() < SCARCE;
  }

  /** Whether so many more could be sent now, and polls would still be frequent; a full store always counts as enough. */
  hasPlenty(count: number): boolean {
    return this.#count() >= Math.min(LEFT_IN_PLENTY + count, this.#inStore - 1);
  }

  /** Takes one, for a poll. @returns whether it may be sent */
  take(): boolean {
    return this.#takeAbove(0);
  }

  /** Takes one for anything else that nobody asked for, such as details; some are left for polls. */
  takeSpare(): boolean {
    return this.#takeAbove(LEFT_FOR_POLLS);
  }

  /** Takes one for what has begun and must be ended, such as the other pages of a list: what is owed is paid before the next poll. */
  owe(): void {
    this.#tokens = this.#count() - 1;
  }

  /** How long until `take` gives one, in milliseconds. */
  get waitMs(): number {
    return Math.max(0, Math.ceil((1 - this.#count()) * this.#refillMs));
  }

  #takeAbove(left: number): boolean {
    if (!this.#isOpen || this.#count() < left + 1) return false;
    this.#tokens--;
    return true;
  }

  #count(): number {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#inStore, this.#tokens + (nowMs - this.#countedAtMs) / this.#refillMs);
    this.#countedAtMs = nowMs;
    return this.#tokens;
  }
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How often runs are polled, by how long ago anything changed. */
const PACES = [
  { belowMs: MINUTE, everyMs: 5 * SECOND },
  { belowMs: 5 * MINUTE, everyMs: 15 * SECOND },
  { belowMs: 20 * MINUTE, everyMs: 45 * SECOND },
  { belowMs: HOUR, everyMs: 2 * MINUTE },
  { belowMs: DAY, everyMs: 5 * MINUTE },
] as const;
const SLOWEST_MS = 30 * MINUTE;
/** At most this often where no window is in use. */
const UNSEEN_MS = 2 * MINUTE;
/** At most this often where few GETs are left. */
const SCARCE_MS = 90 * SECOND;

/** How often to check whether the service can be reached again, where nothing else is waited for. */
export const OFFLINE_MS = MINUTE;

/** How long a status that is not known is watched without a change. */
export const UNKNOWN_WATCHED_MS = 7 * DAY;

/**
 * When to poll again, in milliseconds after the last poll ended; Infinity to sleep.
 * @param watch `ageMs`: how long ago the youngest of what is watched changed, Infinity when nothing is; `isSeen`: whether a
 * window of the machine has the focus; `isScarce`: whether few GETs are left
 */
export function pollEveryMs({
  ageMs,
  isSeen,
  isScarce,
}: {
  ageMs: number;
  isSeen: boolean;
  isScarce: boolean;
}): number {
  if (ageMs === Infinity) return Infinity;
  const everyMs = PACES.find(({ belowMs }) => ageMs < belowMs)?.everyMs ?? SLOWEST_MS;
  return Math.max(everyMs, isSeen ? 0 : UNSEEN_MS, isScarce ? SCARCE_MS : 0);
}
