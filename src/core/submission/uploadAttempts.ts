import type { Client } from '../api/client.ts';
import { isUnauthorized, retryAfterOf, ServiceError, statusOf } from '../api/errors.ts';
import type { RunCreation, RunSubmission } from '../api/types.ts';
import type { Clock } from '../base/clock.ts';
import { CancelledError, ExpectedError, throwIfCancelled } from '../base/errors.ts';
import { RETRIES } from '../base/retry.ts';
import { SubmissionError, TooEarlyError } from './errors.ts';
import { hasBoundary, type Attempt, type Intent, type Moment } from './intent.ts';
import type { Lease } from '../storage/lease.ts';
import type { Journal, Owned } from './journal.ts';
import type { Live } from './pendingSubmission.ts';
import { assertNotTooEarly, nextStep, obstacleToSending, type NextStep } from './nextStep.ts';
import { localMoment, momentOf } from './moments.ts';
import { withoutObservations } from './reconcilePolicy.ts';
import type { Session } from '../runs/session.ts';

/** The clock, and the random numbers for jitter (at least 0, less than 1). */
export interface Time {
  clock: Clock;
  random: () => number;
}

/** The result of looking for the run before a resend. `clear`: all was read, and no new run could be this one. */
export type ResendCheck =
  | { kind: 'charged'; run: RunCreation }
  | { kind: 'clear'; intent: Intent }
  | { kind: 'unclear'; intent: Intent };

/** How much longer a submission may wait because the service asks for it, in milliseconds. Every such wait takes from it. */
export interface Patience {
  leftMs: number;
}

/** What attempts need. */
export interface Sending {
  session: Session;
  journal: Journal;
  time: Time;
  /** Receives progress updates. */
  show: (live: Partial<Live>) => void;
  /** Looks for the run of an intent, and settles it if it is found. Rejects if the service doesn't answer. */
  check: (intent: Intent) => Promise<ResendCheck>;
  signal: AbortSignal;
  patience: Patience;
}

type Ended = { error: unknown; intent: Intent };
export type AttemptsEnd =
  | { kind: 'charged'; run: RunCreation; intent: Intent }
  /** A look before a resend found its run, and settled it. */
  | { kind: 'found'; run: RunCreation; intent: Intent }
  /** `kept`: whether the refusal could be stored. */
  | ({ kind: 'refused'; kept: boolean } & Ended)
  /** Another window owns it now. */
  | ({ kind: 'lost' } & Ended)
  | (Exclude<NextStep, { kind: 'retry' | 'refused' }> & Ended);

/**
 * Sends an intent until it is charged, refused, or may not be retried automatically. Every attempt uses the
 * same Idempotency-Key and bytes. Never rejects.
 */
export function sendAttempts(owned: Owned, sending: Sending): Promise<AttemptsEnd> {
  return new Attempts(owned, sending).send();
}

/** Owns an intent while it is sent. */
class Attempts {
  readonly #lease: Lease;
  readonly #sending: Sending;
  readonly #clock: Clock;
  readonly #clocksAgreeSinceStart: () => boolean;
  /** Whether the clocks agree since the service last sent its time. */
  #clocksAgreeSinceRead: () => boolean;
  /** As it was written last, or is about to be written. */
  #intent: Intent;

  constructor({ lease, intent }: Owned, sending: Sending) {
    this.#lease = lease;
    this.#intent = intent;
    this.#sending = sending;
    this.#clock = sending.time.clock;
    this.#clocksAgreeSinceStart = this.#clocksAgreeSinceRead = clockWatch(this.#clock);
  }

  async send(): Promise<AttemptsEnd> {
    const { session, time, patience } = this.#sending;
    let sameStatus = 0;
    let lastStatus: number | undefined;
    for (let attempts = 1; ; attempts++) {
      const closedBefore = hasBoundary(this.#intent);
      const { length } = this.#intent.attempts;
      try {
        const run = await session.call((client) => this.#attempt(client));
        return { kind: 'charged', run, intent: this.#intent };
      } catch (error) {
        const begun = this.#intent.attempts.length > length;
        const closedNow = begun && this.#intent.attempts.at(-1)?.closed !== undefined;
        const status = statusOf(error);
        sameStatus = status === lastStatus ? sameStatus + 1 : 1;
        lastStatus = status;
        const patienceMs = patience.leftMs;
        const history = { closedBefore, closedNow, attempts, sameStatus, patienceMs };
        const step = nextStep(error, history, time.random());
        const failure = await this.#noteEnd(error, step, begun);
        const intent = this.#intent;
        const lost = [error, failure].find(isLostOwner);
        if (lost !== undefined) return { kind: 'lost', error: lost, intent };
        if (step.kind === 'refused') return { kind: 'refused', error, kept: failure === undefined, intent };
        if (step.kind !== 'retry') return { ...step, error, intent };
        patience.leftMs -= step.waitMs;
        const end = await this.#waitAndCheck(step, error);
        if (end !== undefined) return end;
      }
    }
  }

  /**
   * Waits for the next attempt. If the last ones may have been charged, checks for their run meanwhile: a service may
   * take its time, and not every service knows an Idempotency-Key again.
   * @returns how it ends if nothing may be sent automatically
   */
  async #waitAndCheck(
    { afterMs, waitMs, checks }: Extract<NextStep, { kind: 'retry' }>,
    error: unknown,
  ): Promise<AttemptsEnd | undefined> {
    const { show, check, signal } = this.#sending;
    const retryAtMs = this.#clock.nowMs() + afterMs;
    const firstMs = checks === 2 ? Math.max(waitMs, afterMs / 2) : afterMs;
    const pauses = checks === 2 ? [firstMs, afterMs - firstMs] : [firstMs];
    for (const pauseMs of pauses) {
      show({ state: 'waiting', retryAtMs, isAsked: false });
      try {
        await this.#clock.sleep(pauseMs, signal);
        throwIfCancelled(signal);
      } catch (stop) {
        return stopped(stop, this.#intent);
      }
      if (checks === 0) continue;
      const found = await check(this.#intent).catch(() => undefined);
      if (found?.kind === 'charged') return { kind: 'found', run: found.run, intent: this.#intent };
      this.#intent = found?.intent ?? this.#intent;
      if (signal.aborted) return stopped(new CancelledError(), this.#intent);
      if (found?.kind !== 'clear') return { kind: 'reconcile', waitMs: 0, error, intent: this.#intent };
    }
    return undefined;
  }

  /** @throws the error that ended the attempt without a run */
  async #attempt(client: Client): Promise<RunCreation> {
    const { show, signal } = this.#sending;
    throwIfCancelled(signal);
    // The service may have requested a wait after an earlier attempt.
    assertNotTooEarly(this.#intent, this.#moment(client));
    // Derived while the balance is read, once per connection, so it delays nothing.
    const [keyCheck] = await Promise.all([client.keyCheck(), this.#readBalanceBefore(client)]);
    this.#assertMaySend(client, this.#intent);
    assertNotTooEarly(this.#intent, this.#moment(client));
    const unclosed = await this.#begin(client, keyCheck);
    show({ state: 'uploading', startedAtMs: this.#clock.nowMs(), sentBytes: 0 });
    const closing = { done: Promise.resolve(), hasLeft: false };
    try {
      return await client.createRun(submissionOf(unclosed), {
        signal,
        onProgress: (sentBytes, totalBytes) => show({ sentBytes, totalBytes }),
        beforeClose: () => (closing.done = this.#beforeClose(client, unclosed)),
        onClosed: () => {
          closing.hasLeft = true;
          show({ state: 'validating' });
        },
      });
    } catch (error) {
      // The connection may fail while the mark is being written.
      await closing.done.catch(() => undefined);
      // It may be marked, but the boundary wasn't sent: what is written next, on top of the mark, says so.
      if (!closing.hasLeft) this.#intent = unclosed;
      throw error;
    }
  }

  /**
   * Reads the service's time before each attempt and, as long as nothing can have been charged, the balance.
   * @throws errors that make it pointless to send the dataset
   */
  async #readBalanceBefore(client: Client): Promise<void> {
    const agree = clockWatch(this.#clock);
    try {
      const balanceBefore = await client.getBalance({ signal: this.#sending.signal });
      if (!hasBoundary(this.#intent)) this.#intent = { ...this.#intent, balanceBefore };
    } catch (error) {
      const isAnswer = error instanceof ServiceError && error.httpStatus !== 429;
      // A wait that was asked of a read delays a submission as it delays other reads: for some minutes.
      const { longestRetryAfterMs } = RETRIES.submission;
      if (!isAnswer && retryAfterOf(error) > longestRetryAfterMs)
        throw new TooEarlyError(longestRetryAfterMs);
      if (!isAnswer || isUnauthorized(error)) throw error;
    }
    this.#clocksAgreeSinceRead = agree;
  }

  /** @throws SubmissionError `key-replaced`, `too-late`, `clocks-disagree` */
  #assertMaySend(client: Client, before: Intent): void {
    const isOwn = this.#sending.journal.isCreated(before.id);
    const obstacle = obstacleToSending(before, this.#moment(client), client.keyId, isOwn);
    if (obstacle !== undefined) throw new SubmissionError(obstacle);
    if (hasBoundary(before) && !this.#clocksAgreeSinceStart()) throw new SubmissionError('clocks-disagree');
  }

  /** Records the attempt durably before the dataset is sent. @returns the intent with it */
  async #begin(client: Client, keyCheck: Intent['keyCheck']): Promise<Intent> {
    const attempts = [...this.#intent.attempts, { started: this.#moment(client) }];
    const next = { ...this.#intent, keyId: client.keyId, keyCheck, attempts };
    await this.#sending.journal.write(this.#lease, next);
    return (this.#intent = next);
  }

  /** The point of no return: what is written here is durable before the boundary is sent. */
  async #beforeClose(client: Client, before: Intent): Promise<void> {
    const closingMs = this.#clock.monotonicMs();
    this.#assertMaySend(client, before);
    // Earlier observations say nothing about a charge that may happen now.
    this.#intent = withLast(withoutObservations(before), { closed: this.#moment(client) });
    await this.#sending.journal.close(this.#lease, this.#intent);
    // While the intent was written, the machine may have slept or the folder may have been replaced.
    this.#assertMaySend(client, before);
    if (!this.#clocksAgreeSinceRead()) throw new SubmissionError('clocks-disagree');
    // A process that was stopped for long may be late: another window may have checked meanwhile.
    if (this.#clock.monotonicMs() - closingMs > AGREEMENT_MS) throw new SubmissionError('lease-lost');
  }

  /**
   * Records how an attempt ended. If that fails, the file still says "in progress", which is safe.
   * @returns why it was not written
   */
  async #noteEnd(error: unknown, step: NextStep, begun: boolean): Promise<unknown> {
    // What the owner writes now must not be replaced.
    if (error instanceof SubmissionError && error.code === 'not-owner') return error;
    const ended = this.#now();
    const waitMs = 'waitMs' in step ? step.waitMs : 0;
    const asked = waitMs > 0 && { notBefore: later(ended, waitMs) };
    const httpStatus = statusOf(error);
    if (begun)
      this.#intent = withLast(this.#intent, {
        ended,
        code: error instanceof ExpectedError ? error.code : 'unexpected',
        ...(httpStatus !== undefined && { httpStatus }),
        ...asked,
      });
    // Whoever ends the submission writes it.
    else if (step.kind === 'unsent') this.#intent = { ...this.#intent, ...asked };
    const { journal } = this.#sending;
    let written: Promise<void>;
    // One write: a crash between two would leave a refusal that checks like a charge. Stores no service text.
    if (step.kind === 'refused') {
      const code = error instanceof ServiceError ? error.code : '';
      this.#intent = { ...this.#intent, refused: { at: ended, code } };
      written = journal.write(this.#lease, this.#intent);
    } else if (begun) written = journal.write(this.#lease, this.#intent);
    else return undefined;
    return written.then(
      () => undefined,
      (failure: unknown) => failure,
    );
  }

  /** The service's time comes from a response. It is unknown after a clock was set or the machine slept. */
  #moment(client: Client): Moment {
    return this.#clocksAgreeSinceRead() ? momentOf(client, this.#clock) : localMoment(this.#clock);
  }

  /** Uses the clock skew from the beginning of the attempt, if the clocks still agree. */
  #now(): Moment {
    const local = localMoment(this.#clock);
    const started = this.#intent.attempts.at(-1)?.started;
    if (started?.serviceMs === undefined || !this.#clocksAgreeSinceRead()) return local;
    return { ...local, serviceMs: local.localMs + started.serviceMs - started.localMs };
  }
}

/** Whether an error means that another window may own the intent now. */
export function isLostOwner(error: unknown): boolean {
  return error instanceof SubmissionError && (error.code === 'lease-lost' || error.code === 'not-owner');
}

/** Returns the end of a submission that stopped between two attempts or before the first one. */
export function stopped(error: unknown, intent: Intent): AttemptsEnd {
  return { kind: hasBoundary(intent) ? 'reconcile' : 'dropped', waitMs: 0, error, intent };
}

/** Returns the intent with changes to its last attempt. */
function withLast(intent: Intent, change: Partial<Attempt>): Intent {
  const last = intent.attempts.at(-1);
  if (last === undefined) return intent;
  return { ...intent, attempts: [...intent.attempts.slice(0, -1), { ...last, ...change }] };
}

/** Returns the request of an intent, which is the same for every attempt. */
function submissionOf(intent: Intent): RunSubmission {
  const { id: idempotencyKey, boundary, dataset, model_id, label, priority_processing } = intent;
  // An intent is only created after the user has given both consents.
  const consents = { model_terms_accepted: true, data_policy_accepted: true } as const;
  return { idempotencyKey, boundary, dataset, model_id, label, priority_processing, ...consents };
}

/** Adds to both clocks that waits are measured with. */
function later({ localMs, serviceMs }: Moment, ms: number): Moment {
  return { localMs: localMs + ms, ...(serviceMs !== undefined && { serviceMs: serviceMs + ms }) };
}

/** The tolerance between wall clock and monotonic clock. A larger difference means a set clock or a sleep. */
const AGREEMENT_MS = 60_000;

/** Returns a function that says whether this machine's two clocks have agreed since this call. */
function clockWatch(clock: Clock): () => boolean {
  const apartMs = () => clock.nowMs() - clock.monotonicMs();
  const fromMs = apartMs();
  return () => Math.abs(apartMs() - fromMs) <= AGREEMENT_MS;
}
