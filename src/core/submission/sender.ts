import { ServiceError } from '../api/errors.ts';
import { CancelledError, unlessCancelled } from '../base/errors.ts';
import { RETRIES } from '../base/retry.ts';
import type { Session } from '../runs/session.ts';
import { SubmissionError, TooEarlyError } from './errors.ts';
import { askedWaitMs, hasBoundary, isDuplicate, type Intent } from './intent.ts';
import type { Journal, Owned } from './journal.ts';
import { momentOf } from './moments.ts';
import { obstacleToSending } from './nextStep.ts';
import type { PendingSubmissions, SubmissionResult } from './pendingSubmission.ts';
import { hasNewCandidates } from './reconciler.ts';
import type { KnownSubmissions } from './rivals.ts';
import { readAgain, Settler } from './settler.ts';
import { isUncertain, stageOf } from './stage.ts';
import {
  isLostOwner,
  sendAttempts,
  stopped,
  type AttemptsEnd,
  type Patience,
  type ResendCheck,
  type Time,
} from './uploadAttempts.ts';

/** How long it waits at a time for what the service asked. */
const WAIT_PART_MS = 60_000;

/** Sends intents for `Submitter`, which documents the methods. */
export class Sender {
  readonly #journal: Journal;
  readonly #pending: PendingSubmissions;
  readonly #time: Time;
  /** Aborted when the extension is deactivated. */
  readonly #stopping: AbortSignal;
  readonly #uploads = new UploadQueue();
  readonly settler: Settler;

  constructor(journal: Journal, pending: PendingSubmissions, time: Time, stopping: AbortSignal) {
    this.#journal = journal;
    this.#pending = pending;
    this.#time = time;
    this.#stopping = stopping;
    this.settler = new Settler(journal, pending, time, stopping);
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
      const send = () => this.#send(session, owned, anySignal, patienceNow());
      const result = await this.settler.holding(owned, send);
      return (result.kind === 'elsewhere' && this.#insteadOf(intent)) || result;
    }
    this.#pending.rest(id);
    if ('error' in created)
      return isLostOwner(created.error)
        ? { kind: 'elsewhere' }
        : { kind: 'not-charged', error: created.error, kept: false };
    this.#pending.unhide(created.existing.id);
    return { kind: 'open', id: created.existing.id };
  }

  /** Never rejects. */
  async resume(session: Session, id: string, signal: AbortSignal): Promise<SubmissionResult> {
    const known = this.#journal.intents.find((intent) => intent.id === id);
    let isOpen = known !== undefined && isUncertain(stageOf(known));
    // Another process may be uploading it.
    let isBegun = false;
    try {
      const result = await this.settler.owning(id, session, async (owned) => {
        if (owned.intent.refused !== undefined) return undefined;
        const stage = stageOf(owned.intent);
        isOpen = isUncertain(stage);
        isBegun = stage.name === 'begun';
        return this.#resumeOwned(session, owned, signal).catch(async (error: unknown) => {
          // Of what another process has written since, nothing is said.
          const asOvertaken = () => Promise.reject(new SubmissionError('not-owner'));
          if (!isWithdrawn(error)) await this.#journal.assertLatest(owned.lease).catch(asOvertaken);
          throw error;
        });
      });
      return result ?? { kind: 'elsewhere' };
    } catch (error) {
      if (isOpen) return { kind: 'unknown', error };
      if (isLostOwner(error)) return { kind: 'elsewhere' };
      const isLooked = this.#journal.isLooked(id) && !isBegun;
      if (!isWithdrawn(error) && !isLooked) return { kind: 'unanswered', error };
      return { kind: 'not-charged', error, kept: !isWithdrawn(error) };
    }
  }

  /**
   * Claims an intent, looks for its run, and sends it: in this order, no window can have sent a boundary after the look.
   * @throws as `Settler.reconcile` and `Journal.giveWay`, and what sends nothing: SubmissionError, TooEarlyError
   */
  async #resumeOwned(session: Session, owned: Owned, signal: AbortSignal): Promise<SubmissionResult> {
    const { id } = owned.intent;
    const anySignal = this.#cancellable(id, signal);
    const patience = patienceNow();
    await this.#waitAsAsked(session, owned.intent, anySignal, patience);
    this.#pending.set(id, { state: 'checking' });
    const look = await this.settler.reconcile(session, owned, { signal, claims: true });
    const { result, intent, isAnswered } = look;
    if (result.verdict === 'charged') return { kind: 'charged', run: result.run, found: true };
    // The user must decide first about runs that were unknown when they asked to resend.
    if (hasBoundary(intent) && hasNewCandidates(owned.intent, intent))
      return { kind: 'unknown', error: new SubmissionError('candidates') };
    const now = momentOf(session, this.#time.clock);
    const obstacle = obstacleToSending(intent, now, session.keyId, this.#journal.isCreated(id));
    if (hasBoundary(intent) && obstacle !== undefined) throw new SubmissionError(obstacle);
    if (!isAnswered) throw new SubmissionError('not-answered');
    const other = intent.attempts.length === 0 ? await this.#journal.giveWay(intent) : undefined;
    if (other !== undefined) return { kind: 'open', id: other.id };
    const claimed = { ...owned, intent };
    if (obstacle === undefined) return this.#send(session, claimed, anySignal, patience);
    // What is too old, or has another API key, ends. What may be of any age may still be priced, so it stays as it is.
    if (obstacle === 'clocks-disagree') throw new SubmissionError(obstacle);
    await this.settler.settle(claimed, { kind: 'withdrawn', at: this.settler.now() });
    return { kind: 'withdrawn' };
  }

  /** Returns the submission for which another window has withdrawn this one, before it began. */
  #insteadOf(intent: Intent): SubmissionResult | undefined {
    const { intents } = this.#journal;
    if (intents.some(({ id }) => id === intent.id)) return undefined;
    const other = intents.find((one) => one.refused === undefined && isDuplicate(one, intent));
    return other && { kind: 'open', id: other.id };
  }

  /** Makes an intent cancellable until it rests. */
  #cancellable(id: string, signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#pending.cancelSignal(id), this.#stopping]);
  }

  /** Looks for the run of an intent before it is resent. @throws as `Settler.reconcile` */
  async #checkBeforeResend(session: Session, owned: Owned, signal: AbortSignal): Promise<ResendCheck> {
    const { result, intent, isAnswered } = await this.settler.reconcile(session, owned, { signal });
    if (result.verdict === 'charged') return { kind: 'charged', run: result.run };
    return { kind: isAnswered && !hasNewCandidates(owned.intent, intent) ? 'clear' : 'unclear', intent };
  }

  /**
   * Waits, outside the queue of uploads, as long as the service asked the account or this submission to, for some minutes at
   * most: after hours, nobody expects that it is sent.
   * @throws TooEarlyError if it asked for more, CancelledError
   */
  async #waitAsAsked(
    session: Session,
    intent: Intent,
    signal: AbortSignal,
    patience: Patience,
  ): Promise<void> {
    const { clock } = this.#time;
    let countedUntilMs = 0;
    for (;;) {
      const nowMs = clock.nowMs();
      const ofAccountMs = (session.submissionsNotBeforeMs ?? nowMs) - nowMs;
      const waitMs = Math.max(askedWaitMs(intent, this.settler.now()), ofAccountMs);
      if (waitMs <= 0) return;
      const untilMs = nowMs + waitMs;
      const newMs = Math.max(0, untilMs - Math.max(nowMs, countedUntilMs));
      if (newMs > patience.leftMs) throw new TooEarlyError(waitMs);
      patience.leftMs -= newMs;
      countedUntilMs = Math.max(countedUntilMs, untilMs);
      this.#pending.set(intent.id, { state: 'waiting', retryAtMs: untilMs, isAsked: true });
      // In parts: timers stop while the machine sleeps, and the clock may be set.
      await clock.sleep(Math.min(WAIT_PART_MS, waitMs), signal);
    }
  }

  /** Discards a refused draft that the new submission replaces. */
  async #dropRefused(intent: Intent): Promise<void> {
    for (const other of this.#journal.intents)
      if (other.refused !== undefined && other.accountId === intent.accountId && isDuplicate(other, intent))
        await this.settler.discard(other.id, 'may-be-charged').catch(() => false);
  }

  /** Returns the state of an intent that is about to be sent. */
  #stateBefore() {
    return this.#uploads.isBusy ? 'queued' : 'uploading';
  }

  async #send(
    session: Session,
    owned: Owned,
    signal: AbortSignal,
    patience: Patience,
  ): Promise<SubmissionResult> {
    const { id } = owned.intent;
    // What may have been charged was checked just now: it is sent, or reported, without another wait.
    const mayWait = !hasBoundary(owned.intent);
    const upload = () => {
      // An upload before it may have been asked to wait.
      if (mayWait && session.submissionsNotBeforeMs !== undefined) return Promise.resolve(undefined);
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
        patience,
      });
    };
    let sent: AttemptsEnd | undefined;
    do {
      try {
        if (mayWait) await this.#waitAsAsked(session, owned.intent, signal, patience);
      } catch (error) {
        // A cancel ends the turn in the queue, too.
        if (error instanceof TooEarlyError) {
          const notBefore = { localMs: this.#time.clock.nowMs() + error.retryAfterMs };
          sent = { kind: 'unsent', waitMs: 0, error, intent: { ...owned.intent, notBefore } };
          break;
        }
      }
      this.#pending.set(id, { state: this.#stateBefore() });
      sent = await this.#uploads.run(upload, signal);
    } while (sent === undefined && !signal.aborted);
    const end = sent ?? stopped(new CancelledError(), owned.intent);
    const ended = { lease: owned.lease, intent: end.intent };
    const result = await this.#settleEnd(session, ended, end);
    // Check before reporting an unknown result, unless the service requested a pause, also if the user canceled during it.
    if (result.kind !== 'unknown' || this.#stopping.aborted) return result;
    if (askedWaitMs(end.intent, this.settler.now()) > 0) return result;
    this.#pending.set(id, { state: 'checking' });
    try {
      // A user who already canceled still wants the result; one who cancels now doesn't have to wait for it.
      const until = signal.aborted ? this.#stopping : signal;
      const { result: found } = await this.settler.reconcile(session, ended, { signal: until });
      return found.verdict === 'charged' ? { kind: 'charged', run: found.run, found: true } : result;
    } catch {
      return result;
    }
  }

  /**
   * Writes a submission before it is said not to be charged: another window may have sent it.
   * @throws SubmissionError `not-owner`
   */
  async #keep({ lease, intent }: Owned): Promise<void> {
    await this.#journal.write(lease, intent).catch((error: unknown) => {
      if (isLostOwner(error)) throw error;
    });
  }

  /** Settles what is certain after the last attempt, and returns the result. */
  async #settleEnd(session: Session, owned: Owned, end: AttemptsEnd): Promise<SubmissionResult> {
    if (end.kind === 'charged') {
      await this.settler.settleCharged(session, owned, end.run, 'answered');
      return { kind: 'charged', run: end.run };
    }
    if (end.kind === 'found') return { kind: 'charged', run: end.run, found: true };
    const { error, kind } = end;
    if (kind === 'refused') {
      if (error instanceof ServiceError && error.code === 'insufficient_balance')
        void session.balance.refresh().catch(() => undefined);
      return { kind: 'not-charged', error, kept: end.kept };
    }
    if (kind === 'lost') owned.lease.release();
    if (isUncertain(stageOf(end.intent))) {
      readAgain(session);
      return { kind: 'unknown', error };
    }
    // This window sent nothing that can be charged, but the current owner may be sending it.
    if (kind === 'lost') return { kind: 'elsewhere' };
    try {
      // During deactivation, nothing is settled without the user's decision.
      if (kind !== 'dropped' || this.#stopping.aborted) {
        await this.#keep(owned);
        return { kind: 'not-charged', error, kept: true };
      }
      await this.settler.settle(owned, { kind: 'not-charged', at: this.settler.now() });
      return { kind: 'not-charged', error, kept: false };
    } catch (failure) {
      if (!isLostOwner(failure)) return { kind: 'not-charged', error, kept: true };
      owned.lease.release();
      return { kind: 'elsewhere' };
    }
  }
}

/** Whether a submission gave way to another one. */
function isWithdrawn(error: unknown): boolean {
  return error instanceof SubmissionError && error.code === 'submitted-meanwhile';
}

/** How long a submission may wait, in all, from the user's consent. */
function patienceNow(): Patience {
  return { leftMs: RETRIES.submission.longestRetryAfterMs };
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
