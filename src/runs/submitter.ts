import { randomBytes, randomUUID } from 'node:crypto';
import { ServiceError } from '../api/errors.ts';
import type { RunSubmission } from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError, throwIfCancelled } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import { outcomeOf, type Outcome } from './outcome.ts';
import type { Session } from './session.ts';

/** What the person chose and consented to: one wish to train. */
export type Draft = Omit<RunSubmission, 'idempotencyKey' | 'boundary'>;

/** `validating`: every byte is out and the service prices it. `unknown`: no answer came; it may have been charged. */
export type SubmissionState = 'queued' | 'uploading' | 'validating' | 'unknown';

/** A submission that is under way, or whose outcome is not known. */
export interface PendingSubmission {
  /** Its Idempotency-Key. */
  readonly id: string;
  readonly accountId: string;
  readonly draft: Draft;
  readonly state: SubmissionState;
  readonly sentBytes: number;
  readonly totalBytes: number;
  /** When the upload began; milliseconds since the epoch. */
  readonly startedAtMs?: number;
}

/**
 * Owns the submissions that are under way: one upload at a time, the others wait in order. Each is one intent with one
 * Idempotency-Key, sent at most once; this is the one way to `createRun`.
 */
export class Submitter implements Disposable {
  readonly #onDidChange = new Emitter<PendingSubmission>();
  readonly #pending = new Map<string, PendingSubmission>();
  readonly #cancels = new Map<string, AbortController>();
  readonly #stop = new AbortController();
  #queue: Promise<unknown> = Promise.resolve();

  /** Fires when a submission began, progressed, ended or was dismissed, with its last state. */
  readonly onDidChange = this.#onDidChange.event;

  /** Oldest first. */
  get pending(): readonly PendingSubmission[] {
    return [...this.#pending.values()];
  }

  /** Whether something of this account is under way or not known yet. */
  isBusy(accountId: string): boolean {
    return this.pending.some((submission) => submission.accountId === accountId);
  }

  /** Whether something of this account may have been charged without being known to be. */
  isUnknown(accountId: string): boolean {
    return this.pending.some(({ accountId: id, state }) => id === accountId && state === 'unknown');
  }

  /**
   * Sends a draft once, after the uploads that were asked for earlier. Never throws: the outcome says what is true.
   * After `charged` the session's runs and balance know it; after `unknown`, too, they are read again. After a balance
   * that was too low it is read again.
   * @param id the Idempotency-Key
   */
  async submit(
    session: Session,
    draft: Draft,
    signal: AbortSignal,
    id: string = randomUUID(),
  ): Promise<Outcome> {
    const cancel = new AbortController();
    this.#cancels.set(id, cancel);
    const anySignal = AbortSignal.any([signal, cancel.signal, this.#stop.signal]);
    this.#set({
      id,
      accountId: session.account.id,
      draft,
      state: 'queued',
      sentBytes: 0,
      totalBytes: draft.dataset.sizeBytes,
    });
    const turn = this.#queue.then(() => this.#send(session, id, draft, anySignal));
    this.#queue = turn;
    const outcome = await Promise.race([turn, whileQueued(anySignal, () => this.#pending.get(id)?.state)]);
    this.#cancels.delete(id);
    if (outcome.kind === 'unknown') this.#update(id, { state: 'unknown' });
    else this.#remove(id);
    // Not awaited, and never an error: the outcome is told at once, and what is read later shows when it comes.
    if (outcome.kind !== 'not-charged')
      void Promise.allSettled([session.runs.refresh(), session.balance.refresh()]);
    else if (isTooPoor(outcome.error)) void Promise.allSettled([session.balance.refresh()]);
    return outcome;
  }

  /**
   * Stops a submission as long as nothing of it can have been charged: it waits, or is being uploaded.
   * @returns false where it is too late
   */
  cancel(id: string): boolean {
    const submission = this.#pending.get(id);
    if (submission === undefined || !isCancellable(submission)) return false;
    this.#cancels.get(id)?.abort();
    return true;
  }

  /** Takes a submission whose outcome is not known off the list, as the person asked. */
  dismiss(id: string): void {
    if (this.#pending.get(id)?.state === 'unknown') this.#remove(id);
  }

  /** Stops what is under way. */
  dispose(): void {
    this.#stop.abort();
    this.#onDidChange.dispose();
  }

  async #send(session: Session, id: string, draft: Draft, signal: AbortSignal): Promise<Outcome> {
    let closed = false;
    try {
      throwIfCancelled(signal);
      this.#update(id, { state: 'uploading', startedAtMs: Date.now() });
      const submission: RunSubmission = {
        ...draft,
        idempotencyKey: id,
        boundary: `----FineTuning${randomBytes(18).toString('hex')}`,
      };
      const run = await session.call((client) =>
        client.createRun(submission, {
          signal,
          onProgress: (sentBytes, totalBytes) => this.#update(id, { sentBytes, totalBytes }),
          onClosed: () => {
            closed = true;
            this.#update(id, { state: 'validating' });
          },
        }),
      );
      session.runs.insertCreated(run, draft.model_id, draft.label);
      if (run.balance_after_cents !== undefined && run.currency !== undefined)
        session.balance.set({ balance_cents: run.balance_after_cents, currency: run.currency });
      return { kind: 'charged', run };
    } catch (error) {
      return outcomeOf(error, closed);
    }
  }

  #set(submission: PendingSubmission): void {
    this.#pending.set(submission.id, submission);
    this.#onDidChange.fire(submission);
  }

  #update(id: string, change: Partial<PendingSubmission>): void {
    const submission = this.#pending.get(id);
    if (submission !== undefined) this.#set({ ...submission, ...change });
  }

  #remove(id: string): void {
    const submission = this.#pending.get(id);
    if (submission === undefined) return;
    this.#pending.delete(id);
    this.#onDidChange.fire(submission);
  }
}

/** Whether the closing boundary has not left: `Submitter.cancel` would stop it uncharged. */
export function isCancellable({ state }: PendingSubmission): boolean {
  return state === 'queued' || state === 'uploading';
}

function isTooPoor(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'insufficient_balance';
}

/** Ends at once a submission that is cancelled while it waits for its turn; one that is being sent ends by itself. */
function whileQueued(signal: AbortSignal, state: () => SubmissionState | undefined): Promise<Outcome> {
  return new Promise((resolve) => {
    const leave = () => {
      if (state() === 'queued') resolve({ kind: 'not-charged', error: new CancelledError() });
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}
