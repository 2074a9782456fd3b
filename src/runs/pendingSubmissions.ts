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
    this.#timer = setTimeout(() => void this.probe(), ms);
    this.#timer.unref();
  }

  async #probeAll(): Promise<void> {
    for (const { id } of this.#journal.intents) {
      // An owner that cannot be asked for may be there.
      const isOwned = !this.#live.has(id) && (await this.#journal.isOwned(id).catch(() => true));
      // Meanwhile this window may have begun with it.
      if (isOwned && !this.#live.has(id)) this.#free.delete(id);
      else this.#setFree(id);
    }
    this.#publish();
    if (this.all.some(({ state }) => state === 'elsewhere')) this.#planProbe(ELSEWHERE_MS);
  }

  #setFree(id: string): void {
    const intent = this.#journal.intents.find((open) => open.id === id);
    if (intent === undefined) this.#free.delete(id);
    else this.#free.set(id, JSON.stringify(intent));
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
