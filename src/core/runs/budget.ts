import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';

/** GETs that come back in an hour. With what may stand in store, no hour sees more than 115 (the limit is 120). */
const PER_HOUR = 75;
/** Enough for the first minutes after a submission, which are looked at often. */
const IN_STORE = 40;
/** What a window may begin with that takes the watch over: the one before it may have spent its store just now. */
const AFTER_ANOTHER = 2;
/** Below it, looks are rare. */
const SCARCE = 8;
/** What other reads leave for looks. */
const KEPT_FOR_LOOKS = 3;
/** What is left in plenty: looks that are frequent for a minute or two. */
const LEFT_IN_PLENTY = 20;
const REFILL_MS = (60 * 60_000) / PER_HOUR;
/** The sandbox is on this machine, and its runs take half a minute. */
const LOCAL_FACTOR = 20;

/**
 * How many GETs the background of an account may still send: a token bucket. All are sent by the one window that watches;
 * the other windows' are closed. What a person asks for takes nothing.
 */
export class Budget {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #inStore: number;
  readonly #refillMs: number;
  #holder: Disposable | undefined;
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

  /**
   * This window watches now, until what is returned is disposed.
   * @param isAfterAnother whether another window did until now
   */
  open(isAfterAnother: boolean): Disposable {
    if (isAfterAnother) this.#tokens = Math.min(AFTER_ANOTHER, this.#count());
    const holder: Disposable = {
      dispose: () => {
        if (this.#holder === holder) this.#holder = undefined;
      },
    };
    this.#holder = holder;
    return holder;
  }

  /** Whether looks should be rare, so that something is left. */
  get isScarce(): boolean {
    return this.#count() < SCARCE;
  }

  /** Whether so many more could be sent now, and looks would still be frequent; as many as are ever in store count as enough. */
  hasPlenty(count: number): boolean {
    return this.#count() >= Math.min(LEFT_IN_PLENTY + count, this.#inStore - 1);
  }

  /** Takes one, for a look. @returns whether it may be sent */
  take(): boolean {
    return this.#takeAbove(0);
  }

  /** Takes one for anything else that nobody asked for, such as details; some are kept for looks. */
  takeSpare(): boolean {
    return this.#takeAbove(KEPT_FOR_LOOKS);
  }

  /** Takes one for what has begun and must be ended, such as the other pages of a list: what is owed is paid before the next look. */
  owe(): void {
    this.#tokens = this.#count() - 1;
  }

  /** How long until `take` gives one, in milliseconds. */
  get waitMs(): number {
    return this.#untilMs(0);
  }

  /** How long until `takeSpare` may give one; undefined where this window does not watch. */
  get spareWaitMs(): number | undefined {
    return this.#holder && this.#untilMs(KEPT_FOR_LOOKS);
  }

  #takeAbove(kept: number): boolean {
    if (this.#holder === undefined || this.#count() < kept + 1) return false;
    this.#tokens--;
    return true;
  }

  #untilMs(kept: number): number {
    return Math.max(0, Math.ceil((kept + 1 - this.#count()) * this.#refillMs));
  }

  #count(): number {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#inStore, this.#tokens + (nowMs - this.#countedAtMs) / this.#refillMs);
    this.#countedAtMs = nowMs;
    return this.#tokens;
  }
}
