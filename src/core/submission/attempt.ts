import type { Client } from '../api/client.ts';
import { isUnauthorized, retryAfterOf, ServiceError, statusOf } from '../api/errors.ts';
import type { RunCreation, RunSubmission } from '../api/types.ts';
import type { Clock } from '../base/clock.ts';
import { ExpectedError, throwIfCancelled } from '../base/errors.ts';
import { RETRIES } from '../base/retry.ts';
import { SubmissionError, TooEarlyError } from './errors.ts';
import type { Journal, Owned } from './journal.ts';
import { localMoment, momentOf } from './moments.ts';
import { assertNotTooEarly, obstacleToSending, type NextStep } from './nextStep.ts';
import type { Activity } from './pendingSubmission.ts';
import { withoutObservations } from './reconcilePolicy.ts';
import { ended, isSent, type Attempt as AttemptRecord, type Submission, type Moment } from './submission.ts';

export interface Sending {
  journal: Journal;
  clock: Clock;
  show: (live: Partial<Activity>) => void;
  signal: AbortSignal;
  /** Whether this machine's clocks have agreed since the first attempt. */
  doClocksAgree: () => boolean;
}

/**
 * One attempt to send an open submission. Writes a durable version when it begins, right before its last bytes, and
 * when it ends. `owned.submission` is the version that was written last, or is about to be written.
 */
export class AttemptInProgress {
  readonly #owned: Owned;
  readonly #sending: Sending;
  #isBegun = false;
  /** Whether the clocks agree since the service last sent its time. */
  #doClocksAgree: () => boolean;

  constructor(owned: Owned, sending: Sending) {
    this.#owned = owned;
    this.#sending = sending;
    this.#doClocksAgree = sending.doClocksAgree;
  }

  /** Whether its last bytes may have left. */
  get isClosed(): boolean {
    return this.#isBegun && this.#owned.submission.attempts.at(-1)?.closed !== undefined;
  }

  /** Sends the dataset. @throws the error that ended it without a run */
  async send(client: Client): Promise<RunCreation> {
    const { show, signal, clock } = this.#sending;
    throwIfCancelled(signal);
    // The service may have requested a wait after an earlier attempt.
    assertNotTooEarly(this.#owned.submission, this.#moment(client));
    await this.#readBalanceBefore(client);
    this.#assertMaySend(client, this.#owned.submission);
    assertNotTooEarly(this.#owned.submission, this.#moment(client));
    const unclosed = await this.#begin(client);
    show({ state: 'uploading', startedAtMs: clock.nowMs(), sentBytes: 0 });
    const closing = { done: Promise.resolve(), hasLeft: false };
    try {
      return await client.createRun(requestOf(unclosed), {
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
      // The version may say `sent` although the last bytes didn't leave. `end` corrects it.
      if (!closing.hasLeft) this.#owned.submission = unclosed;
      throw error;
    }
  }

  /**
   * Records how the attempt ended. If that fails, the record still says that it is in progress, which is safe.
   * @returns the write error; undefined if it was written, or nothing was to be
   */
  async end(error: unknown, step: NextStep): Promise<unknown> {
    // Another process owns the record now: don't write over it.
    if (error instanceof SubmissionError && error.code === 'not-owner') return error;
    const at = this.#now();
    const waitMs = 'waitMs' in step ? step.waitMs : 0;
    const asked = waitMs > 0 && { notBefore: later(at, waitMs) };
    const httpStatus = statusOf(error);
    const { submission } = this.#owned;
    const code = error instanceof ExpectedError ? error.code : 'unexpected';
    const end = { ended: at, code, ...(httpStatus !== undefined && { httpStatus }), ...asked };
    const stage = submission.stage === 'sending' ? 'draft' : submission.stage;
    if (this.#isBegun) this.#owned.submission = { ...withLast(submission, end), stage };
    else if (step.kind === 'unsent') this.#owned.submission = { ...submission, ...asked };
    // One version: after a crash between two, it would look like a possible charge. Stores no service text.
    if (step.kind === 'refused')
      this.#owned.submission = ended(this.#owned.submission, 'refused', {
        at,
        code: error instanceof ServiceError ? error.code : '',
      });
    else if (!this.#isBegun) return undefined;
    const { lease, submission: next } = this.#owned;
    return this.#sending.journal.write(lease, next).catch((failure: unknown) => failure);
  }

  /**
   * Reads the balance, and with it the service's time. Stores the balance as long as nothing can have been charged.
   * @throws errors that make it pointless to send the dataset
   */
  async #readBalanceBefore(client: Client): Promise<void> {
    const agree = clockWatch(this.#sending.clock);
    const { submission } = this.#owned;
    try {
      const balanceBefore = await client.getBalance({ signal: this.#sending.signal });
      if (!isSent(submission)) this.#owned.submission = { ...submission, balanceBefore };
    } catch (error) {
      const isAnswer = error instanceof ServiceError && error.httpStatus !== 429;
      // If the service asks us to slow down reads, submissions wait ten minutes at most.
      const { longestRetryAfterMs } = RETRIES.submission;
      if (!isAnswer && retryAfterOf(error) > longestRetryAfterMs)
        throw new TooEarlyError(longestRetryAfterMs);
      if (!isAnswer || isUnauthorized(error)) throw error;
    }
    this.#doClocksAgree = agree;
  }

  /** @throws SubmissionError `key-replaced`, `too-late`, `clocks-disagree` */
  #assertMaySend(client: Client, before: Submission): void {
    const isOwn = this.#sending.journal.isCreated(before.id);
    const obstacle = obstacleToSending(before, this.#moment(client), client.keyId, isOwn);
    if (obstacle !== undefined) throw new SubmissionError(obstacle);
    if (isSent(before) && !this.#sending.doClocksAgree()) throw new SubmissionError('clocks-disagree');
  }

  /** Records the attempt durably before the dataset is sent. @returns the submission with the attempt */
  async #begin(client: Client): Promise<Submission> {
    const { submission } = this.#owned;
    const attempts = [...submission.attempts, { started: this.#moment(client) }];
    const stage = isSent(submission) ? submission.stage : 'sending';
    const begun = { ...submission, stage, attempts };
    await this.#sending.journal.write(this.#owned.lease, begun);
    this.#isBegun = true;
    return (this.#owned.submission = begun);
  }

  /** The gate (rule 3 in docs/journal.md): once this resolves, `sent` is on the disk and the last bytes leave. */
  async #beforeClose(client: Client, before: Submission): Promise<void> {
    const { clock, journal } = this.#sending;
    const closingMs = clock.monotonicMs();
    this.#assertMaySend(client, before);
    // Earlier checks say nothing about a charge that may happen now.
    const closed = withLast(withoutObservations(before), { closed: this.#moment(client) });
    this.#owned.submission = { ...closed, stage: 'sent' };
    await journal.close(this.#owned.lease, this.#owned.submission);
    // During the write, the machine may have slept.
    this.#assertMaySend(client, before);
    if (!this.#doClocksAgree()) throw new SubmissionError('clocks-disagree');
    // If this process was stopped for long, another window may have checked meanwhile.
    if (clock.monotonicMs() - closingMs > MAX_CLOSING_MS) throw new SubmissionError('lease-lost');
  }

  /** Now. The service's time is known from a response, until a clock is set or the machine sleeps. */
  #moment(client: Client): Moment {
    const { clock } = this.#sending;
    return this.#doClocksAgree() ? momentOf(client, clock) : localMoment(clock);
  }

  /** Now, with the service's time by the clock skew at the beginning of the attempt, if the clocks still agree. */
  #now(): Moment {
    const local = localMoment(this.#sending.clock);
    const started = this.#owned.submission.attempts.at(-1)?.started;
    if (started?.serviceMs === undefined || !this.#doClocksAgree()) return local;
    return { ...local, serviceMs: local.localMs + started.serviceMs - started.localMs };
  }
}

/** The longest time from the last checks to the last bytes (rule 3 in docs/journal.md). */
const MAX_CLOSING_MS = 60_000;
/** How far wall clock and monotonic clock may drift apart. More means that a clock was set or the machine slept. */
const MAX_CLOCK_DRIFT_MS = 60_000;

/** Returns a function that says whether this machine's two clocks have agreed since this call. */
export function clockWatch(clock: Clock): () => boolean {
  const apartMs = () => clock.nowMs() - clock.monotonicMs();
  const fromMs = apartMs();
  return () => Math.abs(apartMs() - fromMs) <= MAX_CLOCK_DRIFT_MS;
}

function withLast(submission: Submission, change: Partial<AttemptRecord>): Submission {
  const last = submission.attempts.at(-1);
  if (last === undefined) return submission;
  return { ...submission, attempts: [...submission.attempts.slice(0, -1), { ...last, ...change }] };
}

/** Returns the request of a submission, which is the same for every attempt. */
function requestOf(submission: Submission): RunSubmission {
  const { id: idempotencyKey, boundary, dataset, model_id, label, priority_processing } = submission;
  // A submission is only created after the user has given both consents.
  const consents = { model_terms_accepted: true, data_policy_accepted: true } as const;
  return { idempotencyKey, boundary, dataset, model_id, label, priority_processing, ...consents };
}

/** Returns the moment after a wait, by the two clocks that measure waits. */
function later({ localMs, serviceMs }: Moment, ms: number): Moment {
  return { localMs: localMs + ms, ...(serviceMs !== undefined && { serviceMs: serviceMs + ms }) };
}
