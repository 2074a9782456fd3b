import type { Disposable } from '../base/disposable.ts';
import { mayBeCharged, type Intent } from './intent.ts';
import type { Journal } from './journal.ts';
import { doubtOf } from './judge.ts';
import type { PendingSubmission } from './pendingSubmission.ts';

type Live = Partial<Omit<PendingSubmission, 'id' | 'accountId' | 'intent'>> &
  Pick<PendingSubmission, 'state'>;

/** Whether other windows still have what is theirs is looked at this often, while they have anything. */
const ELSEWHERE_MS = 5_000;
/** After a change of the journal: a window that made one may be about to let it go. */
const SOON_MS = 100;

/** What of the journal's intents there is to show: what this window does with them, what others do, or how they rest. */
export class PendingSubmissions implements Disposable {
  readonly #journal: Journal;
  readonly #onChange: (submission: PendingSubmission) => void;
  readonly #subscription: Disposable;
  readonly #live = new Map<string, Live>();
  /** What an intent was when it was known that nobody had it, by its id: every other one may be another window's. */
  readonly #free = new Map<string, string>();
  /** Told as settled, though the disk would not take it. */
  readonly #hidden = new Set<string>();
  #shown = new Map<string, PendingSubmission>();
  #timer: NodeJS.Timeout | undefined;
  #probing: Promise<void> | undefined;
  #disposed = false;

  /** @param onChange told each submission that changed, came or went, with its last state */
  constructor(journal: Journal, onChange: (submission: PendingSubmission) => void) {
    this.#journal = journal;
    this.#onChange = onChange;
    this.#subscription = journal.onDidChange(() => {
      this.#publish();
      this.#planProbe(SOON_MS);
    });
    this.#publish();
    if (journal.intents.length > 0) this.#planProbe(SOON_MS);
  }

  /** Oldest first. */
  get all(): readonly PendingSubmission[] {
    return [...this.#shown.values()];
  }

  /** What this window does with an intent. */
  set(id: string, change: Partial<Live>): void {
    const live = this.#live.get(id);
    if (live === undefined && change.state === undefined) return;
    this.#live.set(id, { state: 'queued', ...live, ...change });
    this.#publish();
  }

  /** This window does nothing more with it. */
  rest(id: string): void {
    this.#live.delete(id);
    this.#setFree(id);
    this.#publish();
  }

  /** Finds out which intents other windows have. Never rejects. */
  probe(): Promise<void> {
    this.#probing ??= this.#probeAll().finally(() => (this.#probing = undefined));
    return this.#probing;
  }

  /** Shows it no more, whatever the disk says. */
  hide(id: string): void {
    this.#hidden.add(id);
    this.#publish();
  }

  /** Shows what was hidden: it stands in the way of another one. */
  unhide(id: string): void {
    if (this.#hidden.delete(id)) this.#publish();
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
    this.#subscription.dispose();
  }

  #publish(): void {
    if (this.#disposed) return;
    const before = this.#shown;
    const intents = this.#journal.intents.filter(({ id }) => !this.#hidden.has(id));
    this.#shown = new Map(intents.map((intent) => [intent.id, this.#submissionOf(intent)]));
    for (const [id, submission] of this.#shown)
      if (!isSame(before.get(id), submission)) this.#onChange(submission);
    for (const [id, submission] of before) if (!this.#shown.has(id)) this.#onChange(submission);
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
      state: this.#free.get(id) === JSON.stringify(intent) ? restingState(intent) : 'elsewhere',
      ...this.#live.get(id),
    };
  }

  /** A window that dies says nothing: what it had is asked for until it is free. */
  #planProbe(ms: number): void {
    if (this.#disposed) return;
    clearTimeout(this.#timer);
    // Windows that are woken by the same change would find each other's probes.
    this.#timer = setTimeout(() => void this.probe(), ms * (0.5 + Math.random()));
    this.#timer.unref();
  }

  async #probeAll(): Promise<void> {
    const before = this.#journal.intents;
    const freeBefore = new Map(this.#free);
    const free: Intent[] = [];
    for (const intent of before) {
      if (this.#disposed) return;
      // Where leases cannot be had no window has one; whoever does something with it is told that.
      const isOwned = await this.#journal.isOwned(intent.id).catch(() => false);
      if (!isOwned) free.push(intent);
    }
    // Who had it may have let it go since it was last read: it is free as it was only where it is still the same.
    await this.#journal.reload().catch(() => undefined);
    // What this window let go meanwhile stays free.
    for (const { id } of before) if (this.#free.get(id) === freeBefore.get(id)) this.#free.delete(id);
    for (const { id, text } of free.map((intent) => ({ id: intent.id, text: JSON.stringify(intent) })))
      if (this.#textOf(id) === text) this.#free.set(id, text);
    this.#publish();
    const isChanged = free.some(({ id }) => !this.#free.has(id) && this.#textOf(id) !== undefined);
    if (isChanged) this.#planProbe(SOON_MS);
    else if (this.all.some(({ state }) => state === 'elsewhere')) this.#planProbe(ELSEWHERE_MS);
  }

  #textOf(id: string): string | undefined {
    const intent = this.#journal.intents.find((open) => open.id === id);
    return intent === undefined ? undefined : JSON.stringify(intent);
  }

  #setFree(id: string): void {
    const text = this.#textOf(id);
    if (text === undefined) this.#free.delete(id);
    else this.#free.set(id, text);
  }
}

function restingState(intent: Intent): PendingSubmission['state'] {
  if (intent.refused !== undefined) return 'refused';
  if (!mayBeCharged(intent)) return 'unsent';
  return doubtOf(intent) === undefined ? 'not-charged' : 'unknown';
}

function isSame(one: PendingSubmission | undefined, other: PendingSubmission): boolean {
  if (one === undefined) return false;
  return (Object.keys({ ...one, ...other }) as (keyof PendingSubmission)[]).every(
    (name) => one[name] === other[name],
  );
}
