import type { Disposable } from '../base/disposable.ts';
import type { Session } from './session.ts';

/** How often active runs are looked at after something was submitted, and later. */
const FAST_MS = 5_000;
const SLOW_MS = 30_000;
/** How long a change keeps the pace fast. */
const FAST_FOR_MS = 3 * 60_000;
/** After a failed look; the client has already retried. */
const OFFLINE_MS = 60_000;

/** When to look again, or undefined to sleep: nothing is active. */
export function nextLookMs(
  active: number,
  focused: boolean,
  sinceChangeMs: number,
  failed: boolean,
): number | undefined {
  if (failed) return OFFLINE_MS;
  if (active === 0) return undefined;
  if (!focused) return 2 * SLOW_MS;
  return sinceChangeMs < FAST_FOR_MS ? FAST_MS : SLOW_MS;
}

/** A clock that feeds one session's runs while some are active; the next look is planned after the last one ended. */
export class Watcher implements Disposable {
  readonly #session: Session;
  readonly #isFocused: () => boolean;
  readonly #isAwaiting: () => boolean;
  readonly #onError: (error: unknown) => void;
  readonly #subscription: Disposable;
  #timer: NodeJS.Timeout | undefined;
  #changedAtMs = Date.now();
  #disposed = false;

  /**
   * @param isAwaiting whether something of the account may have been charged and is not listed yet
   * @param onError told why a look failed
   */
  constructor(
    session: Session,
    isFocused: () => boolean,
    isAwaiting: () => boolean = () => false,
    onError: (error: unknown) => void = () => undefined,
  ) {
    this.#session = session;
    this.#isAwaiting = isAwaiting;
    this.#onError = onError;
    this.#isFocused = isFocused;
    this.#subscription = session.runs.onDidChange(() => {
      this.#changedAtMs = Date.now();
      this.#plan(false);
    });
  }

  /** Looks now, and goes on as long as something is active. Errors show as the session's state. */
  async look(): Promise<void> {
    clearTimeout(this.#timer);
    try {
      await this.#session.runs.refresh();
      if (this.#isAwaiting()) await this.#session.balance.refresh();
      this.#plan(false);
    } catch (error) {
      this.#onError(error);
      this.#plan(true);
    }
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    this.#subscription.dispose();
  }

  #plan(failed: boolean): void {
    clearTimeout(this.#timer);
    // Nothing is asked of a service that refused the API key, until there is another one.
    const { state } = this.#session;
    if (this.#disposed || state === 'key-rejected' || state === 'key-missing') return;
    const delayMs = nextLookMs(
      this.#session.runs.activeCount + (this.#isAwaiting() ? 1 : 0),
      this.#isFocused(),
      Date.now() - this.#changedAtMs,
      failed,
    );
    if (delayMs === undefined) return;
    this.#timer = setTimeout(() => void this.look(), delayMs);
    this.#timer.unref();
  }
}
