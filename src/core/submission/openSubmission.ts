import { isDeepStrictEqual } from 'node:util';
import { ServiceError, statusOf } from '../api/errors.ts';
import type { RunCreation } from '../api/types.ts';
import { CancelledError } from '../base/errors.ts';
import type { Session } from '../runs/session.ts';
import { AttemptInProgress, clockWatch } from './attempt.ts';
import { isLostOwner, SubmissionError, TooEarlyError } from './errors.ts';
import type { Journal, Owned } from './journal.ts';
import { detailOf } from './linkedRuns.ts';
import { localMoment, momentOf, type Time } from './moments.ts';
import { nextStep, obstacleToSending, type NextStep } from './nextStep.ts';
import { creationOf } from './ownRuns.ts';
import { Patience } from './patience.ts';
import type { Discarded, Activity, SubmissionResult } from './pendingSubmission.ts';
import { claimed } from './reconcilePolicy.ts';
import { findRun, hasNewCandidates, lookOf, type FindOptions, type Look } from './reconciler.ts';
import {
  askedWaitMs,
  charged,
  ended,
  isOver,
  isRefused,
  isSent,
  withoutWait,
  type ChargedReceipt,
  type EndReason,
  type Submission,
  type Moment,
} from './submission.ts';
import type { UploadQueue } from './uploadQueue.ts';

/** What all submissions of a window use. */
export interface SharedParts {
  journal: Journal;
  time: Time;
  uploads: UploadQueue;
  /** Aborted when the extension is deactivated. */
  stopping: AbortSignal;
}

/** Receives what happens to one submission. */
interface Listener {
  /** Called with what this window does with it. */
  show: (live: Partial<Activity>) => void;
  /** Called when a look for its run begins. */
  onLook: () => void;
}

type How = ChargedReceipt['charge']['foundBy'];
type LookOptions = Pick<FindOptions, 'quota' | 'signal'>;

/** How the attempts of one sending ended. */
type AttemptsEnd =
  /** `found`: a look before a resend found its run. */
  | { kind: 'charged' | 'found'; run: RunCreation }
  /** `isKept`: whether the refusal could be stored. */
  | { kind: 'refused'; error: unknown; isKept: boolean }
  /** Another window owns it now. */
  | { kind: 'lost'; error: unknown }
  | (Exclude<NextStep, { kind: 'retry' | 'refused' }> & { error: unknown });

/**
 * Owns one open submission until `release`: sends it, looks for its run, settles it. If another window writes a
 * version, methods throw `not-owner`, or return `elsewhere`, or `unknown` if it may be charged.
 */
export class OpenSubmission {
  readonly #owned: Owned;
  readonly #shared: SharedParts;
  readonly #listener: Listener;

  constructor(owned: Owned, shared: SharedParts, listener: Listener) {
    this.#owned = owned;
    this.#shared = shared;
    this.#listener = listener;
  }

  /** The version that was written last, or is about to be written. */
  get submission(): Submission {
    return this.#owned.submission;
  }

  /** Ends the ownership. @returns false if `giveUp` was called, or the lease was lost */
  release(): boolean {
    const isOwn = this.#owned.lease.isHeld();
    this.#owned.lease.release();
    return isOwn;
  }

  /** Gives it up because another window has written it: `release` then returns false. */
  giveUp(): void {
    this.#owned.lease.release();
  }

  /**
   * Claims it, looks for its run, and sends it. In this order, no other window can send between look and sending.
   * @returns undefined if it was refused
   * @throws as `look`; SubmissionError, TooEarlyError if nothing was sent
   */
  async resend(session: Session, signal: AbortSignal): Promise<SubmissionResult | undefined> {
    if (isOver(this.submission)) return undefined;
    try {
      return await this.#resend(session, signal);
    } catch (error) {
      // If another window has written since, say nothing about money.
      await this.#shared.journal.assertLatest(this.#owned.lease).catch(() => {
        throw new SubmissionError('not-owner');
      });
      throw error;
    }
  }

  /** `resend`, without the check for another window's version. */
  async #resend(session: Session, signal: AbortSignal): Promise<SubmissionResult> {
    const { journal, time } = this.#shared;
    const before = this.submission;
    const patience = new Patience(time.clock, this.#listener.show);
    await patience.wait(session, this.submission, signal);
    this.#listener.show({ state: 'checking' });
    await this.#write(claimed(this.submission, localMoment(time.clock)));
    const { result, isAnswered } = await this.look(session, { signal });
    if (result.verdict === 'charged') return { kind: 'charged', run: result.run, found: true };
    const { submission } = this;
    // The user must decide first about runs that were unknown when they asked to resend.
    if (isSent(submission) && hasNewCandidates(before, submission))
      return { kind: 'unknown', error: new SubmissionError('candidates') };
    const now = momentOf(session, time.clock);
    const obstacle = obstacleToSending(submission, now, session.keyId, journal.isCreated(submission.id));
    if (isSent(submission) && obstacle !== undefined) throw new SubmissionError(obstacle);
    if (!isAnswered) throw new SubmissionError(obstacle ?? 'not-answered');
    if (obstacle === undefined) return this.send(session, signal, patience);
    // A submission that is too old ends. One of unknown age stays open: it may be sent once its age is known.
    if (obstacle !== 'too-late') throw new SubmissionError(obstacle);
    await this.#end('not-charged');
    return { kind: 'ended' };
  }

  /**
   * Looks for its run once, and settles it if found. If the last bytes may have left, stores durably what it saw, and
   * when the attempt ended.
   * @throws ApiError, CancelledError, KeyMissingError; write errors, unless a run was found
   */
  async look(session: Session, { signal, quota }: LookOptions): Promise<Look> {
    const { journal, time } = this.#shared;
    this.#listener.onLook();
    const before = this.submission;
    // Read before the balance, so that a receipt written meanwhile can't explain away a lower balance.
    const records = (await journal.records()).filter(({ origin }) => origin === before.origin);
    const found = await session.call((client) =>
      findRun(client, before, time.clock, { records, runs: session.runs, quota, signal }),
    );
    const look = lookOf(before, found);
    const { next, result, isAnswered } = look;
    if (result.verdict === 'charged') {
      await this.#settleCharged(session, result.run, 'found', found.further.map(creationOf));
      return look;
    }
    // Without news, no version is written.
    if (isDeepStrictEqual(next, before)) await journal.assertLatest(this.#owned.lease);
    else await this.#write(next);
    if (isAnswered) journal.recordAnsweredLook(before.id);
    return look;
  }

  /** Settles it with a run that the user or the marker identified. @throws ApiError, KeyMissingError */
  async adopt(session: Session, runId: string, how: How): Promise<RunCreation> {
    const run = creationOf(await detailOf(session, runId));
    await this.#settleCharged(session, run, how);
    return run;
  }

  /**
   * Discards it, after a look for its run (rule 6 in docs/journal.md). Doesn't look if it was refused, is `sent`, or was
   * created by this process and its last bytes didn't leave.
   * @param confirmed what the user agreed to discard
   * @param session of its account; undefined if signed out: then it doesn't look
   * @returns the outcome; undefined if it may be charged and the user agreed only to "not charged"
   * @throws write errors, CancelledError
   */
  async discard(
    confirmed: 'may-be-charged' | 'not-charged',
    session?: Session,
    signal?: AbortSignal,
  ): Promise<Discarded | undefined> {
    const { id, stage, accountId } = this.submission;
    const isOwn = this.#shared.journal.isCreated(id) && !isSent(this.submission);
    let isKnown = isRefused(this.submission) || isOwn;
    if (!isKnown && stage !== 'sent' && session?.account.id === accountId) {
      const look = await this.look(session, { signal }).catch((error: unknown) => {
        if (isLostOwner(error) || error instanceof CancelledError) throw error;
      });
      if (look?.result.verdict === 'charged') return { kind: 'charged', run: look.result.run };
      isKnown = look?.result.verdict === 'not-charged' && look.isAnswered;
    }
    if (!isKnown && confirmed === 'not-charged') return undefined;
    const kind = isKnown ? 'not-charged' : 'discarded';
    await this.#end(kind);
    return { kind };
  }

  /** Removes the wait that the service asked for. @throws write errors */
  endWait(): Promise<void> {
    return this.#write(withoutWait(this.submission));
  }

  /**
   * Sends it until it is charged, refused, or must not be retried automatically. Waits for other uploads, and while the
   * service asks to. Every attempt has the same Idempotency-Key and bytes. Never rejects.
   * @param waited the patience that is left since the user consented; by default all of it
   */
  async send(session: Session, signal: AbortSignal, waited?: Patience): Promise<SubmissionResult> {
    const { uploads, stopping, time } = this.#shared;
    const { show } = this.#listener;
    const patience = waited ?? new Patience(time.clock, show);
    // A submission that may have been charged was checked just now: it is sent, or reported, without another wait.
    const mayWait = !isSent(this.submission);
    const upload = () => {
      // The service may have asked the upload before it to wait.
      if (mayWait && session.submissionsNotBeforeMs !== undefined) return Promise.resolve(undefined);
      // The upload is no longer queued: reading the balance is already part of it.
      show({ state: 'uploading' });
      return this.#sendAttempts(session, signal, patience);
    };
    let end: AttemptsEnd | undefined;
    do {
      try {
        if (mayWait) await patience.wait(session, this.submission, signal);
      } catch (error) {
        // After a cancel, go on: a canceled upload gets no turn in the queue.
        if (error instanceof TooEarlyError) {
          const notBefore = { localMs: this.#now().localMs + error.retryAfterMs };
          this.#owned.submission = { ...this.submission, notBefore };
          end = { kind: 'unsent', waitMs: 0, error };
          break;
        }
      }
      show({ state: uploads.isBusy ? 'queued' : 'uploading' });
      end = await uploads.run(upload, signal);
    } while (end === undefined && !signal.aborted);
    const result = await this.#settleEnd(session, end ?? this.#stopped());
    // Check before reporting an unknown result, even after a cancel, unless the service asked to wait.
    if (result.kind !== 'unknown' || stopping.aborted) return result;
    if (askedWaitMs(this.submission, this.#now()) > 0) return result;
    show({ state: 'checking' });
    // After an earlier cancel, the user still wants the result. A cancel during the check ends it.
    const until = signal.aborted ? stopping : signal;
    const found = (await this.look(session, { signal: until }).catch(() => undefined))?.result;
    return found?.verdict === 'charged' ? { kind: 'charged', run: found.run, found: true } : result;
  }

  /** Makes attempts until one ends it, or needs the user. */
  async #sendAttempts(session: Session, signal: AbortSignal, patience: Patience): Promise<AttemptsEnd> {
    const { journal, time } = this.#shared;
    const { clock, random } = time;
    const { show } = this.#listener;
    const sending = { journal, clock, show, signal, doClocksAgree: clockWatch(clock) };
    let sameStatus = 0;
    let lastStatus: number | undefined;
    for (let attempts = 1; ; attempts++) {
      const wasClosed = isSent(this.submission);
      const attempt = new AttemptInProgress(this.#owned, sending);
      try {
        return { kind: 'charged', run: await session.call((client) => attempt.send(client)) };
      } catch (error) {
        const status = statusOf(error);
        sameStatus = status === lastStatus ? sameStatus + 1 : 1;
        lastStatus = status;
        const history = { wasClosed, isClosed: attempt.isClosed, attempts, sameStatus };
        const step = nextStep(error, { ...history, patienceMs: patience.leftMs }, random());
        const failure = await attempt.end(error, step);
        const lost = [error, failure].find(isLostOwner);
        if (lost !== undefined) return { kind: 'lost', error: lost };
        if (step.kind === 'refused') return { kind: 'refused', error, isKept: failure === undefined };
        if (step.kind !== 'retry') return { ...step, error };
        patience.spend(step.waitMs);
        const end = await this.#waitForRetry(session, step.afterMs, error, signal);
        if (end !== undefined) return end;
      }
    }
  }

  /**
   * Waits for the next attempt. Then, if an earlier one may have been charged, looks for its run: a service may forget
   * an Idempotency-Key.
   * @returns the end; undefined if the next attempt may begin
   */
  async #waitForRetry(
    session: Session,
    afterMs: number,
    error: unknown,
    signal: AbortSignal,
  ): Promise<AttemptsEnd | undefined> {
    const { clock } = this.#shared.time;
    const isCanceled = () => signal.aborted;
    this.#listener.show({ state: 'waiting', retryAtMs: clock.nowMs() + afterMs, isAsked: false });
    await clock.sleep(afterMs, signal).catch(() => undefined);
    if (isCanceled()) return this.#stopped();
    if (!isSent(this.submission)) return undefined;
    const before = this.submission;
    const look = await this.look(session, { signal }).catch(() => undefined);
    if (look?.result.verdict === 'charged') return { kind: 'found', run: look.result.run };
    if (isCanceled()) return this.#stopped();
    const isClear = look?.isAnswered === true && !hasNewCandidates(before, this.submission);
    return isClear ? undefined : { kind: 'reconcile', waitMs: 0, error };
  }

  /** Returns the end after a cancel. */
  #stopped(): AttemptsEnd {
    const kind = isSent(this.submission) ? 'reconcile' : 'dropped';
    return { kind, waitMs: 0, error: new CancelledError() };
  }

  /** Settles what is certain after the last attempt, and returns the result. */
  async #settleEnd(session: Session, end: AttemptsEnd): Promise<SubmissionResult> {
    if ('run' in end) {
      if (end.kind === 'found') return { kind: 'charged', run: end.run, found: true };
      await this.#settleCharged(session, end.run, 'answered');
      return { kind: 'charged', run: end.run };
    }
    const { error, kind } = end;
    if (kind === 'refused') {
      if (error instanceof ServiceError && error.code === 'insufficient_balance')
        void session.balance.refresh().catch(() => undefined);
      return { kind: 'not-charged', error, isKept: end.isKept };
    }
    if (kind === 'lost') this.giveUp();
    if (this.submission.stage === 'sent') {
      session.readAgain();
      return { kind: 'unknown', error };
    }
    // This window sent nothing that can be charged, but the current owner may be sending it.
    if (kind === 'lost') return { kind: 'elsewhere' };
    // During deactivation, nothing is ended without the user's decision.
    const isKept = kind !== 'dropped' || this.#shared.stopping.aborted;
    // Write before saying "not charged": if that fails, another window may have sent it.
    const failure: unknown = await (isKept ? this.#write(this.submission) : this.#end('not-charged')).catch(
      (reason: unknown) => reason ?? error,
    );
    if (!isLostOwner(failure)) return { kind: 'not-charged', error, isKept: isKept || failure !== undefined };
    this.giveUp();
    return { kind: 'elsewhere' };
  }

  /**
   * Settles it with its run, and updates the runs and the balance of the session. Never rejects: a charge that can't be
   * written is still shown, its record stays open, and a check finds the run again.
   */
  async #settleCharged(session: Session, run: RunCreation, foundBy: How, further: RunCreation[] = []) {
    const { model_id, label } = this.submission;
    const furtherRuns = further.length > 0 && { furtherRuns: further };
    const receipt = charged(this.submission, { at: this.#now(), run, foundBy, ...furtherRuns });
    await this.#shared.journal.settle(this.#owned.lease, receipt).catch(() => undefined);
    session.charged(run, model_id, label);
  }

  /** Ends it, and keeps the code of an earlier refusal. @throws write errors */
  #end(reason: EndReason): Promise<void> {
    const end = { ...this.submission.end, at: this.#now() };
    return this.#shared.journal.settle(this.#owned.lease, ended(this.submission, reason, end));
  }

  async #write(submission: Submission): Promise<void> {
    await this.#shared.journal.write(this.#owned.lease, submission);
    this.#owned.submission = submission;
  }

  #now(): Moment {
    return { localMs: this.#shared.time.clock.nowMs() };
  }
}
