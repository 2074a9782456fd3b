import { shared } from '../base/async.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Intent } from './intent.ts';
import type { Journal } from './journal.ts';
import { isSame, restingState, type Activity, type PendingSubmission } from './pendingSubmission.ts';

/** How often other windows' leases are probed, while there are any. */
const PROBE_MS = 5_000;
/** The delay after a change of the journal: the window that made it may be about to release the intent. */
const SOON_MS = 100;
/** How often the time until the next attempt, and that since validation began, are counted. */
const TICK_MS = 1_000;
const TICKING: ReadonlySet<Activity['state']> = new Set(['waiting', 'validating']);

type ListedJournal = Pick<Journal, 'intents' | 'isLooked' | 'isOwned' | 'onDidChange' | 'reload'>;

/**
 * Owns what is shown of the open submissions: what this window does with each, and which ones other windows
 * own. A window that dies reports nothing, so their leases are probed until they are free.
 */
export class PendingList implements Disposable {
  readonly #journal: ListedJournal;
  readonly #onChange: (submission: PendingSubmission) => void;
  readonly #subscription: Disposable;
  /** What this window does, by ID. */
  readonly #live = new Map<string, Activity>();
  /** IDs reported as resolved although the receipt could not be written. */
  readonly #hidden = new Set<string>();
  /** Intents whose lease was free when probed. A rewritten intent is a new object. */
  readonly #free = new WeakSet<Intent>();
  #shown = new Map<string, PendingSubmission>();
  #timer: NodeJS.Timeout | undefined;
  #ticking: NodeJS.Timeout | undefined;
  /** Counts changes of intents or owners: a probe can miss a change that happens during it. */
  #changes = 0;
  #isDisposed = false;

  /** Probes now. Never rejects. */
  readonly probe = shared(() => this.#probe());

  /** @param onChange called with the latest state of each submission that was added, changed, or removed */
  constructor(journal: ListedJournal, onChange: (submission: PendingSubmission) => void) {
    this.#journal = journal;
    this.#onChange = onChange;
    this.#subscription = journal.onDidChange(() => {
      this.#publish();
      this.#probeSoon();
    });
    this.#publish();
    if (journal.intents.length > 0) this.#probeSoon();
  }

  /** The pending submissions, oldest first. */
  get all(): readonly PendingSubmission[] {
    return [...this.#shown.values()];
  }

  get(id: string): PendingSubmission | undefined {
    return this.#shown.get(id);
  }

  /** Shows what this window is doing with an intent. */
  show(id: string, change: Partial<Activity>): void {
    const live = this.#live.get(id);
    if (live === undefined && change.state === undefined) return;
    const next = { state: 'queued' as const, ...live, ...change };
    this.#live.set(id, TICKING.has(next.state) ? { ...next, tickMs: Date.now() } : next);
    this.#publish();
  }

  /**
   * Ends this window's work on an intent whose lease it has released.
   * @param isOwn false if another window took it over: then it must be read again before it counts as free
   */
  released(id: string, isOwn = true): void {
    this.#live.delete(id);
    const intent = this.#journal.intents.find((open) => open.id === id);
    if (intent !== undefined && isOwn) this.#free.add(intent);
    else if (intent !== undefined) {
      this.#free.delete(intent);
      this.#probeSoon();
    }
    this.#publish();
  }

  hide(id: string): void {
    this.#hidden.add(id);
    this.#publish();
  }

  /** Shows a hidden intent again, because it prevents another submission. */
  unhide(id: string): void {
    if (this.#hidden.delete(id)) this.#publish();
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#ticking);
    this.#subscription.dispose();
  }

  #publish(): void {
    if (this.#isDisposed) return;
    const before = this.#shown;
    const intents = this.#journal.intents.filter(({ id }) => !this.#hidden.has(id));
    this.#shown = new Map(intents.map((intent) => [intent.id, this.#submissionOf(intent)]));
    for (const [id, submission] of this.#shown)
      if (!isSame(before.get(id), submission)) this.#onChange(submission);
    for (const [id, submission] of before) if (!this.#shown.has(id)) this.#onChange(submission);
    const isTicking = this.all.some(({ state }) => TICKING.has(state));
    if (isTicking) this.#ticking ??= setTimeout(() => this.#tick(), TICK_MS).unref();
  }

  #tick(): void {
    this.#ticking = undefined;
    for (const [id, { state }] of this.#live) if (TICKING.has(state)) this.show(id, {});
  }

  #submissionOf(intent: Intent): PendingSubmission {
    const { id, accountId, attempts, dataset } = intent;
    return {
      id,
      accountId,
      intent,
      sentBytes: 0,
      totalBytes: dataset.sizeBytes,
      attempt: attempts.length,
      state: this.#free.has(intent) ? restingState(intent, this.#journal.isLooked(id)) : 'elsewhere',
      ...this.#live.get(id),
    };
  }

  #probeSoon(): void {
    this.#changes++;
    this.#planProbe(SOON_MS);
  }

  #planProbe(ms: number): void {
    if (this.#isDisposed) return;
    clearTimeout(this.#timer);
    // The jitter keeps windows that wake up on the same change from colliding with each other's probes.
    this.#timer = setTimeout(() => void this.probe(), ms * (0.5 + Math.random()));
    this.#timer.unref();
  }

  async #probe(): Promise<void> {
    const before = this.#changes;
    const unowned: Intent[] = [];
    for (const intent of this.#journal.intents) {
      if (this.#isDisposed) return;
      if (this.#live.has(intent.id)) continue;
      if (await this.#journal.isOwned(intent.id)) this.#free.delete(intent);
      else unowned.push(intent);
    }
    // Another window may have released it after writing it. Only an intent that the disk still has is free.
    await this.#journal.reload().catch(() => undefined);
    const { intents } = this.#journal;
    for (const intent of unowned) if (intents.includes(intent)) this.#free.add(intent);
    this.#publish();
    if (this.#changes !== before) this.#planProbe(SOON_MS);
    else if (this.all.some(({ state }) => state === 'elsewhere')) this.#planProbe(PROBE_MS);
  }
}
