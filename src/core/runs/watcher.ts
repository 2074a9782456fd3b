import { SYSTEM_CLOCK } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { Lease } from '../storage/lease.ts';
import { SharedList } from './sharedList.ts';
import { WatchFollower } from './watchFollower.ts';
import type { WatchOptions } from './watchOptions.ts';
import { WatchOwner } from './watchOwner.ts';

/** How often the lease is tried or read again, and the files, where the system has no watch to give. */
const BEAT_MS = 15_000;

/**
 * Keeps one account's runs fresh in this window. One window of the machine holds the lease and looks; the others take in what
 * it tells, and one of them goes on where it ends. The next look is planned after the last one ended.
 */
export class Watcher implements Disposable {
  readonly #options: WatchOptions;
  readonly #shared: SharedList;
  readonly #end = new AbortController();
  readonly #begun: Promise<void>;
  #part: WatchOwner | WatchFollower | undefined;

  constructor({
    isAwaiting = () => false,
    recallSubmitted = () => Promise.resolve(),
    clock = SYSTEM_CLOCK,
    random = Math.random,
    onError = () => undefined,
    ...options
  }: Pick<WatchOptions, 'session' | 'folder' | 'isFocused'> & Partial<WatchOptions>) {
    this.#options = { ...options, isAwaiting, recallSubmitted, clock, random, onError };
    this.#shared = new SharedList(options.folder.list, options.session, clock);
    this.#begun = this.#begin();
  }

  /**
   * Looks now, or has the window that watches look soon, and goes on as long as something is active. Never rejects: errors
   * show as the session's state.
   */
  async look(): Promise<void> {
    await this.#begun;
    if (this.#part instanceof WatchFollower) await this.#takeOver(true);
    await this.#part?.look();
  }

  dispose(): void {
    this.#end.abort();
    this.#shared.dispose();
    this.#part?.dispose();
  }

  async #begin(): Promise<void> {
    await this.#takeOver(false);
    void this.#beats();
  }

  #isOver(): boolean {
    return this.#end.signal.aborted;
  }

  async #beats(): Promise<void> {
    const { clock, random, onError } = this.#options;
    while (!this.#isOver())
      try {
        await clock.sleep(BEAT_MS * (0.8 + 0.4 * random()), this.#end.signal);
        await this.#beat();
      } catch (error) {
        if (!this.#isOver()) onError(error);
      }
  }

  async #beat(): Promise<void> {
    const part = this.#part;
    if (part instanceof WatchOwner) {
      if (!part.beat()) await this.#follow();
      return;
    }
    await part?.beat();
    await this.#takeOver(true);
  }

  /** Becomes the one that looks, if nobody else is. @param isAfterAnother whether one was until now */
  async #takeOver(isAfterAnother: boolean): Promise<void> {
    const { session, folder, onError } = this.#options;
    if (this.#part !== undefined && session.isLocked) return;
    let lease: Lease | undefined;
    try {
      lease = await Lease.take(folder.watchLock, isAfterAnother ? 1 : undefined);
      if (lease === undefined) {
        if (this.#part === undefined) await this.#follow();
        return;
      }
      // What was seen before this window looks: the first answer is compared to it.
      await this.#shared.read(false);
      await this.#options.recallSubmitted().catch(onError);
    } catch (error) {
      onError(error);
      if (isAfterAnother) return;
    }
    if (this.#isOver() || this.#part instanceof WatchOwner) {
      lease?.release();
      return;
    }
    this.#part?.dispose();
    this.#part = new WatchOwner(this.#options, this.#shared, lease, isAfterAnother);
  }

  async #follow(): Promise<void> {
    if (this.#isOver()) return;
    this.#part?.dispose();
    this.#part = new WatchFollower(this.#options, this.#shared);
    await this.#shared.read(true);
  }
}
