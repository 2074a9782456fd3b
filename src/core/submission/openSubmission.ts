import { isDeepStrictEqual } from 'node:util';
import { ServiceError, statusOf } from '../api/errors.ts';
import type { RunCreation } from '../api/types.ts';
import { CancelledError } from '../base/errors.ts';
import type { Session } from '../runs/session.ts';
import { AttemptInProgress, clockWatch } from './attempt.ts';
import { isLostOwner, SubmissionError, TooEarlyError } from './errors.ts';
import {
  askedWaitMs,
  hasBoundary,
  withoutWait,
  type Intent,
  type Moment,
  type Settlement,
} from './intent.ts';
import type { Journal, Owned } from './journal.ts';
import { localMoment, momentOf, type Time } from './moments.ts';
import { nextStep, obstacleToSending, type NextStep } from './nextStep.ts';
import { creationOf } from './ownRuns.ts';
import { Patience } from './patience.ts';
import type { Discarded, Activity, SubmissionResult, Withdrawn } from './pendingSubmission.ts';
import { findRun, hasNewCandidates, lookOf, type FindOptions, type Look } from './reconciler.ts';
import { withEnds } from './reconcilePolicy.ts';
import { isUncertain, stageOf } from './stage.ts';
import type { UploadQueue } from './uploadQueue.ts';

/** What the submissions of a window share. */
export interface SharedParts {
  journal: Journal;
  time: Time;
  uploads: UploadQueue;
  /** Aborted when the extension is deactivated. */
  stopping: AbortSignal;
}

/** Receives what happens to one submission. */
export interface Listener {
  /** What this window does with it. */
  show: (live: Partial<Activity>) => void;
  /** A look for its run begins, whether or not the service will answer it. */
  onLook: () => void;
  /** It was charged, but the receipt could not be written: hide the record, which still reads as open. */
  hide: () => void;
}

type How = Extract<Settlement, { kind: 'charged' }>['foundBy'];

/** `claims`: always write a version before the look, as needed before sending. */
type LookOptions = Pick<FindOptions, 'quota' | 'signal'> & { claims?: boolean };

/** How the attempts of one sending ended. */
type AttemptsEnd =
  /** `found`: a look before a resend found and settled it. */
  | { kind: 'charged' | 'found'; run: RunCreation }
  /** `kept`: whether the refusal could be stored. */
  | { kind: 'refused'; error: unknown; kept: boolean }
  /** Another window owns it now. */
  | { kind: 'lost'; error: unknown }
  | (Exclude<NextStep, { kind: 'retry' | 'refused' }> & { error: unknown });

/**
 * Owns one open record from its claim until `release`: sends it, looks for its run, settles it. If another
 * window writes a version, it throws `not-owner`, or returns `elsewhere`, or `unknown` if it may be charged.
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

  /** As it was written last, or is about to be written. */
  get intent(): Intent {
    return this.#owned.intent;
  }

  /** Ends the ownership. @returns false if another window had taken it over */
  release(): boolean {
    const isOwn = this.#owned.lease.isHeld();
    this.#owned.lease.release();
    return isOwn;
  }

  /**
   * Claims it, looks for its run, sends it: in this order, no other window can send after the look.
   * @returns undefined if it was refused
   * @throws as `look` and `Journal.giveWay`; SubmissionError, TooEarlyError if nothing was sent
   */
  async resend(session: Session, signal: AbortSignal): Promise<SubmissionResult | undefined> {
    if (this.intent.refused !== undefined) return undefined;
    try {
      return await this.#resend(session, signal);
    } catch (error) {
      // It was withdrawn: another submission of the same bytes came first.
      if (error instanceof SubmissionError && error.code === 'submitted-meanwhile')
        return { kind: 'not-charged', error, kept: false };
      // If another process has written since, say nothing about money.
      await this.#shared.journal.assertLatest(this.#owned.lease).catch(() => {
        throw new SubmissionError('not-owner');
      });
      throw error;
    }
  }

  async #resend(session: Session, signal: AbortSignal): Promise<SubmissionResult> {
    const { journal, time } = this.#shared;
    const before = this.intent;
    const patience = new Patience(time.clock, this.#listener.show);
    await patience.wait(session, this.intent, signal);
    this.#listener.show({ state: 'checking' });
    const { result, isAnswered } = await this.look(session, { signal, claims: true });
    if (result.verdict === 'charged') return { kind: 'charged', run: result.run, found: true };
    const { intent } = this;
    // The user must decide first about runs that were unknown when they asked to resend.
    if (hasBoundary(intent) && hasNewCandidates(before, intent))
      return { kind: 'unknown', error: new SubmissionError('candidates') };
    const now = momentOf(session, time.clock);
    const obstacle = obstacleToSending(intent, now, session.keyId, journal.isCreated(intent.id));
    if (hasBoundary(intent) && obstacle !== undefined) throw new SubmissionError(obstacle);
    if (!isAnswered) throw new SubmissionError('not-answered');
    const other = intent.attempts.length === 0 ? await journal.giveWay(intent) : undefined;
    if (other !== undefined) return { kind: 'open', id: other.id };
    if (obstacle === undefined) return this.send(session, signal, patience);
    // If it is too old or has another API key, it ends. If its age is unknown, it may still be priced.
    if (obstacle === 'clocks-disagree') throw new SubmissionError(obstacle);
    await this.#settle({ kind: 'withdrawn', at: this.#now() });
    return { kind: 'withdrawn' };
  }

  /**
   * Looks for its run once, and settles it if found. First it ends attempts without an end: their window can
   * send nothing after that (R3 in docs/journal.md). What it saw is stored durably.
   * @throws ApiError, CancelledError, KeyMissingError; write errors, unless a run was found
   */
  async look(session: Session, { signal, quota, claims = false }: LookOptions): Promise<Look> {
    const { journal, time } = this.#shared;
    this.#listener.onLook();
    const isClaimed = claims || this.intent.attempts.some(({ ended }) => ended === undefined);
    const claim = (this.#owned.intent = withEnds(this.intent, localMoment(time.clock)));
    const claiming = isClaimed ? this.#write(claim) : Promise.resolve();
    const failure: { error: unknown } | undefined = await claiming.then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (isLostOwner(failure?.error)) throw failure?.error;
    // Read before the balance, so that a receipt written meanwhile can't explain away a lower balance.
    const records = (await journal.records()).filter(({ origin }) => origin === claim.origin);
    const found = await session.call((client) =>
      findRun(client, claim, time.clock, { records, runs: session.runs, quota, signal }),
    );
    const look = lookOf(claim, found);
    const { next, result } = look;
    if (result.verdict === 'charged')
      await this.#settleCharged(session, result.run, 'found', found.further.map(creationOf));
    else if (failure !== undefined) throw failure.error;
    // Without news, no version is written.
    else if (isDeepStrictEqual(next, claim)) await journal.assertLatest(this.#owned.lease);
    else await this.#write(next);
    return look;
  }

  /** Settles it with a run that the user or the marker identified. @throws ApiError, KeyMissingError */
  async adopt(session: Session, runId: string, how: How): Promise<RunCreation> {
    // The details contain the price. Read them only if they are not loaded yet.
    const detail = session.runs.detail(runId) ?? (await session.call((client) => client.getRun(runId)));
    const run = creationOf(detail);
    await this.#settleCharged(session, run, how);
    return run;
  }

  /**
   * Discards it, after a look for its run. No look is needed if it was refused or may have been charged in
   * any case. Nor if this process created it and sent no boundary.
   * @param confirmed what the user agreed to discard
   * @param session of its account, if signed in: without it, no look is answered
   * @returns what it was; undefined if it may be charged and the user agreed only to "not charged"
   * @throws write errors, CancelledError
   */
  async discard(
    confirmed: 'may-be-charged' | 'not-charged',
    session?: Session,
    signal?: AbortSignal,
  ): Promise<Discarded | undefined> {
    const { id, refused, accountId } = this.intent;
    const isOwn = this.#shared.journal.isCreated(id) && !hasBoundary(this.intent);
    let isKnown = refused !== undefined || isOwn;
    if (!isKnown && !isUncertain(stageOf(this.intent)) && session?.account.id === accountId) {
      const look = await this.look(session, { signal }).catch((error: unknown) => {
        if (isLostOwner(error) || error instanceof CancelledError) throw error;
      });
      if (look?.result.verdict === 'charged') return { kind: 'charged', run: look.result.run };
      isKnown = look?.result.verdict === 'not-charged' && look.isAnswered;
    }
    if (!isKnown && confirmed === 'not-charged') return undefined;
    const kind = isKnown ? 'not-charged' : 'discarded';
    await this.#settle({ kind, at: this.#now() });
    return { kind };
  }

  /**
   * Ends it if it has no boundary and can never be sent: too old, or begun with another API key.
   * @returns undefined if it may have been sent, was refused, or a look for its run wasn't answered
   * @throws as `look`
   */
  async withdraw(session: Session, signal?: AbortSignal): Promise<Withdrawn | undefined> {
    if (hasBoundary(this.intent) || this.intent.refused !== undefined) return undefined;
    const { result, isAnswered } = await this.look(session, { signal });
    if (result.verdict === 'charged') return { kind: 'charged', run: result.run };
    if (!isAnswered) return undefined;
    await this.#settle({ kind: 'withdrawn', at: this.#now() });
    return { kind: 'withdrawn' };
  }

  /** Ends the wait that the service asked for. @throws write errors */
  endWait(): Promise<void> {
    return this.#write(withoutWait(this.intent));
  }

  /**
   * Sends it until it is charged, refused, or may not be retried automatically. Waits for other uploads, and
   * as long as the service asks. Every attempt has the same Idempotency-Key and bytes. Never rejects.
   * @param waited the patience of the user, from their consent
   */
  async send(session: Session, signal: AbortSignal, waited?: Patience): Promise<SubmissionResult> {
    const { uploads, stopping, time } = this.#shared;
    const { show } = this.#listener;
    const patience = waited ?? new Patience(time.clock, show);
    // What may have been charged was checked just now. It is sent, or reported, without another wait.
    const mayWait = !hasBoundary(this.intent);
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
        if (mayWait) await patience.wait(session, this.intent, signal);
      } catch (error) {
        // A cancel ends below: a canceled upload gets no turn in the queue.
        if (error instanceof TooEarlyError) {
          const notBefore = { localMs: this.#now().localMs + error.retryAfterMs };
          this.#owned.intent = { ...this.intent, notBefore };
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
    if (askedWaitMs(this.intent, this.#now()) > 0) return result;
    show({ state: 'checking' });
    // A user who canceled before still wants the result. One who cancels now doesn't have to wait for it.
    const until = signal.aborted ? stopping : signal;
    const found = (await this.look(session, { signal: until }).catch(() => undefined))?.result;
    return found?.verdict === 'charged' ? { kind: 'charged', run: found.run, found: true } : result;
  }

  async #sendAttempts(session: Session, signal: AbortSignal, patience: Patience): Promise<AttemptsEnd> {
    const { journal, time } = this.#shared;
    const { clock, random } = time;
    const sending = {
      journal,
      clock,
      show: this.#listener.show,
      signal,
      doClocksAgree: clockWatch(clock),
    };
    let sameStatus = 0;
    let lastStatus: number | undefined;
    for (let attempts = 1; ; attempts++) {
      const closedBefore = hasBoundary(this.intent);
      const attempt = new AttemptInProgress(this.#owned, sending);
      try {
        return { kind: 'charged', run: await session.call((client) => attempt.send(client)) };
      } catch (error) {
        const status = statusOf(error);
        sameStatus = status === lastStatus ? sameStatus + 1 : 1;
        lastStatus = status;
        const history = { closedBefore, closedNow: attempt.isClosed, attempts, sameStatus };
        const step = nextStep(error, { ...history, patienceMs: patience.leftMs }, random());
        const failure = await attempt.end(error, step);
        const lost = [error, failure].find(isLostOwner);
        if (lost !== undefined) return { kind: 'lost', error: lost };
        if (step.kind === 'refused') return { kind: 'refused', error, kept: failure === undefined };
        if (step.kind !== 'retry') return { ...step, error };
        patience.take(step.waitMs);
        const end = await this.#waitForRetry(session, step.afterMs, error, signal);
        if (end !== undefined) return end;
      }
    }
  }

  /**
   * Waits for the next attempt. If an earlier one may have been charged, it then looks for the run: some
   * services forget an Idempotency-Key.
   * @returns the end, if nothing may be sent automatically
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
    if (!hasBoundary(this.intent)) return undefined;
    const before = this.intent;
    const look = await this.look(session, { signal }).catch(() => undefined);
    if (look?.result.verdict === 'charged') return { kind: 'found', run: look.result.run };
    if (isCanceled()) return this.#stopped();
    const isClear = look?.isAnswered === true && !hasNewCandidates(before, this.intent);
    return isClear ? undefined : { kind: 'reconcile', waitMs: 0, error };
  }

  #stopped(): AttemptsEnd {
    const kind = hasBoundary(this.intent) ? 'reconcile' : 'dropped';
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
      return { kind: 'not-charged', error, kept: end.kept };
    }
    if (kind === 'lost') this.#owned.lease.release();
    if (isUncertain(stageOf(this.intent))) {
      session.readAgain();
      return { kind: 'unknown', error };
    }
    // This window sent nothing that can be charged, but the current owner may be sending it.
    if (kind === 'lost') return { kind: 'elsewhere' };
    // During deactivation, nothing is settled without the user's decision.
    const isKept = kind !== 'dropped' || this.#shared.stopping.aborted;
    const settled = { kind: 'not-charged', at: this.#now() } as const;
    // Write it before saying "not charged": another window may have sent it.
    const failure: unknown = await (isKept ? this.#write(this.intent) : this.#settle(settled)).catch(
      (reason: unknown) => reason ?? error,
    );
    if (!isLostOwner(failure)) return { kind: 'not-charged', error, kept: isKept || failure !== undefined };
    this.#owned.lease.release();
    return { kind: 'elsewhere' };
  }

  /** Settles it with its run, and updates the runs and the balance of the session. */
  async #settleCharged(session: Session, run: RunCreation, how: How, further: RunCreation[] = []) {
    const { model_id, label } = this.intent;
    const furtherRuns = further.length > 0 && { furtherRuns: further };
    await this.#settle({ kind: 'charged', at: this.#now(), run, foundBy: how, ...furtherRuns });
    session.charged(run, model_id, label);
  }

  /**
   * Settles it. If a charge can't be written, the record stays open: that leads to a check, not to a charge.
   * @throws write errors of other settlements
   */
  async #settle(settled: Settlement): Promise<void> {
    try {
      await this.#shared.journal.settle(this.#owned.lease, { ...this.intent, settled });
    } catch (error) {
      if (settled.kind !== 'charged') throw error;
      this.#listener.hide();
    }
  }

  async #write(intent: Intent): Promise<void> {
    await this.#shared.journal.write(this.#owned.lease, intent);
    this.#owned.intent = intent;
  }

  #now(): Moment {
    return { localMs: this.#shared.time.clock.nowMs() };
  }
}
