import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Session } from './session.ts';

/** How long after the second failure is asked again; twice as long after each further one. */
const FIRST_MS = 60_000;
const LONGEST_MS = 10 * 60_000;

/** Something that an account's views need once, such as its models. */
export interface Missing {
  isMissing(): boolean;
  /** One request at most. */
  read(): Promise<unknown>;
}

/**
 * Reads what could not be read while the service was out of reach: once as soon as it answers, and then ever more rarely, as
 * far as the background's GETs reach. The window that polls does so by itself, another one while it has the focus.
 */
export class MissingRead implements Disposable {
  readonly #session: Session;
  readonly #missing: Missing;
  readonly #isFocused: () => boolean;
  readonly #onError: (error: unknown) => void;
  readonly #clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  readonly #end = new AbortController();
  #work: Promise<unknown> | undefined;
  #isWaiting = false;
  #failures = 0;
  #notBeforeMs = 0;

  /** @param onError gets each failure */
  constructor(
    session: Session,
    missing: Missing,
    isFocused: () => boolean,
    onError: (error: unknown) => void,
    clock: Pick<Clock, 'monotonicMs' | 'sleep'> = SYSTEM_CLOCK,
  ) {
    this.#session = session;
    this.#missing = missing;
    this.#isFocused = isFocused;
    this.#onError = onError;
    this.#clock = clock;
  }

  /** It is read again, with somebody waiting for it: nothing is sent meanwhile. */
  begin(work: Promise<unknown>): void {
    this.#failures = 0;
    this.#notBeforeMs = 0;
    void this.#follow(work);
  }

  /** The service answers, or the window got the focus. */
  wake(): void {
    const isDue = this.#session.state === 'ready' && this.#missing.isMissing();
    if (!isDue || this.#work !== undefined || this.#end.signal.aborted) return;
    const waitMs = this.#notBeforeMs - this.#clock.monotonicMs();
    if (waitMs <= 0 && this.#mayRead()) void this.#follow(this.#missing.read());
    else this.#wait(waitMs > 0 ? waitMs : FIRST_MS);
  }

  dispose(): void {
    this.#end.abort();
  }

  #mayRead(): boolean {
    const { budget } = this.#session;
    if (this.#failures < 2 || budget.takeSpare()) return true;
    return budget.spareWaitMs === undefined && this.#isFocused();
  }

  async #follow(work: Promise<unknown>): Promise<void> {
    this.#work = work;
    try {
      await work;
    } catch (error) {
      if (work === this.#work) this.#failed();
      this.#onError(error);
    }
    if (work !== this.#work) return;
    this.#work = undefined;
    this.wake();
  }

  #failed(): void {
    this.#failures++;
    const waitMs = this.#failures < 2 ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** (this.#failures - 2));
    this.#notBeforeMs = this.#clock.monotonicMs() + waitMs;
  }

  #wait(ms: number): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#clock.sleep(ms, this.#end.signal).then(
      () => {
        this.#isWaiting = false;
        this.wake();
      },
      () => undefined,
    );
  }
}
