import type { Client } from '../api/client.ts';
import { isUnauthorized, ServiceError, statusOf } from '../api/errors.ts';
import type { RunCreation, RunSubmission } from '../api/types.ts';
import type { Clock } from '../base/clock.ts';
import { ExpectedError, throwIfCancelled } from '../base/errors.ts';
import { SubmissionError } from './errors.ts';
import { mayBeCharged, type Attempt, type Intent } from './intent.ts';
import type { Journal, Owned } from './journal.ts';
import type { Lease } from '../storage/lease.ts';
import type { Live } from './pendingSubmission.ts';
import { assertMayResend, assertNotTooEarly, nextStep, type NextStep } from './nextStep.ts';
import { localMoment, momentOf } from './reconciler.ts';
import { withoutObservations } from './reconcilePolicy.ts';
import type { Session } from '../runs/session.ts';

/** Time, and the random numbers from 0 up to 1 of the jitter. */
export interface Time {
  clock: Clock;
  random: () => number;
}

type Ended = { error: unknown; intent: Intent };
export type AttemptsEnd =
  | { kind: 'charged'; run: RunCreation; intent: Intent }
  /** `kept`: whether the refusal could be stored. */
  | ({ kind: 'refused'; kept: boolean } & Ended)
  | (Exclude<NextStep, { kind: 'retry' | 'refused' }> & Ended);

/** The attempts that follow when the user asks to send an intent: the same Idempotency-Key and the same bytes each time. */
export class UploadAttempts {
  readonly #session: Session;
  readonly #journal: Journal;
  readonly #lease: Lease;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #show: (live: Partial<Live>) => void;
  /** Since the user asked. */
  readonly #askedWatch: ClockWatch;
  /** Since the service gave its time. */
  #timeWatch: ClockWatch;
  #intent: Intent;

  constructor(
    session: Session,
    journal: Journal,
    owned: Owned,
    time: Time,
    show: (live: Partial<Live>) => void,
  ) {
    this.#session = session;
    this.#journal = journal;
    this.#lease = owned.lease;
    this.#intent = owned.intent;
    this.#clock = time.clock;
    this.#random = time.random;
    this.#show = show;
    this.#askedWatch = new ClockWatch(time.clock);
    this.#timeWatch = this.#askedWatch;
  }

  /** Sends it until it is charged, refused, or nothing more may be done automatically. Never rejects. */
  async run(signal: AbortSignal): Promise<AttemptsEnd> {
    let sameStatus = 0;
    let lastStatus: number | undefined;
    for (let attempts = 1; ; attempts++) {
      const closedBefore = mayBeCharged(this.#intent);
      const { length } = this.#intent.attempts;
      try {
        const run = await this.#attempt(signal);
        return { kind: 'charged', run, intent: this.#intent };
      } catch (error) {
        const begun = this.#intent.attempts.length > length;
        const closedNow = begun && this.#intent.attempts.at(-1)?.closed !== undefined;
        const status = statusOf(error);
        sameStatus = status === lastStatus ? sameStatus + 1 : 1;
        lastStatus = status;
        const step = nextStep(error, { closedBefore, closedNow, attempts, sameStatus }, this.#random());
        const kept = await this.#end(error, step, begun);
        if (step.kind === 'refused') return { kind: 'refused', error, kept, intent: this.#intent };
        if (step.kind !== 'retry') return { ...step, error, intent: this.#intent };
        const end = await this.#wait(step.afterMs, signal);
        if (end !== undefined) return end;
      }
    }
  }

  /** Waits for the next attempt. @returns how it ends instead, when it is cancelled or the clocks part */
  async #wait(ms: number, signal: AbortSignal): Promise<AttemptsEnd | undefined> {
    this.#show({ state: 'waiting', retryAtMs: this.#clock.nowMs() + ms });
    try {
      await this.#clock.sleep(ms, signal);
      throwIfCancelled(signal);
      return undefined;
    } catch (error) {
      return stopped(error, this.#intent);
    }
  }

  /** @throws whatever ends it without a run */
  #attempt(signal: AbortSignal): Promise<RunCreation> {
    return this.#session.call(async (client) => {
      throwIfCancelled(signal);
      // The service may have asked for a wait after an earlier attempt.
      assertNotTooEarly(this.#intent, this.#moment(client));
      await this.#readBalance(client, signal);
      this.#assertMaySend(client);
      assertNotTooEarly(this.#intent, this.#moment(client));
      await this.#begin(client);
      this.#show({ state: 'uploading', startedAtMs: this.#clock.nowMs(), sentBytes: 0 });
      return this.#upload(client, signal);
    });
  }

  async #upload(client: Client, signal: AbortSignal): Promise<RunCreation> {
    const boundary = { hasLeft: false };
    const unmarked = this.#intent;
    try {
      return await client.createRun(submissionOf(this.#intent), {
        signal,
        onProgress: (sentBytes, totalBytes) => this.#show({ sentBytes, totalBytes }),
        beforeClose: () => this.#beforeClose(client),
        onClosed: () => {
          boundary.hasLeft = true;
          this.#show({ state: 'validating' });
        },
      });
    } catch (error) {
      // The mark was made before the boundary could leave; then it did not.
      if (!boundary.hasLeft) this.#intent = unmarked;
      throw error;
    }
  }

  /**
   * Before each attempt: the service's time and, as long as nothing can have been charged, what a charge would lower.
   * @throws where the service did not answer so, which the dataset need not be sent to learn
   */
  async #readBalance(client: Client, signal: AbortSignal): Promise<void> {
    const watch = new ClockWatch(this.#clock);
    try {
      const balanceBefore = await client.getBalance({ signal });
      if (!mayBeCharged(this.#intent)) this.#intent = { ...this.#intent, balanceBefore };
    } catch (error) {
      const isAnswer = error instanceof ServiceError && error.httpStatus !== 429;
      if (!isAnswer || isUnauthorized(error)) throw error;
    }
    this.#timeWatch = watch;
  }

  /** @throws SubmissionError `key-replaced`, `window-closed`, `clocks-disagree` */
  #assertMaySend(client: Client, intent = this.#intent): void {
    if (!mayBeCharged(intent)) return;
    if (client.keyId !== intent.keyId) throw new SubmissionError('key-replaced');
    if (!this.#askedWatch.agree) throw new SubmissionError('clocks-disagree');
    assertMayResend(intent, this.#moment(client));
  }

  /** Marks it as being sent, durably, before the dataset is sent. */
  async #begin(client: Client): Promise<void> {
    const next = {
      ...this.#intent,
      keyId: client.keyId,
      attempts: [...this.#intent.attempts, { started: this.#moment(client) }],
    };
    await this.#journal.write(this.#lease, next);
    this.#intent = next;
  }

  /** The last moment at which nothing has happened: what is written here is durable before the boundary leaves. */
  async #beforeClose(client: Client): Promise<void> {
    const before = this.#intent;
    this.#assertMaySend(client);
    // What was seen before says nothing of what may happen now.
    this.#intent = withoutObservations(before);
    this.#changeLast((attempt) => ({ ...attempt, closed: this.#moment(client) }));
    await this.#journal.write(this.#lease, this.#intent);
    // While that was written, too, the machine may have slept, or the folder been replaced.
    this.#assertMaySend(client, before);
    if (!this.#timeWatch.agree) throw new SubmissionError('clocks-disagree');
    if (!this.#lease.isHeld()) throw new SubmissionError('lease-lost');
  }

  /**
   * Notes how an attempt ended, if one had begun; where that cannot be written, the file says that it is still open, which is no
   * less true. @returns whether it was written
   */
  async #end(error: unknown, step: NextStep, begun: boolean): Promise<boolean> {
    const ended = this.#now();
    const waitMs = 'waitMs' in step ? step.waitMs : 0;
    const httpStatus = statusOf(error);
    if (begun)
      this.#changeLast((attempt) => ({
        ...attempt,
        ended,
        code: error instanceof ExpectedError ? error.code : 'unexpected',
        ...(httpStatus !== undefined && { httpStatus }),
        ...(waitMs > 0 && { notBefore: later(ended, waitMs) }),
      }));
    // In one write: between two a crash would leave a refusal that looks like a charge. Its code is stored, and no word of it.
    if (step.kind === 'refused')
      this.#intent = {
        ...this.#intent,
        refused: { at: ended, code: error instanceof ServiceError ? error.code : '' },
      };
    else if (!begun) return true;
    return this.#journal.write(this.#lease, this.#intent).then(
      () => true,
      () => false,
    );
  }

  /** The service's time comes from an answer; it is unknown after a clock was set, or after a sleep. */
  #moment(client: Client): Attempt['started'] {
    return this.#timeWatch.agree ? momentOf(client, this.#clock) : localMoment(this.#clock);
  }

  /** By the skew that the attempt began with, if the clocks agree since. */
  #now(): Attempt['started'] {
    const now = localMoment(this.#clock);
    const started = this.#intent.attempts.at(-1)?.started;
    if (started?.serviceMs === undefined || !this.#timeWatch.agree) return now;
    return { ...now, serviceMs: now.localMs + started.serviceMs - started.localMs };
  }

  #changeLast(change: (attempt: Attempt) => Attempt): void {
    const { attempts } = this.#intent;
    const last = attempts.at(-1);
    if (last !== undefined)
      this.#intent = { ...this.#intent, attempts: [...attempts.slice(0, -1), change(last)] };
  }
}

/** How it ends between two attempts, or before the first. */
export function stopped(error: unknown, intent: Intent): AttemptsEnd {
  return { kind: mayBeCharged(intent) ? 'reconcile' : 'dropped', waitMs: 0, error, intent };
}

/** The request of every attempt of an intent: the same bytes each time. */
function submissionOf(intent: Intent): RunSubmission {
  const { path, filename, sizeBytes, sha256, mtimeMs, ctimeMs } = intent.dataset;
  return {
    idempotencyKey: intent.id,
    boundary: intent.boundary,
    dataset: { path, filename, sizeBytes, sha256, mtimeMs, ctimeMs },
    model_id: intent.model_id,
    ...(intent.label !== undefined && { label: intent.label }),
    // An intent is made only when the user has given both.
    model_terms_accepted: true,
    data_policy_accepted: true,
    priority_processing: intent.priority_processing,
  };
}

/** By the clocks that a wait is measured with. */
function later({ localMs, serviceMs }: Attempt['started'], ms: number): Attempt['started'] {
  return { localMs: localMs + ms, ...(serviceMs !== undefined && { serviceMs: serviceMs + ms }) };
}

/** How much wall and monotonic clock may differ: more is a clock that was set, or a machine that slept. */
const AGREEMENT_MS = 60_000;

/** Whether this machine's two clocks agree since it was made. */
class ClockWatch {
  readonly #clock: Clock;
  readonly #wallMs: number;
  readonly #monotonicMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#wallMs = clock.nowMs();
    this.#monotonicMs = clock.monotonicMs();
  }

  get agree(): boolean {
    const wallMs = this.#clock.nowMs() - this.#wallMs;
    const monotonicMs = this.#clock.monotonicMs() - this.#monotonicMs;
    return Math.abs(wallMs - monotonicMs) <= AGREEMENT_MS;
  }
}
