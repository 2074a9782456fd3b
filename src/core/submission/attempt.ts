import type { Client } from '../api/client.ts';
import { isUnauthorized, retryAfterOf, ServiceError, statusOf } from '../api/errors.ts';
import type { RunCreation, RunSubmission } from '../api/types.ts';
import type { Clock } from '../base/clock.ts';
import { ExpectedError, throwIfCancelled } from '../base/errors.ts';
import { RETRIES } from '../base/retry.ts';
import { SubmissionError, TooEarlyError } from './errors.ts';
import { hasBoundary, type Attempt as AttemptRecord, type Intent, type Moment } from './intent.ts';
import type { Journal, Owned } from './journal.ts';
import { localMoment, momentOf } from './moments.ts';
import { assertNotTooEarly, obstacleToSending, type NextStep } from './nextStep.ts';
import type { Activity } from './pendingSubmission.ts';
import { withoutObservations } from './reconcilePolicy.ts';

export interface Sending {
  journal: Journal;
  clock: Clock;
  show: (live: Partial<Activity>) => void;
  signal: AbortSignal;
  /** Whether this machine's clocks have agreed since the first attempt. */
  doClocksAgree: () => boolean;
}

/**
 * One attempt to send an open submission. Its beginning, the mark of its closing boundary, and its end are
 * durable versions of the record. `owned.intent` is as it was written last, or is about to be written.
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

  /** Whether its closing boundary may have been sent. */
  get isClosed(): boolean {
    return this.#isBegun && this.#owned.intent.attempts.at(-1)?.closed !== undefined;
  }

  /** Sends the dataset. @throws the error that ended it without a run */
  async send(client: Client): Promise<RunCreation> {
    const { show, signal, clock } = this.#sending;
    throwIfCancelled(signal);
    // The service may have requested a wait after an earlier attempt.
    assertNotTooEarly(this.#owned.intent, this.#moment(client));
    // Derived while the balance is read, once per connection, so it delays nothing.
    const [keyCheck] = await Promise.all([client.keyCheck(), this.#readBalanceBefore(client)]);
    this.#assertMaySend(client, this.#owned.intent);
    assertNotTooEarly(this.#owned.intent, this.#moment(client));
    const unclosed = await this.#begin(client, keyCheck);
    show({ state: 'uploading', startedAtMs: clock.nowMs(), sentBytes: 0 });
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
      // The record may be marked although the boundary wasn't sent. The next version says so.
      if (!closing.hasLeft) this.#owned.intent = unclosed;
      throw error;
    }
  }

  /**
   * Records how the attempt ended. If that fails, the record still says "in progress", which is safe.
   * @returns the write error; undefined if it was written
   */
  async end(error: unknown, step: NextStep): Promise<unknown> {
    // Another process owns the record now: don't write over it.
    if (error instanceof SubmissionError && error.code === 'not-owner') return error;
    const ended = this.#now();
    const waitMs = 'waitMs' in step ? step.waitMs : 0;
    const asked = waitMs > 0 && { notBefore: later(ended, waitMs) };
    const httpStatus = statusOf(error);
    const { intent } = this.#owned;
    const code = error instanceof ExpectedError ? error.code : 'unexpected';
    const end = { ended, code, ...(httpStatus !== undefined && { httpStatus }), ...asked };
    if (this.#isBegun) this.#owned.intent = withLast(intent, end);
    else if (step.kind === 'unsent') this.#owned.intent = { ...intent, ...asked };
    // One version, since a crash between two would leave what looks like a charge. Stores no service text.
    if (step.kind === 'refused') {
      const refused = { at: ended, code: error instanceof ServiceError ? error.code : '' };
      this.#owned.intent = { ...this.#owned.intent, refused };
    } else if (!this.#isBegun) return undefined;
    const { lease, intent: next } = this.#owned;
    return this.#sending.journal.write(lease, next).catch((failure: unknown) => failure);
  }

  /**
   * Reads the service's time before each attempt and, as long as nothing can have been charged, the balance.
   * @throws errors that make it pointless to send the dataset
   */
  async #readBalanceBefore(client: Client): Promise<void> {
    const agree = clockWatch(this.#sending.clock);
    const { intent } = this.#owned;
    try {
      const balanceBefore = await client.getBalance({ signal: this.#sending.signal });
      if (!hasBoundary(intent)) this.#owned.intent = { ...intent, balanceBefore };
    } catch (error) {
      const isAnswer = error instanceof ServiceError && error.httpStatus !== 429;
      // A wait that the service asked of reads delays a submission for minutes, not longer, as it does reads.
      const { longestRetryAfterMs } = RETRIES.submission;
      if (!isAnswer && retryAfterOf(error) > longestRetryAfterMs)
        throw new TooEarlyError(longestRetryAfterMs);
      if (!isAnswer || isUnauthorized(error)) throw error;
    }
    this.#doClocksAgree = agree;
  }

  /** @throws SubmissionError `key-replaced`, `too-late`, `clocks-disagree` */
  #assertMaySend(client: Client, before: Intent): void {
    const isOwn = this.#sending.journal.isCreated(before.id);
    const obstacle = obstacleToSending(before, this.#moment(client), client.keyId, isOwn);
    if (obstacle !== undefined) throw new SubmissionError(obstacle);
    if (hasBoundary(before) && !this.#sending.doClocksAgree()) throw new SubmissionError('clocks-disagree');
  }

  /** Records the attempt durably before the dataset is sent. @returns the intent with the attempt */
  async #begin(client: Client, keyCheck: Intent['keyCheck']): Promise<Intent> {
    const { intent } = this.#owned;
    const attempts = [...intent.attempts, { started: this.#moment(client) }];
    const begun = { ...intent, keyId: client.keyId, keyCheck, attempts };
    await this.#sending.journal.write(this.#owned.lease, begun);
    this.#isBegun = true;
    return (this.#owned.intent = begun);
  }

  /** The point of no return: once this resolves, the boundary is sent. Its version is on the disk by then. */
  async #beforeClose(client: Client, before: Intent): Promise<void> {
    const { clock, journal } = this.#sending;
    const closingMs = clock.monotonicMs();
    this.#assertMaySend(client, before);
    // Earlier observations say nothing about a charge that may happen now.
    this.#owned.intent = withLast(withoutObservations(before), { closed: this.#moment(client) });
    await journal.close(this.#owned.lease, this.#owned.intent);
    // While it was written, the machine may have slept or the folder may have been replaced.
    this.#assertMaySend(client, before);
    if (!this.#doClocksAgree()) throw new SubmissionError('clocks-disagree');
    // A process that was stopped for long may be late: another window may have checked meanwhile.
    if (clock.monotonicMs() - closingMs > AGREEMENT_MS) throw new SubmissionError('lease-lost');
  }

  /** The service's time comes from a response. It is unknown after a clock was set or the machine slept. */
  #moment(client: Client): Moment {
    const { clock } = this.#sending;
    return this.#doClocksAgree() ? momentOf(client, clock) : localMoment(clock);
  }

  /** Uses the clock skew from the beginning of the attempt, if the clocks still agree. */
  #now(): Moment {
    const local = localMoment(this.#sending.clock);
    const started = this.#owned.intent.attempts.at(-1)?.started;
    if (started?.serviceMs === undefined || !this.#doClocksAgree()) return local;
    return { ...local, serviceMs: local.localMs + started.serviceMs - started.localMs };
  }
}

/** The tolerance between wall clock and monotonic clock. A larger difference means a set clock or a sleep. */
const AGREEMENT_MS = 60_000;

/** Returns a function that says whether this machine's two clocks have agreed since this call. */
export function clockWatch(clock: Clock): () => boolean {
  const apartMs = () => clock.nowMs() - clock.monotonicMs();
  const fromMs = apartMs();
  return () => Math.abs(apartMs() - fromMs) <= AGREEMENT_MS;
}

function withLast(intent: Intent, change: Partial<AttemptRecord>): Intent {
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

/** Adds a wait to the two clocks by which waits are measured. */
function later({ localMs, serviceMs }: Moment, ms: number): Moment {
  return { localMs: localMs + ms, ...(serviceMs !== undefined && { serviceMs: serviceMs + ms }) };
}
