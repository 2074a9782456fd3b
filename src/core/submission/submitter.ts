import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError, unlessCancelled } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import { RETRIES } from '../base/retry.ts';
import type { RunCreation, RunSummary } from '../api/types.ts';
import { placeOf, type Account } from '../accounts/account.ts';
import { Ends } from './ends.ts';
import type { Finding } from './finding.ts';
import { isSameWish, mayBeCharged, newIntent, type Draft, type Intent } from './intent.ts';
import type { Journal } from './journal.ts';
import type { Lease } from '../storage/lease.ts';
import { CandidatesError, hasNewCandidates, Looks } from './looks.ts';
import { isUncertain } from './judge.ts';
import { isMarked } from './look.ts';
import { assertNotTooEarly, TooEarlyError } from './nextStep.ts';
import { canCheck } from './pendingActions.ts';
import {
  isCancellable,
  type PendingSubmission,
  type Submission,
  type SubmissionResult,
} from './pendingSubmission.ts';
import { PendingSubmissions } from './pendingSubmissions.ts';
import { Series, type SeriesEnd } from './series.ts';
import type { Session } from '../runs/session.ts';
import { UploadQueue } from './uploadQueue.ts';

type Owned = { lease: Lease; intent: Intent };

/**
 * Owns the way from a wish to a charge, at most one for each wish: one upload at a time, the others wait in order. Each wish
 * is an intent of the journal with one Idempotency-Key; this is the one way to `createRun`.
 */
export class Submitter implements Disposable {
  readonly #journal: Journal;
  readonly #time: { clock: Clock; random: () => number };
  readonly #pending: PendingSubmissions;
  readonly #ends: Ends;
  readonly #looks: Looks;
  readonly #cancels = new Map<string, AbortController>();
  readonly #stop = new AbortController();
  readonly #onDidChange = new Emitter<PendingSubmission>();
  readonly #uploads = new UploadQueue();
  readonly #checks = new Map<string, Promise<Finding | undefined>>();

  /** Fires when a submission began, progressed, ended or was dismissed, here or in another window, with its last state. */
  readonly onDidChange = this.#onDidChange.event;

  /** @param time for tests: time, and the random numbers from 0 up to 1 of the jitter */
  constructor(journal: Journal, time: { clock?: Clock; random?: () => number } = {}) {
    this.#journal = journal;
    this.#time = { clock: SYSTEM_CLOCK, random: Math.random, ...time };
    this.#pending = new PendingSubmissions(journal, (submission) => this.#onDidChange.fire(submission));
    this.#ends = new Ends(journal, this.#time.clock, (id) => this.#pending.hide(id));
    this.#looks = new Looks(journal, this.#time.clock, (session, owned, run) =>
      this.#ends.charged(session, owned, run, 'found'),
    );
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

  /** Finds out which of the pending ones other windows have: all are taken to be theirs before. Never rejects. */
  probe(): Promise<void> {
    return this.#pending.probe();
  }

  /** Whether something of this account may have been charged without being known to be. */
  isUnknown(accountId: string): boolean {
    return this.pending.some(({ accountId: id, intent }) => id === accountId && mayBeCharged(intent));
  }

  /**
   * Makes an intent of a draft and sends it, after the uploads that were asked for earlier. After `charged` the session's runs
   * and balance know it; after `unknown`, too, they are read again.
   * @param besideOtherAccounts whether the user agreed to submit what other accounts of the service have open submissions of
   */
  submit(session: Session, draft: Draft, signal: AbortSignal, besideOtherAccounts = false): Submission {
    const intent = newIntent(session.account, draft, this.#time.clock);
    return this.#handleOf(intent.id, this.#submit(session, intent, signal, besideOtherAccounts));
  }

  /**
   * Sends an open intent again, with the same Idempotency-Key and bytes; the run of one that may have been charged is looked for
   * first.
   */
  resume(session: Session, id: string, signal: AbortSignal): Submission {
    return this.#handleOf(id, this.#resume(session, id, signal));
  }

  #handleOf(id: string, result: Promise<SubmissionResult>): Submission {
    const onProgress: Submission['onProgress'] = (listener) =>
      this.onDidChange((submission) => {
        if (submission.id === id) listener(submission);
      });
    return { id, onProgress, result };
  }

  async #submit(
    session: Session,
    intent: Intent,
    signal: AbortSignal,
    besideOtherAccounts: boolean,
  ): Promise<SubmissionResult> {
    const { id } = intent;
    // Before it is shown for the first time: whoever sees it can cancel it.
    const cancel = new AbortController();
    this.#cancels.set(id, cancel);
    this.#pending.set(id, { state: this.#stateBefore() });
    const giveUp = (outcome: SubmissionResult): SubmissionResult => {
      this.#cancels.delete(id);
      this.#pending.rest(id);
      return outcome;
    };
    let created: Awaited<ReturnType<Journal['create']>>;
    try {
      created = await this.#journal.create(intent, besideOtherAccounts);
    } catch (error) {
      // Nothing connects before the intent is on disk.
      return giveUp({ kind: 'not-charged', error, kept: false });
    }
    if ('existing' in created) {
      this.#pending.unhide(created.existing.id);
      return giveUp({ kind: 'open', id: created.existing.id });
    }
    void this.#dropRefused(intent);
    return this.#send(session, { lease: created.lease, intent }, signal, cancel);
  }

  async #resume(session: Session, id: string, signal: AbortSignal): Promise<SubmissionResult> {
    let owned: Owned | undefined;
    const known = this.#journal.intents.find((intent) => intent.id === id);
    let isOpen = known !== undefined && isUncertain(known);
    try {
      await this.#checks.get(id)?.catch(() => undefined);
      owned = await this.#acquire(session, id);
      if (owned === undefined || owned.intent.refused !== undefined) return { kind: 'elsewhere' };
      isOpen = isUncertain(owned.intent);
      await this.#waitAsAsked(owned.intent, signal);
      if (!mayBeCharged(owned.intent)) return await this.#send(session, owned, signal);
      this.#pending.set(id, { state: 'checking' });
      const { finding, intent } = await this.#looks.look(session, owned, signal);
      if (finding.verdict === 'charged') return this.#found(finding.run);
      // What the person did not know of when they asked, they decide about first.
      if (hasNewCandidates(owned.intent, intent)) return { kind: 'unknown', error: new CandidatesError() };
      return await this.#send(session, { ...owned, intent }, signal);
    } catch (error) {
      return isOpen ? { kind: 'unknown', error } : { kind: 'not-charged', error, kept: true };
    } finally {
      owned?.lease.release();
      // What another window has is not this one's to call free.
      if (owned !== undefined) this.#pending.rest(id);
    }
  }

  /**
   * Looks what became of an open intent; nothing but reads. Undefined where another window has it, or it is settled.
   * @throws ApiError, CancelledError, KeyMissingError
   */
  check(session: Session, id: string, signal?: AbortSignal): Promise<Finding | undefined> {
    const running = this.#checks.get(id);
    if (running !== undefined) return unlessCancelled(running, signal);
    const check = this.#check(session, id, signal).finally(() => this.#checks.delete(id));
    this.#checks.set(id, check);
    return check;
  }

  /** Looks for whatever of an account may have been charged, where a look is due. Never throws. */
  async look(session: Session): Promise<void> {
    await this.probe();
    for (const { id, accountId, state } of this.pending) {
      if (accountId !== session.account.id || state !== 'unknown' || !this.#looks.isDue(id)) continue;
      await this.check(session, id, this.#stop.signal).catch(() => undefined);
    }
  }

  /**
   * Settles at once what may have been charged and whose marker stands in the label of a run that was read: until then one charge
   * looks like two. Never throws.
   */
  async settleMarked(session: Session): Promise<void> {
    const { account, runs } = session;
    for (const submission of this.pending) {
      if (submission.accountId !== account.id || !canCheck(submission)) continue;
      const isItsOwn = ({ run_id }: RunSummary) =>
        isMarked(submission.intent, { label: runs.label(run_id) ?? '' });
      const run = runs.rows?.find(isItsOwn);
      if (run !== undefined) await this.adopt(session, submission.id, run.run_id, 'found').catch(() => false);
    }
  }

  /**
   * Settles an intent with its run.
   * @param how whether the person recognised it, or its marker was found
   * @returns false where another window has it
   * @throws ApiError, KeyMissingError when the run cannot be read
   */
  async adopt(
    session: Session,
    id: string,
    runId: string,
    how: 'recognised' | 'found' = 'recognised',
  ): Promise<boolean> {
    await this.#checks.get(id)?.catch(() => undefined);
    const owned = await this.#acquire(session, id);
    if (owned === undefined) return false;
    try {
      const run = await this.#looks.read(session, runId);
      await this.#ends.charged(session, owned, run, how);
      return true;
    } finally {
      owned.lease.release();
    }
  }

  /** Gives an intent up, as the person asked. @returns false where another window has it @throws what writing throws */
  async discard(id: string): Promise<boolean> {
    if (this.#cancels.has(id)) return false;
    await this.#checks.get(id)?.catch(() => undefined);
    const owned = await this.#journal.acquire(id);
    if (owned === undefined) return false;
    const at = { localMs: this.#time.clock.nowMs() };
    await this.#ends.settle(
      owned,
      isUncertain(owned.intent) ? { kind: 'discarded', at } : { kind: 'not-charged', at },
    );
    return true;
  }

  /**
   * Stops what is being sent, before its closing boundary has left.
   * @returns false where it is too late
   */
  cancel(id: string): boolean {
    const submission = this.pending.find((pending) => pending.id === id);
    const cancel = this.#cancels.get(id);
    if (submission === undefined || cancel === undefined || !isCancellable(submission)) return false;
    cancel.abort();
    return true;
  }

  /** Stops what is under way; the journal knows how far it came. */
  dispose(): void {
    this.#stop.abort();
    this.#pending.dispose();
    this.#onDidChange.dispose();
  }

  async #check(session: Session, id: string, signal?: AbortSignal): Promise<Finding | undefined> {
    const owned = await this.#acquire(session, id);
    if (owned === undefined) return undefined;
    this.#pending.set(id, { state: 'checking' });
    try {
      return (await this.#looks.look(session, owned, signal)).finding;
    } finally {
      owned.lease.release();
      this.#pending.rest(id);
    }
  }

  /** Undefined where another window has it, it is settled, or it belongs to another account. */
  async #acquire(session: Session, id: string): Promise<Owned | undefined> {
    if (this.#cancels.has(id)) return undefined;
    const owned = await this.#journal.acquire(id);
    if (owned === undefined) return undefined;
    const { accountId, origin } = owned.intent;
    if (accountId === session.account.id && origin === placeOf(session.account)) return owned;
    owned.lease.release();
    return undefined;
  }

  /**
   * Waits until the service may be asked again, as it told after the last attempt.
   * @throws TooEarlyError where nobody would wait that long, CancelledError
   */
  async #waitAsAsked(intent: Intent, signal: AbortSignal): Promise<void> {
    const { clock } = this.#time;
    try {
      assertNotTooEarly(intent, { localMs: clock.nowMs() });
      return;
    } catch (error) {
      if (!(error instanceof TooEarlyError) || error.retryAfterMs > RETRIES.submission.longestRetryAfterMs)
        throw error;
      const cancel = new AbortController();
      this.#cancels.set(intent.id, cancel);
      this.#pending.set(intent.id, { state: 'waiting', retryAtMs: clock.nowMs() + error.retryAfterMs });
      const anySignal = AbortSignal.any([signal, cancel.signal, this.#stop.signal]);
      await clock.sleep(error.retryAfterMs, anySignal).finally(() => this.#cancels.delete(intent.id));
    }
  }

  /** A draft that was refused is replaced by the submission that came of it. */
  async #dropRefused(intent: Intent): Promise<void> {
    const refused = this.#journal.intents.filter(
      (other) =>
        other.refused !== undefined && other.accountId === intent.accountId && isSameWish(other, intent),
    );
    for (const { id } of refused) await this.discard(id).catch(() => false);
  }

  async #send(
    session: Session,
    owned: Owned,
    signal: AbortSignal,
    cancel = new AbortController(),
  ): Promise<SubmissionResult> {
    const { id } = owned.intent;
    this.#cancels.set(id, cancel);
    this.#pending.set(id, { state: this.#stateBefore() });
    const anySignal = AbortSignal.any([signal, cancel.signal, this.#stop.signal]);
    try {
      const end = await this.#uploads.run(() => this.#series(session, owned, anySignal), anySignal);
      return await this.#tellTruth(session, owned.lease, end ?? stillQueued(owned.intent), anySignal);
    } finally {
      this.#cancels.delete(id);
      owned.lease.release();
      this.#pending.rest(id);
    }
  }

  /** Of one that is about to be sent. */
  #stateBefore(): PendingSubmission['state'] {
    return this.#uploads.isBusy ? 'queued' : 'uploading';
  }

  /** Looks before it says that the outcome is not known. */
  async #tellTruth(
    session: Session,
    lease: Lease,
    end: SeriesEnd,
    signal: AbortSignal,
  ): Promise<SubmissionResult> {
    const stopping = this.#stop.signal;
    const { intent } = end;
    const outcome = await this.#ends.conclude(session, { lease, intent }, end, stopping);
    if (outcome.kind !== 'unknown' || stopping.aborted) return outcome;
    // The service asked to be left alone.
    if ('waitMs' in end && end.waitMs > 0) return outcome;
    this.#pending.set(intent.id, { state: 'checking' });
    try {
      // Who cancelled wants to know, too; who cancels now need not wait for it.
      const until = signal.aborted ? stopping : signal;
      const { finding } = await this.#looks.look(session, { lease, intent }, until);
      return finding.verdict === 'charged' ? this.#found(finding.run) : outcome;
    } catch {
      return outcome;
    }
  }

  #found(run: RunCreation): SubmissionResult {
    return { kind: 'charged', run, found: true, onTold: () => void this.#journal.claimNotice(run.run_id) };
  }

  #series(session: Session, owned: Owned, signal: AbortSignal): Promise<SeriesEnd> {
    const { id } = owned.intent;
    // It waits for no other now: the balance is read before the first byte.
    this.#pending.set(id, { state: 'uploading' });
    const series = new Series(session, this.#journal, owned, this.#time, {
      onAttempt: (attempt) =>
        this.#pending.set(id, {
          state: 'uploading',
          attempt,
          startedAtMs: this.#time.clock.nowMs(),
          sentBytes: 0,
        }),
      onProgress: (sentBytes, totalBytes) => this.#pending.set(id, { sentBytes, totalBytes }),
      onClosed: () => this.#pending.set(id, { state: 'validating' }),
      onWaiting: (retryAtMs) => this.#pending.set(id, { state: 'waiting', retryAtMs }),
    });
    return series.run(signal);
  }
}

function stillQueued(intent: Intent): SeriesEnd {
  const error = new CancelledError();
  return mayBeCharged(intent)
    ? { kind: 'reconcile', waitMs: 0, error, intent }
    : { kind: 'dropped', error, intent };
}
