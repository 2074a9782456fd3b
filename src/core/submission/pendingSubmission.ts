import type { RunCreation } from '../api/types.ts';
import { shared } from '../base/async.ts';
import type { Event } from '../base/event.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Session } from '../runs/session.ts';
import { hasBoundary, type Intent } from './intent.ts';
import type { Journal } from './journal.ts';
import { lastWrittenMs, nextAutomaticCheckMs } from './reconcilePolicy.ts';
import { isPastBoundary, stageOf, type Stage } from './stage.ts';

/**
 * `validating`: every byte is sent, the service prices it. `waiting`: for the next attempt. `elsewhere`:
 * owned by another window. `stopped`: no boundary was sent, as its record says, but nothing was heard of its run yet (`mustLook`).
 * `unsent`: cannot have been charged. `unknown`: may have been. `not-charged`: two
 * complete checks found nothing. `refused`: by the service before any charge; the draft is stored.
 */
export type SubmissionState =
  | 'queued'
  | 'uploading'
  | 'validating'
  | 'waiting'
  | 'checking'
  | 'elsewhere'
  | 'stopped'
  | 'unsent'
  | 'unknown'
  | 'not-charged'
  | 'refused';

/** A submission that is in progress or needs a decision by the user. */
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
  /** Whether the service asked for this wait before anything was sent. */
  readonly isAsked?: boolean;
}

/** The current result of a submission, in terms of the user's money. */
export type SubmissionResult =
  /** `found`: by a check rather than by the response, so less is known about the charge. */
  | { kind: 'charged'; run: RunCreation; found?: true }
  /** `kept`: it is still pending and can be continued or discarded. */
  | { kind: 'not-charged'; error: unknown; kept: boolean }
  /** It may have been charged. */
  | { kind: 'unknown'; error: unknown }
  /** Nothing was sent now: no look for its run was answered, so nothing is known of an earlier time. */
  | { kind: 'unanswered'; error: unknown }
  /** Nothing was sent, or ever will be: it is too old, or was begun with another API key. The user may begin a new submission. */
  | { kind: 'withdrawn' }
  /** Nothing was sent: an open submission of the same bytes and model must be resolved first. */
  | { kind: 'open'; id: string }
  /** Nothing was sent: another window owns it, or it is resolved. */
  | { kind: 'elsewhere' };

/** The run of a submission that this window found, and settled it with. */
export interface FoundRun {
  intent: Intent;
  run: RunCreation;
}

/** A submission that this window is sending. */
export interface Submission {
  /** Its Idempotency-Key. */
  readonly id: string;
  /** Fires when it started, progressed, or ended, with its latest state. */
  readonly onProgress: Event<PendingSubmission>;
  /** Never rejects. */
  readonly result: Promise<SubmissionResult>;
}

/** Whether a refusal of this attempt would settle it: no earlier attempt can have been charged. */
export function canBeRefused({ state, intent }: PendingSubmission): boolean {
  const earlier = { ...intent, attempts: intent.attempts.slice(0, -1) };
  return (state === 'uploading' || state === 'validating') && !hasBoundary(earlier);
}

/** Whether it can be stopped before its closing boundary is sent. */
export function isCancellable({ state }: PendingSubmission): boolean {
  return state === 'queued' || state === 'uploading' || state === 'waiting';
}

/**
 * Returns the markers of an account's submissions that are in progress and may already be runs. Submissions
 * that await the user are left out: there may be no further check for their runs.
 */
export function openMarkers(submissions: readonly PendingSubmission[], accountId: string): string[] {
  return submissions
    .filter(
      ({ accountId: id, intent, state }) =>
        id === accountId && !IDLE_STATES.has(state) && hasBoundary(intent),
    )
    .flatMap(({ intent }) => intent.marker ?? []);
}

/** States in which nothing happens until the user decides. */
const IDLE_STATES: ReadonlySet<SubmissionState> = new Set([
  'stopped',
  'unsent',
  'unknown',
  'not-charged',
  'refused',
]);

/** Whether to offer a resend, or a new submission of the draft, which begins by asking whether to wait. */
export function canContinue(
  submission: PendingSubmission,
  nowMs: number,
  { keyId, longWaitUntilMs }: Partial<Pick<Session, 'keyId' | 'longWaitUntilMs'>> = {},
): boolean {
  const { intent, state } = submission;
  const stage = stageOf(intent, { nowMs, keyId });
  const { obstacle, busyUntilMs } = stage;
  // Without a boundary, a new submission begins instead.
  if (!IDLE_STATES.has(state) || (obstacle !== undefined && isPastBoundary(stage))) return false;
  return state === 'refused' || (busyUntilMs ?? longWaitUntilMs) === undefined;
}

/** Whether another check of the runs and the balance can provide new information. */
export function canCheck({ state }: PendingSubmission): boolean {
  return state === 'unknown' || state === 'not-charged' || state === 'stopped';
}

/** Whether the user can discard it. */
export function canDiscard({ state }: PendingSubmission): boolean {
  return IDLE_STATES.has(state);
}

/** The submission as it will be after a check that is running: what the user decides meanwhile waits for it. */
export function afterCheck(submission: PendingSubmission): PendingSubmission {
  const { intent, state } = submission;
  return state === 'checking' ? { ...submission, state: restingState(intent, false) } : submission;
}

/** Whether it is or may become a charge without the user: uploading, validating, or no response. */
export function mayBecomeCharge(state: SubmissionState): boolean {
  return !IDLE_STATES.has(state) || state === 'unknown' || state === 'stopped';
}

/** What this window is currently doing with a submission. */
export type Live = Partial<Omit<PendingSubmission, 'id' | 'accountId' | 'intent'>> &
  Pick<PendingSubmission, 'state'>;

/** Without locks, how long after its last version nothing is checked automatically. */
const WITHOUT_LOCKS_MS = 60 * 60_000;
/** How often the ownership of other windows' intents is probed, while there are any. */
const ELSEWHERE_MS = 5_000;
/** The probe delay after a journal change: the window that made it may be about to release the intent. */
const SOON_MS = 100;

/** The part of the journal that knows the open intents and their owners. */
type ProbedJournal = Pick<
  Journal,
  'hasLocks' | 'intents' | 'isCreated' | 'isLooked' | 'isOwned' | 'onDidChange' | 'reload'
>;

/** Owns the pending submissions: open intents, and what this or another window is doing with them. */
export class PendingSubmissions implements Disposable {
  readonly #journal: ProbedJournal;
  readonly #onChange: (submission: PendingSubmission) => void;
  readonly #subscription: Disposable;
  readonly #live = new Map<string, Live>();
  /** Intents whose lock was free when probed; others may be owned. A rewritten intent is a new object. */
  readonly #free = new WeakSet<Intent>();
  /** IDs reported as resolved although the receipt could not be written. */
  readonly #hidden = new Set<string>();
  readonly #cancels = new Map<string, AbortController>();
  /** When this window last began a check. Only those that the service answered are on disk. */
  readonly #triedAtMs = new Map<string, number>();
  /** How many checks of each it has begun. */
  readonly #tries = new Map<string, number>();
  #shown = new Map<string, PendingSubmission>();
  #timer: NodeJS.Timeout | undefined;
  /** How often intents or their owners may have changed: a probe can miss what changes during it. */
  #changes = 0;
  #disposed = false;

  /** Probes which intents are owned by other windows. Never rejects. */
  readonly probe = shared(() => this.#probeAll());

  /** @param onChange called with the latest state of each submission that was added, changed, or removed */
  constructor(journal: ProbedJournal, onChange: (submission: PendingSubmission) => void) {
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

  /** Records that this window begins a check, whether or not the service will answer it. */
  tried(id: string, atMs: number): void {
    this.#triedAtMs.set(id, atMs);
    this.#tries.set(id, (this.#tries.get(id) ?? 0) + 1);
  }

  /** Whether this window has begun a check. */
  wasTried(id: string): boolean {
    return this.#tries.has(id);
  }

  /** Returns how long ago this window began a check, in milliseconds; Infinity if it didn't or the clock was set back. */
  sinceTriedMs(id: string, nowMs: number): number {
    const sinceMs = nowMs - (this.#triedAtMs.get(id) ?? -Infinity);
    return sinceMs < 0 ? Infinity : sinceMs;
  }

  /** Returns when an automatic check is due, by this machine's clock; Infinity if none is. */
  nextCheckMs(intent: Intent, nowMs: number): number {
    const { id } = intent;
    const { name, mustLook } = stageOf(intent, { nowMs, isLooked: this.#journal.isLooked(id) });
    const lookCount = mustLook ? (this.#tries.get(id) ?? 0) : undefined;
    const nextMs = nextAutomaticCheckMs(intent, this.#triedAtMs.get(id), nowMs, lookCount);
    const mayGoOn = mustLook === true || name === 'closing' || !this.#journal.isCreated(id);
    if (this.#journal.hasLocks || !mayGoOn) return nextMs;
    // Another process may be uploading it, which the version that a check writes would end.
    return Math.max(nextMs, lastWrittenMs(intent, nowMs) + WITHOUT_LOCKS_MS);
  }

  /** Updates what this window is doing with an intent. */
  set(id: string, change: Partial<Live>): void {
    const live = this.#live.get(id);
    if (live === undefined && change.state === undefined) return;
    this.#live.set(id, { state: 'queued', ...live, ...change });
    this.#publish();
  }

  /** Returns a signal that `cancel` aborts, until `rest` is called. */
  cancelSignal(id: string): AbortSignal {
    const cancel = new AbortController();
    this.#cancels.set(id, cancel);
    return cancel.signal;
  }

  /** Stops this window's sending before the closing boundary is sent. @returns false if it is too late */
  cancel(id: string): boolean {
    const submission = this.#shown.get(id);
    const cancel = this.#cancels.get(id);
    if (submission === undefined || cancel === undefined || !isCancellable(submission)) return false;
    cancel.abort();
    return true;
  }

  /**
   * Ends this window's work on an intent, which it has released.
   * @param isOwn false if another window took it over: what this one knows of it is old until it is read again
   */
  rest(id: string, isOwn = true): void {
    this.#cancels.delete(id);
    this.#live.delete(id);
    const intent = this.#journal.intents.find((open) => open.id === id);
    if (intent !== undefined && isOwn) this.#free.add(intent);
    else if (intent !== undefined) {
      this.#free.delete(intent);
      this.#probeSoon();
    }
    this.#publish();
  }

  /** Hides an intent, whatever the disk says. */
  hide(id: string): void {
    this.#hidden.add(id);
    this.#publish();
  }

  /** Shows a hidden intent again, because it prevents another submission. */
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
      state: this.#free.has(intent) ? restingState(intent, this.#journal.isLooked(id)) : 'elsewhere',
      ...this.#live.get(id),
    };
  }

  #probeSoon(): void {
    this.#changes++;
    this.#planProbe(SOON_MS);
  }

  /** A window that dies reports nothing, so the intents of other windows are probed until they are free. */
  #planProbe(ms: number): void {
    if (this.#disposed) return;
    clearTimeout(this.#timer);
    // The jitter keeps windows that wake up on the same change from colliding with each other's probes.
    this.#timer = setTimeout(() => void this.probe(), ms * (0.5 + Math.random()));
    this.#timer.unref();
  }

  async #probeAll(): Promise<void> {
    const before = this.#changes;
    const unowned: Intent[] = [];
    for (const intent of this.#journal.intents) {
      if (this.#disposed) return;
      if (this.#live.has(intent.id)) continue;
      if (await this.#journal.isOwned(intent.id)) this.#free.delete(intent);
      else unowned.push(intent);
    }
    // An owner may have written and released it since the last read. Only what is unchanged on disk is free.
    await this.#journal.reload().catch(() => undefined);
    const { intents } = this.#journal;
    for (const intent of unowned) if (intents.includes(intent)) this.#free.add(intent);
    this.#publish();
    if (this.#changes !== before) this.#planProbe(SOON_MS);
    else if (this.all.some(({ state }) => state === 'elsewhere')) this.#planProbe(ELSEWHERE_MS);
  }
}

/** What a submission is while no window works on it. */
const RESTING_STATES: Readonly<Record<Stage['name'], SubmissionState>> = {
  draft: 'unsent',
  begun: 'unsent',
  closing: 'unknown',
  lost: 'unknown',
  cleared: 'not-charged',
  refused: 'refused',
};

function restingState(intent: Intent, isLooked: boolean): SubmissionState {
  const { name, mustLook } = stageOf(intent, { nowMs: 0, isLooked });
  // Two checks found no charge, as its record says: until a look was answered, it reads as before them.
  if (mustLook) return name === 'cleared' ? 'unknown' : 'stopped';
  return RESTING_STATES[name];
}

function isSame(one: PendingSubmission | undefined, other: PendingSubmission): boolean {
  if (one === undefined) return false;
  return (Object.keys({ ...one, ...other }) as (keyof PendingSubmission)[]).every(
    (name) => one[name] === other[name],
  );
}
