import { placeOf, type Account } from '../accounts/account.ts';
import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { lazy } from '../base/async.ts';
import type { Session } from '../runs/session.ts';
import { mayBeCharged, newIntent, type Draft } from './intent.ts';
import type { Journal } from './journal.ts';
import {
  PendingSubmissions,
  type PendingSubmission,
  type Submission,
  type SubmissionResult,
} from './pendingSubmission.ts';
import { isUncertain } from './reconcilePolicy.ts';
import type { ReconcileResult } from './reconciler.ts';
import type { Sender } from './sender.ts';
import type { Time } from './uploadAttempts.ts';

/**
 * Owns the way from a draft to a charge, at most one for each: one upload at a time, the others wait in order. Each draft
 * becomes an intent of the journal with one Idempotency-Key; `sender.ts`, loaded at the first use, is the one way to `createRun`.
 */
export class Submitter implements Disposable {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #pending: PendingSubmissions;
  readonly #stop = new AbortController();
  readonly #onDidChange = new Emitter<PendingSubmission>();
  readonly #sender: () => Promise<Sender>;

  /** Fires when a submission began, progressed, ended or was dismissed, here or in another window, with its last state. */
  readonly onDidChange = this.#onDidChange.event;

  /**
   * @param time for tests: time, and the random numbers from 0 up to 1 of the jitter
   * @param load for tests: the module that sends
   */
  constructor(
    journal: Journal,
    { clock = SYSTEM_CLOCK, random = Math.random }: Partial<Time> = {},
    load: () => Promise<typeof import('./sender.ts')> = () => import('./sender.ts'),
  ) {
    this.#journal = journal;
    this.#clock = clock;
    this.#pending = new PendingSubmissions(journal, (submission) => this.#onDidChange.fire(submission));
    this.#sender = lazy(async () => {
      const { Sender: Loaded } = await load();
      return new Loaded(journal, this.#pending, { clock, random }, this.#stop.signal);
    });
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
    const intent = newIntent(session.account, draft, this.#clock);
    return this.#submission(intent.id, (sender) => sender.submit(session, intent, signal, besides));
  }

  /**
   * Sends an open intent again, with the same Idempotency-Key and bytes; the run of one that may have been charged is looked for
   * first.
   */
  resume(session: Session, id: string, signal: AbortSignal): Submission {
    return this.#submission(id, (sender) => sender.resume(session, id, signal));
  }

  /**
   * Checks what became of an open intent; nothing but reads. Undefined where another window owns it, or it is resolved.
   * @throws ApiError, CancelledError, KeyMissingError
   */
  async check(session: Session, id: string, signal?: AbortSignal): Promise<ReconcileResult | undefined> {
    return (await this.#sender()).check(session, id, signal);
  }

  /** Checks whatever of an account may have been charged, where a check is due. Never rejects: it stays due. */
  async checkDue(session: Session): Promise<void> {
    const sender = await this.#sender().catch(() => undefined);
    await sender?.checkDue(session);
  }

  /**
   * Settles at once what may have been charged and whose marker is in the label of a run that was read: until then one charge
   * looks like two. Never rejects.
   */
  async settleMarked(session: Session): Promise<void> {
    const sender = await this.#sender().catch(() => undefined);
    await sender?.settleMarked(session);
  }

  /**
   * Settles an intent with the run that the user recognized.
   * @returns false where another window owns it
   * @throws ApiError, KeyMissingError when the run cannot be read
   */
  async adopt(session: Session, id: string, runId: string): Promise<boolean> {
    return (await this.#sender()).adopt(session, id, runId, 'recognised');
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
    return (await this.#sender()).discard(id, confirmed);
  }

  /**
   * Stops what is being sent, before its closing boundary has left.
   * @returns false where it is too late
   */
  cancel(id: string): boolean {
    return this.#pending.cancel(id);
  }

  /** Stops what is in progress; the journal knows how far it came. */
  dispose(): void {
    this.#stop.abort();
    this.#pending.dispose();
    this.#onDidChange.dispose();
  }

  #submission(id: string, send: (sender: Sender) => Promise<SubmissionResult>): Submission {
    const onProgress: Submission['onProgress'] = (listener) =>
      this.onDidChange((submission) => {
        if (submission.id === id) listener(submission);
      });
    // The sender itself could not be loaded: nothing was sent now.
    const failed = (error: unknown): SubmissionResult => {
      const intent = this.#journal.intents.find((open) => open.id === id);
      if (intent !== undefined && isUncertain(intent)) return { kind: 'unknown', error };
      return { kind: 'not-charged', error, kept: intent !== undefined };
    };
    return { id, onProgress, result: this.#sender().then(send, failed) };
  }
}
