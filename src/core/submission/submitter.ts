import type { RunCreation, RunSummary } from '../api/types.ts';
import { placeOf, type Account } from '../accounts/account.ts';
import { ServiceError } from '../api/errors.ts';
import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError, unlessCancelled } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import { RETRIES } from '../base/retry.ts';
import type { Session } from '../runs/session.ts';
import type { Lease } from '../storage/lease.ts';
import {
  isSameWish,
  mayBeCharged,
  newIntent,
  type Draft,
  type Intent,
  type Moment,
  type Settlement,
} from './intent.ts';
import { NotOwnerError, type Journal } from './journal.ts';
import { assertNotTooEarly, TooEarlyError } from './nextStep.ts';
import {
  canCheck,
  isCancellable,
  PendingSubmissions,
  type PendingSubmission,
  type Submission,
  type SubmissionResult,
} from './pendingSubmission.ts';
import {
  CandidatesError,
  hasNewCandidates,
  isMarked,
  Reconciler,
  type ReconcileResult,
} from './reconciler.ts';
import { isUncertain, uncertaintyOf } from './reconcilePolicy.ts';
import { LeaseLostError, refusalOf, UploadAttempts, type AttemptsEnd } from './uploadAttempts.ts';

type Owned = { lease: Lease; intent: Intent };

/**
 * Owns the way from a draft to a charge, at most one for each: one upload at a time, the others wait in order. Each draft
 * becomes an intent of the journal with one Idempotency-Key; this is the one way to `createRun`.
 */
export class Submitter implements Disposable {
  readonly #journal: Journal;
  readonly #time: { clock: Clock; random: () => number };
  readonly #pending: PendingSubmissions;
  readonly #reconciler: Reconciler;
  readonly #cancels = new Map<string, AbortController>();
  readonly #stop = new AbortController();
  readonly #onDidChange = new Emitter<PendingSubmission>();
  readonly #uploads = new UploadQueue();
  readonly #checks = new Map<string, Promise<ReconcileResult | undefined>>();

  /** Fires when a submission began, progressed, ended or was dismissed, here or in another window, with its last state. */
  readonly onDidChange = this.#onDidChange.event;

  /** @param time for tests: time, and the random numbers from 0 up to 1 of the jitter */
  constructor(journal: Journal, time: { clock?: Clock; random?: () => number } = {}) {
    this.#journal = journal;
    this.#time = { clock: SYSTEM_CLOCK, random: Math.random, ...time };
    this.#pending = new PendingSubmissions(journal, (submission) => this.#onDidChange.fire(submission));
    this.#reconciler = new Reconciler(journal, this.#time.clock);
  }

  /** Oldest first. */
  get pending(): readonly PendingSubmission[] {
    return this.#pending.all;
  }

  /** Those of the same bytes at the service of an account, of whichever account: two of this machine may be one there. */
  openOnesOf(account: Account, sha256: string): readonly PendingSubmission[] {
    return this.pending.filter(
      ({ state, intent: { origin, dataset } }) =>
        origin === placeOf(account) && state !== 'refused' && dataset.sha256 === sha256,
    );
  }

  /** Finds out which of the pending ones other windows own; before that, all may be theirs. Never rejects. */
  probe(): Promise<void> {
    return this.#pending.probe();
  }

  /** Whether anything of this account may have been charged and is not resolved. */
  isUnknown(accountId: string): boolean {
    return this.pending.some(({ accountId: id, intent }) => id === accountId && mayBeCharged(intent));
  }

  /**
   * Makes an intent of a draft and sends it, after the uploads that were asked for earlier. After `charged` the session's runs
   * and balance know it; after `unknown`, too, they are read again.
   * @param besides the open submissions of other accounts of the service beside which the user agreed to submit the same
   */
  submit(session: Session, draft: Draft, signal: AbortSignal, besides: readonly string[] = []): Submission {
    const intent = newIntent(session.account, draft, this.#time.clock);
    return this.#handleOf(intent.id, this.#submit(session, intent, signal, besides));
  }

  /**
   * Sends an open intent again, with the same Idempotency-Key and bytes; the run of one that may have been charged is looked for
   * first.
   */
  resume(session: Session, id: string, signal: AbortSignal): Submission {
    return this.#handleOf(id, this.#resume(session, id, signal));
  }

  #handleOf(id: string, result: Promise<SubmissionResult>): Submission {
    const onProgress: Submission['onProgress'] = (listener) =>
      this.onDidChange((submission) => {
        if (submission.id === id) listener(submission);
      });
    return { id, onProgress, result };
  }

  async #submit(
    session: Session,
    intent: Intent,
    signal: AbortSignal,
    besides: readonly string[],
  ): Promise<SubmissionResult> {
    const { id } = intent;
    // Before it is shown for the first time: the user can cancel what is shown.
    const cancel = new AbortController();
    this.#cancels.set(id, cancel);
    this.#pending.set(id, { state: this.#stateBefore() });
    const giveUp = (outcome: SubmissionResult): SubmissionResult => {
      this.#cancels.delete(id);
      this.#pending.rest(id);
      return outcome;
    };
    let created: Awaited<ReturnType<Journal['create']>>;
    try {
      created = await this.#journal.create(intent, besides);
    } catch (error) {
      // Nothing connects before the intent is on disk.
      return giveUp({ kind: 'not-charged', error, kept: false });
    }
    if ('existing' in created) {
      this.#pending.unhide(created.existing.id);
      return giveUp({ kind: 'open', id: created.existing.id });
    }
    void this.#dropRefused(intent);
    return this.#send(session, { lease: created.lease, intent }, signal, cancel);
  }

  async #resume(session: Session, id: string, signal: AbortSignal): Promise<SubmissionResult> {
    let owned: Owned | undefined;
    const known = this.#journal.intents.find((intent) => intent.id === id);
    let isOpen = known !== undefined && isUncertain(known);
    try {
      await this.#checks.get(id)?.catch(() => undefined);
      owned = await this.#acquire(session, id);
      if (owned === undefined || owned.intent.refused !== undefined) return { kind: 'elsewhere' };
      isOpen = isUncertain(owned.intent);
      await this.#waitAsAsked(owned.intent, signal);
      if (!mayBeCharged(owned.intent)) return await this.#send(session, owned, signal);
      this.#pending.set(id, { state: 'checking' });
      const { result, intent } = await this.#reconcile(session, owned, signal);
      if (result.verdict === 'charged') return this.#found(result.run);
      // What the user did not know of when they asked, they decide about first.
      if (hasNewCandidates(owned.intent, intent)) return { kind: 'unknown', error: new CandidatesError() };
      return await this.#send(session, { ...owned, intent }, signal);
    } catch (error) {
      return isOpen ? { kind: 'unknown', error } : { kind: 'not-charged', error, kept: true };
    } finally {
      owned?.lease.release();
      // What another window owns is not this one's to call free.
      if (owned !== undefined) this.#pending.rest(id);
    }
  }

  /**
   * Checks what became of an open intent; nothing but reads. Undefined where another window owns it, or it is resolved.
   * @throws ApiError, CancelledError, KeyMissingError
   */
  check(session: Session, id: string, signal?: AbortSignal): Promise<ReconcileResult | undefined> {
    const running = this.#checks.get(id);
    if (running !== undefined) return unlessCancelled(running, signal);
    const check = this.#check(session, id, signal).finally(() => this.#checks.delete(id));
    this.#checks.set(id, check);
    return check;
  }

  /** Checks whatever of an account may have been charged, where a check is due. Never rejects. */
  async checkDue(session: Session): Promise<void> {
    await this.probe();
    for (const { id, accountId, state } of this.pending) {
      if (accountId !== session.account.id || state !== 'unknown' || !this.#reconciler.isDue(id)) continue;
      await this.check(session, id, this.#stop.signal).catch(() => undefined);
    }
  }

  /**
   * Settles at once what may have been charged and whose marker is in the label of a run that was read: until then one charge
   * looks like two. Never rejects.
   */
  async settleMarked(session: Session): Promise<void> {
    const { account, runs } = session;
    for (const submission of this.pending) {
      if (submission.accountId !== account.id || !canCheck(submission)) continue;
      const isItsOwn = ({ run_id }: RunSummary) =>
        isMarked(submission.intent, { label: runs.label(run_id) ?? '' });
      const run = runs.rows?.find(isItsOwn);
      if (run !== undefined) await this.adopt(session, submission.id, run.run_id, 'found').catch(() => false);
    }
  }

  /**
   * Settles an intent with its run.
   * @param how whether the user recognized it, or its marker was found
   * @returns false where another window owns it
   * @throws ApiError, KeyMissingError when the run cannot be read
   */
  async adopt(
    session: Session,
    id: string,
    runId: string,
    how: 'recognised' | 'found' = 'recognised',
  ): Promise<boolean> {
    await this.#checks.get(id)?.catch(() => undefined);
    const owned = await this.#acquire(session, id);
    if (owned === undefined) return false;
    try {
      const run = await this.#reconciler.read(session, runId);
      await this.#settleCharged(session, owned, run, how);
      return true;
    } finally {
      owned.lease.release();
    }
  }

  /**
   * Gives an intent up, as the user asked.
   * @param confirmed what the user confirmed: one that may have been charged is only given up by a user who read so
   * @returns false where another window owns it, or it may have been charged meanwhile @throws what writing throws
   */
  async discard(
    id: string,
    confirmed: 'may-be-charged' | 'not-charged' = 'may-be-charged',
  ): Promise<boolean> {
    if (this.#cancels.has(id)) return false;
    await this.#checks.get(id)?.catch(() => undefined);
    const owned = await this.#journal.acquire(id);
    if (owned === undefined) return false;
    if (confirmed === 'not-charged' && isUncertain(owned.intent)) {
      owned.lease.release();
      return false;
    }
    const at = this.#now();
    await this.#settle(
      owned,
      isUncertain(owned.intent) ? { kind: 'discarded', at } : { kind: 'not-charged', at },
    );
    return true;
  }

  /**
   * Stops what is being sent, before its closing boundary has left.
   * @returns false where it is too late
   */
  cancel(id: string): boolean {
    const submission = this.pending.find((pending) => pending.id === id);
    const cancel = this.#cancels.get(id);
    if (submission === undefined || cancel === undefined || !isCancellable(submission)) return false;
    cancel.abort();
    return true;
  }

  /** Stops what is in progress; the journal knows how far it came. */
  dispose(): void {
    this.#stop.abort();
    this.#pending.dispose();
    this.#onDidChange.dispose();
  }

  async #check(session: Session, id: string, signal?: AbortSignal): Promise<ReconcileResult | undefined> {
    const owned = await this.#acquire(session, id);
    if (owned === undefined) return undefined;
    this.#pending.set(id, { state: 'checking' });
    try {
      return (await this.#reconcile(session, owned, signal)).result;
    } finally {
      owned.lease.release();
      this.#pending.rest(id);
    }
  }

  /** Checks once, and settles what is found. */
  async #reconcile(session: Session, owned: Owned, signal?: AbortSignal) {
    const checked = await this.#reconciler.check(session, owned, signal);
    if (checked.result.verdict === 'charged')
      await this.#settleCharged(session, owned, checked.result.run, 'found');
    return checked;
  }

  /** Undefined where another window owns it, it is resolved, or it belongs to another account. */
  async #acquire(session: Session, id: string): Promise<Owned | undefined> {
    if (this.#cancels.has(id)) return undefined;
    const owned = await this.#journal.acquire(id);
    if (owned === undefined) return undefined;
    const { accountId, origin } = owned.intent;
    if (accountId === session.account.id && origin === placeOf(session.account)) return owned;
    owned.lease.release();
    return undefined;
  }

  /**
   * Waits until the service may be asked again, as it demanded after the last attempt.
   * @throws TooEarlyError where nobody would wait that long, CancelledError
   */
  async #waitAsAsked(intent: Intent, signal: AbortSignal): Promise<void> {
    const { clock } = this.#time;
    try {
      assertNotTooEarly(intent, { localMs: clock.nowMs() });
      return;
    } catch (error) {
      if (!(error instanceof TooEarlyError) || error.retryAfterMs > RETRIES.submission.longestRetryAfterMs)
        throw error;
      const cancel = new AbortController();
      this.#cancels.set(intent.id, cancel);
      this.#pending.set(intent.id, { state: 'waiting', retryAtMs: clock.nowMs() + error.retryAfterMs });
      const anySignal = AbortSignal.any([signal, cancel.signal, this.#stop.signal]);
      await clock.sleep(error.retryAfterMs, anySignal).finally(() => this.#cancels.delete(intent.id));
    }
  }

  /** A draft that was refused is replaced by the submission that came of it. */
  async #dropRefused(intent: Intent): Promise<void> {
    const refused = this.#journal.intents.filter(
      (other) =>
        other.refused !== undefined && other.accountId === intent.accountId && isSameWish(other, intent),
    );
    for (const { id } of refused) await this.discard(id).catch(() => false);
  }

  async #send(
    session: Session,
    owned: Owned,
    signal: AbortSignal,
    cancel = new AbortController(),
  ): Promise<SubmissionResult> {
    const { id } = owned.intent;
    this.#cancels.set(id, cancel);
    this.#pending.set(id, { state: this.#stateBefore() });
    const anySignal = AbortSignal.any([signal, cancel.signal, this.#stop.signal]);
    try {
      const end = await this.#uploads.run(() => this.#upload(session, owned, anySignal), anySignal);
      return await this.#conclude(session, owned.lease, end ?? stillQueued(owned.intent), anySignal);
    } finally {
      this.#cancels.delete(id);
      owned.lease.release();
      this.#pending.rest(id);
    }
  }

  /** Of one that is about to be sent. */
  #stateBefore(): PendingSubmission['state'] {
    return this.#uploads.isBusy ? 'queued' : 'uploading';
  }

  /** Checks before it says that the outcome is unknown. */
  async #conclude(
    session: Session,
    lease: Lease,
    end: AttemptsEnd,
    signal: AbortSignal,
  ): Promise<SubmissionResult> {
    const stopping = this.#stop.signal;
    const { intent } = end;
    const outcome = await this.#settleEnd(session, lease, end, stopping);
    if (outcome.kind !== 'unknown' || stopping.aborted) return outcome;
    // The service asked for a pause.
    if ('waitMs' in end && end.waitMs > 0) return outcome;
    this.#pending.set(intent.id, { state: 'checking' });
    try {
      // Who cancelled wants to know, too; who cancels now need not wait for it.
      const until = signal.aborted ? stopping : signal;
      const { result } = await this.#reconcile(session, { lease, intent }, until);
      return result.verdict === 'charged' ? this.#found(result.run) : outcome;
    } catch {
      return outcome;
    }
  }

  /** Settles what is certain after the last attempt, and says what is true. */
  async #settleEnd(
    session: Session,
    lease: Lease,
    end: AttemptsEnd,
    stopping: AbortSignal,
  ): Promise<SubmissionResult> {
    const { intent } = end;
    const owned = { lease, intent };
    if (end.kind === 'charged') {
      await this.#settleCharged(session, owned, end.run, 'answered');
      return this.#chargedBy(end.run);
    }
    const { error, kind } = end;
    if (kind === 'refused')
      return { kind: 'not-charged', error, kept: await this.#storeRefusal(session, owned, error) };
    if (kind === 'reconcile') {
      // Two checks have said so, and nothing was sent since.
      if (uncertaintyOf(intent) === undefined) return { kind: 'not-charged', error, kept: true };
      readAgain(session);
      return { kind: 'unknown', error };
    }
    // Not by us; but who owns it now may be sending it.
    if (error instanceof LeaseLostError || error instanceof NotOwnerError) return { kind: 'elsewhere' };
    // When the extension ends, nothing is settled that the user did not decide.
    if (kind === 'unsent' || stopping.aborted) return { kind: 'not-charged', error, kept: true };
    const kept = await this.#settle(owned, { kind: 'not-charged', at: this.#now() }).then(
      () => false,
      () => true,
    );
    return { kind: 'not-charged', error, kept };
  }

  /** Settles an intent with its run, which runs and balance of the session then know. */
  async #settleCharged(
    session: Session,
    owned: Owned,
    run: RunCreation,
    how: 'answered' | 'found' | 'recognised',
  ): Promise<void> {
    const { model_id, label } = owned.intent;
    await this.#settle(owned, { kind: 'charged', at: this.#now(), run, how });
    session.runs.insertCreated(run, model_id, label);
    if (run.balance_after_cents !== undefined && run.currency !== undefined)
      session.balance.set({ balance_cents: run.balance_after_cents, currency: run.currency });
    readAgain(session);
  }

  /**
   * Where it cannot be written the file stays open, which asks for a check and never for money. A charge is reported anyway.
   * @throws what writing anything else throws
   */
  async #settle({ lease, intent }: Owned, settled: Settlement): Promise<void> {
    try {
      await this.#journal.settle(lease, { ...intent, settled });
    } catch (error) {
      lease.release();
      if (settled.kind !== 'charged') throw error;
      this.#pending.hide(intent.id);
    }
  }

  /** @returns whether it could be stored */
  #storeRefusal(session: Session, { lease, intent }: Owned, error: unknown): Promise<boolean> {
    if (error instanceof ServiceError && error.code === 'insufficient_balance')
      void session.balance.refresh().catch(() => undefined);
    return this.#journal.write(lease, { ...intent, refused: refusalOf(error, this.#now()) }).then(
      () => true,
      () => false,
    );
  }

  #now(): Moment {
    return { localMs: this.#time.clock.nowMs() };
  }

  #chargedBy(run: RunCreation): SubmissionResult & { kind: 'charged' } {
    return { kind: 'charged', run, onReported: () => void this.#journal.claimNotice(run.run_id) };
  }

  #found(run: RunCreation): SubmissionResult {
    return { ...this.#chargedBy(run), found: true };
  }

  #upload(session: Session, owned: Owned, signal: AbortSignal): Promise<AttemptsEnd> {
    const { id } = owned.intent;
    // It waits for no other now: the balance is read before the first byte.
    this.#pending.set(id, { state: 'uploading' });
    const attempts = new UploadAttempts(session, this.#journal, owned, this.#time, {
      onAttempt: (attempt) =>
        this.#pending.set(id, {
          state: 'uploading',
          attempt,
          startedAtMs: this.#time.clock.nowMs(),
          sentBytes: 0,
        }),
      onProgress: (sentBytes, totalBytes) => this.#pending.set(id, { sentBytes, totalBytes }),
      onClosed: () => this.#pending.set(id, { state: 'validating' }),
      onWaiting: (retryAtMs) => this.#pending.set(id, { state: 'waiting', retryAtMs }),
    });
    return attempts.run(signal);
  }
}

function stillQueued(intent: Intent): AttemptsEnd {
  const error = new CancelledError();
  return mayBeCharged(intent)
    ? { kind: 'reconcile', waitMs: 0, error, intent }
    : { kind: 'dropped', error, intent };
}

/** Not awaited, and never an error: the result is reported at once, and what is read later shows when it comes. */
function readAgain({ runs, balance }: Session): void {
  void Promise.allSettled([runs.refresh(), balance.refresh()]);
}

/** Lets one upload run at a time; the others wait in order. */
class UploadQueue {
  #last: Promise<unknown> = Promise.resolve();
  #asked = 0;

  /** Whether the next one has to wait. */
  get isBusy(): boolean {
    return this.#asked > 0;
  }

  /** Runs the work when its turn comes. @returns undefined when it is cancelled before; @throws what the work throws */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const before = this.#last;
    this.#asked++;
    const turn = until(before, signal)
      .then((isMyTurn) => (isMyTurn ? work() : undefined))
      .finally(() => this.#asked--);
    this.#last = Promise.allSettled([before, turn]);
    return turn;
  }
}

/** @returns false when it is cancelled before */
function until(turn: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const leave = () => resolve(false);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    void turn.then(() => {
      signal.removeEventListener('abort', leave);
      resolve(!signal.aborted);
    });
  });
}
