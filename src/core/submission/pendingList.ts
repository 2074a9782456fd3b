import { isDeepStrictEqual } from 'node:util';
import { shared } from '../base/async.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Journal } from './journal.ts';
import { restingState, type Activity, type PendingSubmission } from './pendingSubmission.ts';
import type { Submission } from './submission.ts';

/** How often other windows' leases are probed, while there are any. */
const PROBE_MS = 5_000;
/** The delay of a probe after a change of the journal: the window that wrote may be about to release its lease. */
const SOON_MS = 100;
/** How often rows that count seconds change: until the next attempt, or since validation began. */
const TICK_MS = 1_000;
const TICKING: ReadonlySet<Activity['state']> = new Set(['waiting', 'validating']);

type ListedJournal = Pick<Journal, 'submissions' | 'maySayNotCharged' | 'isOwned' | 'onDidChange' | 'reload'>;

/**
 * Owns the rows of the open submissions: what this window does with each, and which ones other windows own. A window
 * that dies reports nothing, so this probes the leases of other windows until they are free.
 */
export class PendingList implements Disposable {
  readonly #journal: ListedJournal;
  readonly #onChange: (row: PendingSubmission) => void;
  readonly #subscription: Disposable;
  /** What this window does, by ID. */
  readonly #live = new Map<string, Activity>();
  /** Submissions whose lease was free when probed. A rewritten submission is a new object. */
  readonly #free = new WeakSet<Submission>();
  /** The IDs of submissions whose run this window has looked for, answered or not. */
  readonly #lookedFor = new Set<string>();
  #shown = new Map<string, PendingSubmission>();
  #timer: NodeJS.Timeout | undefined;
  #ticking: NodeJS.Timeout | undefined;
  /** Counts changes of submissions or owners: a probe can miss a change that happens during it. */
  #changes = 0;
  #isDisposed = false;

  /** Probes now. Never rejects. */
  readonly probe = shared(() => this.#probe());

  /** @param onChange called with the latest state of each submission that was added, changed, or removed */
  constructor(journal: ListedJournal, onChange: (row: PendingSubmission) => void) {
    this.#journal = journal;
    this.#onChange = onChange;
    this.#subscription = journal.onDidChange(() => {
      this.#publish();
      this.#probeSoon();
    });
    this.#publish();
    if (journal.submissions.length > 0) this.#probeSoon();
  }

  /** The pending submissions, oldest first. */
  get all(): readonly PendingSubmission[] {
    return [...this.#shown.values()];
  }

  get(id: string): PendingSubmission | undefined {
    return this.#shown.get(id);
  }

  /** Shows what this window is doing with a submission. */
  show(id: string, change: Partial<Activity>): void {
    const live = this.#live.get(id);
    if (live === undefined && change.state === undefined) return;
    const next = { state: 'queued' as const, ...live, ...change };
    this.#live.set(id, TICKING.has(next.state) ? { ...next, tickMs: Date.now() } : next);
    this.#publish();
  }

  /**
   * Ends this window's work on a submission whose lease it has released.
   * @param isOwn false if another window took it over: then it must be read again before it counts as free
   */
  released(id: string, isOwn = true): void {
    this.#live.delete(id);
    const submission = this.#journal.submissions.find((open) => open.id === id);
    if (submission !== undefined && isOwn) this.#free.add(submission);
    else if (submission !== undefined) {
      this.#free.delete(submission);
      this.#probeSoon();
    }
    this.#publish();
  }

  /** Remembers that a look for its run began. */
  lookBegan(id: string): void {
    this.#lookedFor.add(id);
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#ticking);
    this.#subscription.dispose();
  }

  /** Updates the rows, and reports the changed ones. Keeps ticking while any counts seconds. */
  #publish(): void {
    if (this.#isDisposed) return;
    const before = this.#shown;
    this.#shown = new Map(
      this.#journal.submissions.map((submission) => [submission.id, this.#rowOf(submission)]),
    );
    for (const [id, row] of this.#shown) if (!isDeepStrictEqual(before.get(id), row)) this.#onChange(row);
    for (const [id, row] of before) if (!this.#shown.has(id)) this.#onChange(row);
    const isTicking = this.all.some(({ state }) => TICKING.has(state));
    if (isTicking) this.#ticking ??= setTimeout(() => this.#tick(), TICK_MS).unref();
  }

  #tick(): void {
    this.#ticking = undefined;
    for (const [id, { state }] of this.#live) if (TICKING.has(state)) this.show(id, {});
  }

  /** Returns the row of a submission: what this window does, else what it is without that. */
  #rowOf(submission: Submission): PendingSubmission {
    const { id, accountId, attempts, dataset } = submission;
    return {
      id,
      accountId,
      submission,
      sentBytes: 0,
      totalBytes: dataset.sizeBytes,
      attempt: attempts.length,
      ...(this.#lookedFor.has(id) && { hasLooked: true }),
      state: this.#free.has(submission)
        ? restingState(submission, this.#journal.maySayNotCharged(id))
        : 'elsewhere',
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

  /** Probes the leases of submissions that this window doesn’t work on, and plans the next probe. */
  async #probe(): Promise<void> {
    const before = this.#changes;
    const unowned: Submission[] = [];
    for (const submission of this.#journal.submissions) {
      if (this.#isDisposed) return;
      if (this.#live.has(submission.id)) continue;
      if (await this.#journal.isOwned(submission.id)) this.#free.delete(submission);
      else unowned.push(submission);
    }
    // Another window may have written before it released its lease. Only an unchanged submission counts as free.
    await this.#journal.reload().catch(() => undefined);
    const { submissions } = this.#journal;
    for (const submission of unowned) if (submissions.includes(submission)) this.#free.add(submission);
    this.#publish();
    if (this.#changes !== before) this.#planProbe(SOON_MS);
    else if (this.all.some(({ state }) => state === 'elsewhere')) this.#planProbe(PROBE_MS);
  }
}
