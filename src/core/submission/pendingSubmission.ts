import type { RunCreation } from '../api/types.ts';
import { shared } from '../base/async.ts';
import type { Event } from '../base/event.ts';
import type { Disposable } from '../base/disposable.ts';
import { mayBeCharged, RESEND_MS, type Intent } from './intent.ts';
import type { Journal } from './journal.ts';
import { uncertaintyOf } from './reconcilePolicy.ts';

/**
 * `validating`: every byte is out and the service prices it. `waiting`: for the next attempt. `elsewhere`: another window
 * has it. `unsent`: nothing of it can have been charged. `unknown`: it may have been. `not-charged`: two complete checks
 * found nothing. `refused`: by the service, before anything could be charged; the draft is stored.
 */
export type SubmissionState =
  | 'queued'
  | 'uploading'
  | 'validating'
  | 'waiting'
  | 'checking'
  | 'elsewhere'
  | 'unsent'
  | 'unknown'
  | 'not-charged'
  | 'refused';

/** A submission that is in progress, or about which the user has something to decide. */
export interface PendingSubmission {
  /** Its Idempotency-Key. */
  readonly id: string;
  readonly accountId: string;
  readonly intent: Intent;
  readonly state: SubmissionState;
  readonly sentBytes: number;
  readonly totalBytes: number;
  /** When this attempt's upload began; milliseconds since the epoch. */
  readonly startedAtMs?: number;
  /** Which attempt this is, from 1; 0 before the first. */
  readonly attempt: number;
  /** When the next attempt begins, while `waiting`; milliseconds since the epoch. */
  readonly retryAtMs?: number;
}

/** How a submission ended, for now, for the user's money. */
export type SubmissionResult =
  /** `found`: not by its answer, but by a check, which knows less of the charge. */
  | { kind: 'charged'; run: RunCreation; found?: true }
  /** `kept`: it is among the pending ones, to be continued or discarded. */
  | { kind: 'not-charged'; error: unknown; kept: boolean }
  /** It may have been charged. */
  | { kind: 'unknown'; error: unknown }
  /** Nothing was sent: a submission of the same bytes and model is open, and comes first. */
  | { kind: 'open'; id: string }
  /** Nothing was sent: another window has it, or it is resolved. */
  | { kind: 'elsewhere' };

/** A submission that this window sends. */
export interface Submission {
  /** Its Idempotency-Key. */
  readonly id: string;
  /** Fires when it began, progressed or ended, with its last state. */
  readonly onProgress: Event<PendingSubmission>;
  /** Never rejects. */
  readonly result: Promise<SubmissionResult>;
}

/** Whether a refusal of what is sent just now would settle it: no earlier attempt can have been charged. */
export function canBeRefused({ state, intent }: PendingSubmission): boolean {
  const earlier = { ...intent, attempts: intent.attempts.slice(0, -1) };
  return (state === 'uploading' || state === 'validating') && !mayBeCharged(earlier);
}

/** Whether it can be stopped before its closing boundary has left. */
export function isCancellable({ state }: PendingSubmission): boolean {
  return state === 'queued' || state === 'uploading' || state === 'waiting';
}

/**
 * The markers of those of an account that are in progress and may have become runs already. Not of those that rest: nobody may be
 * looking for their runs.
 */
export function openMarkers(submissions: readonly PendingSubmission[], accountId: string): string[] {
  return submissions
    .filter(
      ({ accountId: id, intent, state }) => id === accountId && !RESTING.has(state) && mayBeCharged(intent),
    )
    .flatMap(({ intent }) => intent.marker ?? []);
}

/** Nothing is done with it: the user decides. */
const RESTING: ReadonlySet<SubmissionState> = new Set(['unsent', 'unknown', 'not-charged', 'refused']);

/**
 * Whether it can be sent again, or its draft be submitted again; by this machine's clock, for what is offered. Whether it is
 * sent is decided by the service's.
 */
export function canContinue({ state, intent }: PendingSubmission, nowMs: number): boolean {
  if (state === 'unsent' || state === 'refused') return true;
  if (state !== 'unknown' && state !== 'not-charged') return false;
  const [first] = intent.attempts;
  return !mayBeCharged(intent) || (first !== undefined && nowMs - first.started.localMs < RESEND_MS);
}

/** Whether a check of runs and balance may say more of it. */
export function canCheck({ state }: PendingSubmission): boolean {
  return state === 'unknown' || state === 'not-charged';
}

/** Whether the user can give it up. */
export function canDiscard({ state }: PendingSubmission): boolean {
  return RESTING.has(state);
}

/** Whether it may be or become a charge without the user: uploading, validating, without an answer. */
export function mayBecomeCharge(state: SubmissionState): boolean {
  return !RESTING.has(state) || state === 'unknown';
}

/** What of an account is not resolved: something that may be or become a charge, or only what can be continued. */
export function pendingWorkOf(
  pending: readonly PendingSubmission[],
  accountId: string,
): 'charge' | 'kept' | undefined {
  const states = pending.filter((one) => one.accountId === accountId).map(({ state }) => state);
  if (states.length === 0) return undefined;
  return states.some(mayBecomeCharge) ? 'charge' : 'kept';
}

/** What this window does with one. */
export type Live = Partial<Omit<PendingSubmission, 'id' | 'accountId' | 'intent'>> &
  Pick<PendingSubmission, 'state'>;

/** Whether other windows still own what is theirs is checked this often, while they own anything. */
const ELSEWHERE_MS = 5_000;
/** After a change of the journal: a window that made one may be about to release it. */
const SOON_MS = 100;

/** What of the journal's intents there is to show: what this window does with them, what others do, or how they rest. */
export class PendingSubmissions implements Disposable {
  readonly #journal: Journal;
  readonly #onChange: (submission: PendingSubmission) => void;
  readonly #subscription: Disposable;
  readonly #live = new Map<string, Live>();
  /** What no window owned when its lock was tried; one that was written since is another object. All others may be owned. */
  readonly #free = new WeakSet<Intent>();
  /** Reported as resolved, though the disk would not take it. */
  readonly #hidden = new Set<string>();
  readonly #cancels = new Map<string, AbortController>();
  #shown = new Map<string, PendingSubmission>();
  #timer: NodeJS.Timeout | undefined;
  #disposed = false;

  /** Finds out which intents other windows own. Never rejects. */
  readonly probe = shared(() => this.#probeAll());

  /** @param onChange called with each submission that changed, came or went, with its last state */
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

  /** Aborted by `cancel`, from now on until it rests. */
  cancelSignal(id: string): AbortSignal {
    const cancel = new AbortController();
    this.#cancels.set(id, cancel);
    return cancel.signal;
  }

  /** Stops what this window sends, before its closing boundary has left. @returns false where it is too late */
  cancel(id: string): boolean {
    const submission = this.#shown.get(id);
    const cancel = this.#cancels.get(id);
    if (submission === undefined || cancel === undefined || !isCancellable(submission)) return false;
    cancel.abort();
    return true;
  }

  /** This window does nothing more with it, and has released it. */
  rest(id: string): void {
    this.#cancels.delete(id);
    this.#live.delete(id);
    const intent = this.#journal.intents.find((open) => open.id === id);
    if (intent !== undefined) this.#free.add(intent);
    this.#publish();
  }

  /** Shows it no longer, whatever the disk says. */
  hide(id: string): void {
    this.#hidden.add(id);
    this.#publish();
  }

  /** Shows what was hidden: it prevents another one. */
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
      state: this.#free.has(intent) ? restingState(intent) : 'elsewhere',
      ...this.#live.get(id),
    };
  }

  /** A window that dies reports nothing: what it owned is probed until it is free. */
  #planProbe(ms: number): void {
    if (this.#disposed) return;
    clearTimeout(this.#timer);
    // Windows that are woken by the same change would meet each other's probes.
    this.#timer = setTimeout(() => void this.probe(), ms * (0.5 + Math.random()));
    this.#timer.unref();
  }

  async #probeAll(): Promise<void> {
    const unowned: Intent[] = [];
    for (const intent of this.#journal.intents) {
      if (this.#disposed) return;
      if (this.#live.has(intent.id)) continue;
      // Where locks are unavailable no window owns one; whoever does something with it hears of that.
      const isOwned = await this.#journal.isOwned(intent.id).catch(() => false);
      if (isOwned) this.#free.delete(intent);
      else unowned.push(intent);
    }
    // An owner may have written and released it since it was last read: what is free is what the disk still holds.
    await this.#journal.reload().catch(() => undefined);
    const { intents } = this.#journal;
    for (const intent of unowned) if (intents.includes(intent)) this.#free.add(intent);
    this.#publish();
    const isChanged = unowned.some(({ id }) => intents.some((one) => one.id === id && !this.#free.has(one)));
    if (isChanged) this.#planProbe(SOON_MS);
    else if (this.all.some(({ state }) => state === 'elsewhere')) this.#planProbe(ELSEWHERE_MS);
  }
}

function restingState(intent: Intent): PendingSubmission['state'] {
  if (intent.refused !== undefined) return 'refused';
  if (!mayBeCharged(intent)) return 'unsent';
  return uncertaintyOf(intent) === undefined ? 'not-charged' : 'unknown';
}

function isSame(one: PendingSubmission | undefined, other: PendingSubmission): boolean {
  if (one === undefined) return false;
  return (Object.keys({ ...one, ...other }) as (keyof PendingSubmission)[]).every(
    (name) => one[name] === other[name],
  );
}
