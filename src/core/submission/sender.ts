import { serviceOf } from '../accounts/account.ts';
import { ServiceError } from '../api/errors.ts';
import type { RunCreation } from '../api/types.ts';
import { CancelledError, unlessCancelled } from '../base/errors.ts';
import { RETRIES } from '../base/retry.ts';
import type { RequestQuota } from '../runs/pacing.ts';
import type { Session } from '../runs/session.ts';
import { SubmissionError, TooEarlyError } from './errors.ts';
import {
  isCharged,
  isDuplicate,
  lacksEnd,
  mayBeCharged,
  type ChargedReceipt,
  type Intent,
  type Moment,
  type Settlement,
} from './intent.ts';
import type { Journal, KnownSubmissions, Owned } from './journal.ts';
import { askedWaitMs, mayBeForgotten } from './nextStep.ts';
import {
  canCheck,
  type FoundRun,
  type PendingSubmissions,
  type SubmissionResult,
} from './pendingSubmission.ts';
import {
  creationOf,
  findRun,
  hasNewCandidates,
  isMarked,
  localMoment,
  type ReconcileResult,
} from './reconciler.ts';
import {
  isUncertain,
  mayStillBePriced,
  uncertaintyOf,
  unfinishedUncertaintyOf,
  withObservation,
} from './reconcilePolicy.ts';
import {
  isLostOwner,
  sendAttempts,
  stopped,
  type AttemptsEnd,
  type ResendCheck,
  type Sending,
  type Time,
} from './uploadAttempts.ts';

/** How long it waits at a time for what the service asked. */
const WAIT_PART_MS = 60_000;

type How = Extract<Settlement, { kind: 'charged' }>['how'];

/** Sends, checks, and settles intents for `Submitter`, which documents the methods. */
export class Sender {
  readonly #journal: Journal;
  readonly #pending: PendingSubmissions;
  readonly #time: Time;
  /** Aborted when the extension is deactivated. */
  readonly #stopping: AbortSignal;
  readonly #uploads = new UploadQueue();
  readonly #checks = new Map<string, { done: Promise<ReconcileResult | undefined>; isAutomatic: boolean }>();

  constructor(journal: Journal, pending: PendingSubmissions, time: Time, stopping: AbortSignal) {
    this.#journal = journal;
    this.#pending = pending;
    this.#time = time;
    this.#stopping = stopping;
  }

  /** Never rejects. */
  async submit(
    session: Session,
    intent: Intent,
    signal: AbortSignal,
    known: KnownSubmissions,
  ): Promise<SubmissionResult> {
    const { id } = intent;
    // Create the signal before the submission is first shown: the user can cancel whatever is shown.
    const anySignal = this.#cancellable(id, signal);
    this.#pending.set(id, { state: this.#stateBefore() });
    // Don't connect before the intent is on disk.
    const created = await this.#journal.create(intent, known).catch((error: unknown) => ({ error }));
    if ('lease' in created) {
      void this.#dropRefused(intent);
      const owned = { lease: created.lease, intent };
      return this.#holding(owned, () => this.#send(session, owned, anySignal));
    }
    this.#pending.rest(id);
    if ('error' in created) return { kind: 'not-charged', error: created.error, kept: false };
    this.#pending.unhide(created.existing.id);
    return { kind: 'open', id: created.existing.id };
  }

  /** Never rejects. */
  async resume(session: Session, id: string, signal: AbortSignal): Promise<SubmissionResult> {
    const known = this.#journal.intents.find((intent) => intent.id === id);
    let isOpen = known !== undefined && isUncertain(known);
    try {
      const result = await this.#owning(id, session, async (owned): Promise<SubmissionResult | undefined> => {
        if (owned.intent.refused !== undefined) return undefined;
        isOpen = isUncertain(owned.intent);
        const anySignal = this.#cancellable(id, signal);
        await this.#waitAsAsked(session, owned.intent, anySignal);
        if (!mayBeCharged(owned.intent) && !lacksEnd(owned.intent))
          return this.#send(session, owned, anySignal);
        this.#pending.set(id, { state: 'checking' });
        const {
          result: found,
          intent,
          at,
        } = await this.#reconcile(session, owned, signal).catch(async (error: unknown) => {
          if (!isOpen) await this.#assertOwner(owned);
          // The user knows that this machine can't tell. The service still knows the Idempotency-Key, if it was sent.
          if (isOpen || signal.aborted || this.#mayBeForgotten(owned.intent)) throw error;
          return { result: undefined, intent: owned.intent, at: undefined };
        });
        if (found?.verdict === 'charged') return { kind: 'charged', run: found.run, found: true };
        if (!isOpen && found?.verdict === 'cannot-tell' && this.#mayBeForgotten(owned.intent))
          throw new SubmissionError('too-late');
        // The user must decide first about runs that were unknown when they asked to resend.
        if (hasNewCandidates(owned.intent, intent))
          return { kind: 'unknown', error: new SubmissionError('candidates') };
        return this.#send(
          session,
          { ...owned, intent },
          anySignal,
          isOpen ? 'known' : proofOf(intent, found, at),
        );
      });
      return result ?? { kind: 'elsewhere' };
    } catch (error) {
      if (isOpen) return { kind: 'unknown', error };
      return isLostOwner(error) ? { kind: 'elsewhere' } : { kind: 'not-charged', error, kept: true };
    }
  }

  check(session: Session, id: string, signal?: AbortSignal): Promise<ReconcileResult | undefined> {
    const running = this.#checks.get(id);
    if (running?.isAutomatic === false) return unlessCancelled(running.done, signal);
    return this.#check(session, id, false, signal);
  }

  /** Never rejects. */
  async checkDue(session: Session): Promise<FoundRun[]> {
    const found: FoundRun[] = [];
    for (const { id, accountId, state, intent } of this.#pending.all) {
      if (accountId !== session.account.id || state !== 'unknown' || !this.#isDue(intent)) continue;
      const result = await this.#check(session, id, true, this.#stopping).catch(() => undefined);
      if (result?.verdict === 'charged') found.push({ intent, run: result.run });
    }
    return found;
  }

  #isDue(intent: Intent): boolean {
    const nowMs = this.#time.clock.nowMs();
    return this.#pending.nextCheckMs(intent, nowMs) <= nowMs;
  }

  #check(
    session: Session,
    id: string,
    isAutomatic: boolean,
    signal: AbortSignal | undefined,
  ): Promise<ReconcileResult | undefined> {
    const quota = isAutomatic ? session.quota : undefined;
    const done = this.#owning(id, session, async (owned) => {
      // Read from disk now: another window may have checked it meanwhile.
      if (quota !== undefined && !(this.#isDue(owned.intent) && quota.take())) return undefined;
      this.#pending.set(id, { state: 'checking' });
      return (await this.#reconcile(session, owned, signal, quota)).result;
    }).finally(() => {
      if (this.#checks.get(id)?.done === done) this.#checks.delete(id);
    });
    this.#checks.set(id, { done, isAutomatic });
    return done;
  }

  /** Never rejects. */
  async settleMarked(session: Session): Promise<FoundRun[]> {
    const { account, runs } = session;
    const found: FoundRun[] = [];
    for (const submission of this.#pending.all) {
      const { id, accountId, intent } = submission;
      if (accountId !== account.id || !canCheck(submission)) continue;
      const row = runs.rows?.find(({ run_id }) => isMarked(intent, { label: runs.label(run_id) ?? '' }));
      const run = row && (await this.adopt(session, id, row.run_id, 'found').catch(() => undefined));
      if (run !== undefined) found.push({ intent, run });
    }
    return found;
  }

  /** @throws ApiError, write errors */
  async link(session: Session, receiptId: string, runId: string): Promise<ChargedReceipt | undefined> {
    const detail = session.runs.detail(runId) ?? (await session.call((client) => client.getRun(runId)));
    const at = this.#now();
    const settled = { kind: 'charged', at, run: creationOf(detail), how: 'found' } as const;
    const changed = await this.#journal.addCharge(receiptId, settled);
    if (changed !== undefined) readAgain(session);
    return changed;
  }

  /** @returns the run; undefined if another window owns the intent, or it is resolved */
  adopt(session: Session, id: string, runId: string, how: How): Promise<RunCreation | undefined> {
    return this.#owning(id, session, async (owned) => {
      // The details contain the price. Read them only if they are not loaded yet.
      const detail = session.runs.detail(runId) ?? (await session.call((client) => client.getRun(runId)));
      const run = creationOf(detail);
      await this.#settleCharged(session, owned, run, how);
      return run;
    });
  }

  async discard(id: string, confirmed: 'may-be-charged' | 'not-charged'): Promise<boolean> {
    const isDone = await this.#owning(id, undefined, async (owned) => {
      const isOpen = isUncertain(owned.intent);
      if (isOpen && confirmed === 'not-charged') return false;
      await this.#settle(owned, { kind: isOpen ? 'discarded' : 'not-charged', at: this.#now() });
      return true;
    });
    return isDone ?? false;
  }

  /**
   * Runs `work` as the owner of an open intent, after any check in progress.
   * @param session the intent must belong to its account
   * @returns undefined if another window owns the intent, also since `work` began, it is resolved, or it belongs to another account
   */
  async #owning<T>(
    id: string,
    session: Session | undefined,
    work: (owned: Owned) => Promise<T>,
  ): Promise<T | undefined> {
    await this.#checks.get(id)?.done.catch(() => undefined);
    const owned = await this.#journal.acquire(id);
    if (owned === undefined) return undefined;
    return this.#holding(owned, () => {
      const { accountId, origin } = owned.intent;
      const isForeign =
        session && (accountId !== session.account.id || origin !== serviceOf(session.account));
      return isForeign
        ? Promise.resolve(undefined)
        : work(owned).catch((error: unknown) => {
            if (!isLostOwner(error)) throw error;
            owned.lease.release();
            return undefined;
          });
    });
  }

  async #holding<T>({ lease, intent }: Owned, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      // Whoever noticed that another window took over has released it.
      const isOwn = lease.isHeld();
      lease.release();
      this.#pending.rest(intent.id, isOwn);
    }
  }

  #mayBeForgotten(intent: Intent): boolean {
    return mayBeForgotten(intent, localMoment(this.#time.clock));
  }

  /** Makes an intent cancellable until it rests. */
  #cancellable(id: string, signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#pending.cancelSignal(id), this.#stopping]);
  }

  /**
   * Checks an intent once, and settles it if its run is found. Otherwise the returned intent contains the
   * observation, which is stored durably.
   * @param quota given for an automatic check, whose first request it has allowed
   * @throws ApiError, CancelledError, KeyMissingError, and write errors
   */
  async #reconcile(
    session: Session,
    owned: Owned,
    signal?: AbortSignal,
    quota?: RequestQuota,
  ): Promise<{ result: ReconcileResult; intent: Intent; allRead: boolean; at?: Moment }> {
    const { lease, intent } = owned;
    const isUnfinished = lacksEnd(intent);
    if (!mayBeCharged(intent) && !isUnfinished)
      return { result: { verdict: 'not-charged' }, intent, allRead: false };
    const { clock } = this.#time;
    this.#pending.tried(intent.id, clock.nowMs());
    // Read before the balance: a charge whose receipt is written meanwhile stays a reason to doubt.
    const all = await this.#journal.receipts();
    const receipts = all.filter(isCharged).filter(({ origin }) => origin === intent.origin);
    const { match, further, candidates, allRead, seen } = await session.call((client) =>
      findRun(client, intent, clock, { receipts, runs: session.runs, quota, signal }),
    );
    if (match !== undefined) {
      const run = creationOf(match);
      await this.#settleCharged(session, owned, run, 'found', further.map(creationOf));
      return { result: { verdict: 'charged', run }, intent, allRead };
    }
    // What says nothing about a charge is not stored: each resend checks again.
    const next = isUnfinished ? intent : withObservation(intent, seen);
    if (!isUnfinished) await this.#journal.write(lease, next);
    const reason = isUnfinished ? unfinishedUncertaintyOf(intent, seen) : uncertaintyOf(next);
    const result: ReconcileResult =
      reason === undefined ? { verdict: 'not-charged' } : { verdict: 'cannot-tell', reason, candidates };
    return { result, intent: next, allRead, at: seen.at };
  }

  /** Looks for the run of an intent before it is resent. @throws as `#reconcile` */
  async #checkBeforeResend(session: Session, owned: Owned, signal: AbortSignal): Promise<ResendCheck> {
    const { result, intent, allRead } = await this.#reconcile(session, owned, signal);
    if (result.verdict === 'charged') return { kind: 'charged', run: result.run };
    return { kind: allRead && !hasNewCandidates(owned.intent, intent) ? 'clear' : 'unclear', intent };
  }

  /**
   * Waits, outside the queue of uploads, as long as the service asked the account or this submission to. What may have been
   * charged waits for some minutes only: it needs checks.
   * @throws TooEarlyError, CancelledError
   */
  async #waitAsAsked(session: Session, intent: Intent, signal: AbortSignal): Promise<void> {
    const { clock } = this.#time;
    for (;;) {
      const nowMs = clock.nowMs();
      const ofAccountMs = (session.notBeforeMs ?? nowMs) - nowMs;
      const waitMs = Math.max(askedWaitMs(intent, this.#now()), ofAccountMs);
      if (waitMs <= 0) return;
      if (mayBeCharged(intent) && waitMs > RETRIES.submission.longestRetryAfterMs)
        throw new TooEarlyError(waitMs);
      this.#pending.set(intent.id, { state: 'waiting', retryAtMs: nowMs + waitMs, isAsked: true });
      // In parts: timers stop while the machine sleeps, and the clock may be set.
      await clock.sleep(Math.min(WAIT_PART_MS, waitMs), signal);
    }
  }

  /** Discards a refused draft that the new submission replaces. */
  async #dropRefused(intent: Intent): Promise<void> {
    for (const other of this.#journal.intents)
      if (other.refused !== undefined && other.accountId === intent.accountId && isDuplicate(other, intent))
        await this.discard(other.id, 'may-be-charged').catch(() => false);
  }

  /** Returns the state of an intent that is about to be sent. */
  #stateBefore() {
    return this.#uploads.isBusy ? 'queued' : 'uploading';
  }

  async #send(
    session: Session,
    owned: Owned,
    signal: AbortSignal,
    earlier: Sending['earlier'] = 'known',
  ): Promise<SubmissionResult> {
    const { id } = owned.intent;
    // What may have been charged was checked just now: it is sent, or reported, without another wait.
    const mayWait = !mayBeCharged(owned.intent);
    const upload = () => {
      // An upload before it may have been asked to wait.
      if (mayWait && session.notBeforeMs !== undefined) return Promise.resolve(undefined);
      // The upload is no longer queued: reading the balance is already part of it.
      this.#pending.set(id, { state: 'uploading' });
      const check = (intent: Intent) =>
        this.#checkBeforeResend(session, { lease: owned.lease, intent }, signal);
      const show = this.#pending.set.bind(this.#pending, id);
      return sendAttempts(owned, {
        session,
        journal: this.#journal,
        time: this.#time,
        show,
        check,
        signal,
        earlier,
      });
    };
    let sent: AttemptsEnd | undefined;
    do {
      // A cancel ends the turn in the queue, too.
      if (mayWait) await this.#waitAsAsked(session, owned.intent, signal).catch(() => undefined);
      this.#pending.set(id, { state: this.#stateBefore() });
      sent = await this.#uploads.run(upload, signal);
    } while (sent === undefined && !signal.aborted);
    const end = sent ?? stopped(new CancelledError(), owned.intent, earlier);
    const ended = { lease: owned.lease, intent: end.intent };
    const result = await this.#settleEnd(session, ended, end);
    // Check before reporting an unknown result, unless the service requested a pause, also if the user canceled during it.
    if (result.kind !== 'unknown' || this.#stopping.aborted) return result;
    if (askedWaitMs(end.intent, this.#now()) > 0) return result;
    this.#pending.set(id, { state: 'checking' });
    try {
      // A user who already canceled still wants the result; one who cancels now doesn't have to wait for it.
      const until = signal.aborted ? this.#stopping : signal;
      const { result: found } = await this.#reconcile(session, ended, until);
      return found.verdict === 'charged' ? { kind: 'charged', run: found.run, found: true } : result;
    } catch {
      return result;
    }
  }

  /**
   * Before a submission is said not to be charged: if its lock was lost, another window may have sent it.
   * @throws SubmissionError `not-owner`
   */
  async #assertOwner({ lease, intent }: Owned): Promise<void> {
    await this.#journal.write(lease, intent).catch((error: unknown) => {
      if (isLostOwner(error)) throw error;
    });
  }

  /** Settles what is certain after the last attempt, and returns the result. */
  async #settleEnd(session: Session, owned: Owned, end: AttemptsEnd): Promise<SubmissionResult> {
    if (end.kind === 'charged') {
      await this.#settleCharged(session, owned, end.run, 'answered');
      return { kind: 'charged', run: end.run };
    }
    if (end.kind === 'found') return { kind: 'charged', run: end.run, found: true };
    const { error, kind } = end;
    // This window sent nothing that can be charged, but the current owner may be sending it.
    if (kind === 'lost') owned.lease.release();
    if (kind === 'lost' && !isUncertain(end.intent)) return { kind: 'elsewhere' };
    if (kind === 'refused') {
      if (error instanceof ServiceError && error.code === 'insufficient_balance')
        void session.balance.refresh().catch(() => undefined);
      return { kind: 'not-charged', error, kept: end.kept };
    }
    if (kind === 'reconcile' || kind === 'lost') {
      // Two checks proved that it was not charged, and nothing was sent since.
      if (uncertaintyOf(end.intent) !== undefined) {
        readAgain(session);
        return { kind: 'unknown', error };
      }
    }
    try {
      // During deactivation, nothing is settled without the user's decision.
      if (kind !== 'dropped' || this.#stopping.aborted) {
        await this.#assertOwner(owned);
        return { kind: 'not-charged', error, kept: true };
      }
      await this.#settle(owned, { kind: 'not-charged', at: this.#now() });
      return { kind: 'not-charged', error, kept: false };
    } catch (failure) {
      if (!isLostOwner(failure)) return { kind: 'not-charged', error, kept: true };
      owned.lease.release();
      return { kind: 'elsewhere' };
    }
  }

  /** Settles an intent with its run, and updates the runs and the balance of the session. */
  async #settleCharged(
    session: Session,
    owned: Owned,
    run: RunCreation,
    how: How,
    further: RunCreation[] = [],
  ): Promise<void> {
    const { model_id, label } = owned.intent;
    const furtherRuns = further.length > 0 && { furtherRuns: further };
    await this.#settle(owned, { kind: 'charged', at: this.#now(), run, how, ...furtherRuns });
    session.runs.insertCreated(run, model_id, label);
    if (run.balance_after_cents !== undefined && run.currency !== undefined)
      session.balance.set({ balance_cents: run.balance_after_cents, currency: run.currency });
    readAgain(session);
  }

  /**
   * Settles an intent. A charge that cannot be written is still reported; its file stays open, which leads
   * to a check, never to a charge.
   * @throws write errors of other settlements
   */
  async #settle({ lease, intent }: Owned, settled: Settlement): Promise<void> {
    try {
      await this.#journal.settle(lease, { ...intent, settled });
    } catch (error) {
      if (settled.kind !== 'charged') throw error;
      this.#pending.hide(intent.id);
    }
  }

  #now(): Moment {
    return { localMs: this.#time.clock.nowMs() };
  }
}

/** What is known of attempts without an end. @param at when they were checked */
function proofOf(intent: Intent, found: ReconcileResult | undefined, at?: Moment): Sending['earlier'] {
  if (found?.verdict !== 'not-charged') return 'unproven';
  return at === undefined || !mayStillBePriced(intent, at) ? 'known' : 'not-seen';
}

/** Not awaited and never rejects: the result is reported at once, and the data shows up once it is read. */
function readAgain({ runs, balance }: Session): void {
  void Promise.allSettled([runs.refresh(), balance.refresh()]);
}

/** Runs one upload at a time; the others wait in order. */
class UploadQueue {
  #last: Promise<unknown> = Promise.resolve();
  #asked = 0;

  /** Whether the next upload has to wait. */
  get isBusy(): boolean {
    return this.#asked > 0;
  }

  /** Runs `work` when its turn comes. @returns undefined if canceled before; @throws what `work` throws */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    const before = this.#last;
    this.#asked++;
    const turn = unlessCancelled(before, signal)
      .then(
        () => (signal.aborted ? undefined : work()),
        () => undefined,
      )
      .finally(() => this.#asked--);
    this.#last = Promise.allSettled([before, turn]);
    return turn;
  }
}
