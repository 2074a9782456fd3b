import { randomUUID } from 'node:crypto';
import { serviceOf } from '../accounts/account.ts';
import { ServiceError } from '../api/errors.ts';
import { lazy } from '../base/async.ts';
import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { unlessCancelled } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import type { Session } from '../runs/session.ts';
import { dueMs } from './checkTimes.ts';
import { isLostOwner, isTaken } from './errors.ts';
import type { Journal, Owned, KnownSubmissions } from './journal.ts';
import { LinkedRuns } from './linkedRuns.ts';
import { momentOf, type Time } from './moments.ts';
import type { OpenSubmission, SharedParts } from './openSubmission.ts';
import { PendingList } from './pendingList.ts';
import {
  canDiscard,
  isCancellable,
  awaitsCheck,
  restingState,
  type Discarded,
  type FoundRun,
  type PendingSubmission,
  type SubmissionInProgress,
  type SubmissionResult,
  type CheckResult,
} from './pendingSubmission.ts';
import { askedWaitMs, isRefused, isSent, newSubmission, type Draft, type Submission } from './submission.ts';
import { UploadQueue } from './uploadQueue.ts';

/** The shortest time between two checks by the user while the service asks submissions to wait. */
const OFTEN_MS = 60_000;

interface Check {
  done: Promise<CheckResult | undefined>;
  isAutomatic: boolean;
}

/**
 * Owns this window's work on the open submissions: which ones there are, what it does with each, and in which order.
 * Work on a single one is in `openSubmission.ts`, loaded at first use.
 */
export class Submissions implements Disposable {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #load: () => Promise<typeof import('./openSubmission.ts')>;
  readonly #pending: PendingList;
  readonly #stop = new AbortController();
  readonly #shared: SharedParts;
  readonly #onDidChange = new Emitter<PendingSubmission>();
  readonly #cancels = new Map<string, AbortController>();
  readonly #checks = new Map<string, Check>();
  /** When this window last began a look, and how many it has begun. The journal has only the answered ones. */
  readonly #looks = new Map<string, { atMs: number; count: number }>();
  readonly #linked: LinkedRuns;

  /** Fires with the latest state when a submission started, progressed, or ended, in any window. */
  readonly onDidChange = this.#onDidChange.event;

  /**
   * @param time for tests: the clock, and the random numbers for jitter
   * @param load for tests: loads the module that sends
   */
  constructor(
    journal: Journal,
    { clock = SYSTEM_CLOCK, random = Math.random }: Partial<Time> = {},
    load: () => Promise<typeof import('./openSubmission.ts')> = () => import('./openSubmission.ts'),
  ) {
    this.#journal = journal;
    const time = { clock, random };
    this.#clock = clock;
    this.#shared = { journal, time, uploads: new UploadQueue(), stopping: this.#stop.signal };
    this.#load = lazy(load);
    this.#pending = new PendingList(journal, (row) => this.#onDidChange.fire(row));
    const adopt = async (session: Session, { id }: Submission, runId: string) => {
      const row = this.#pending.get(id);
      if (row === undefined || !canDiscard(row)) return undefined;
      return this.#owning(id, session, (open) => open.adopt(session, runId, 'found'));
    };
    this.#linked = new LinkedRuns(journal, () => this.nowMs, adopt);
  }

  /** The time by the clock of the records; milliseconds since the epoch. */
  get nowMs(): number {
    return this.#clock.nowMs();
  }

  /** The pending submissions, oldest first. */
  get pending(): readonly PendingSubmission[] {
    return this.#pending.all;
  }

  /** Probes which submissions other windows own; before the first probe, all may be theirs. Never rejects. */
  probe(): Promise<void> {
    return this.#pending.probe();
  }

  /** Whether a submission of this account may have been charged, and no checks have proven otherwise. */
  hasUncertain(accountId: string): boolean {
    return this.pending.some(
      ({ accountId: id, submission }) => id === accountId && submission.stage === 'sent',
    );
  }

  /**
   * Creates a submission from a draft and sends it after the uploads that are already queued. A `charged` result
   * updates the runs and the balance of the session; they are also refreshed after `unknown`.
   * @param known the submissions of the same bytes that the user knew of before consenting
   */
  submit(session: Session, draft: Draft, signal: AbortSignal, known: KnownSubmissions): SubmissionInProgress {
    const id = randomUUID();
    return this.#inProgress(id, this.#createAndSend(session, { id, ...draft }, signal, known));
  }

  /** Resends an open submission with the same Idempotency-Key and bytes, after a look for its run. */
  resume(session: Session, id: string, signal: AbortSignal): SubmissionInProgress {
    const sent = this.#owning(id, session, (open) => open.resend(session, this.#cancellable(id, signal)));
    return this.#inProgress(id, sent);
  }

  /**
   * Checks what became of an open submission; only reads. Undefined if another window owns it or it is resolved.
   * @throws ApiError, CancelledError, KeyMissingError
   */
  async check(session: Session, id: string, signal?: AbortSignal): Promise<CheckResult | undefined> {
    const running = this.#checks.get(id);
    if (running?.isAutomatic === false) return unlessCancelled(running.done, signal);
    return this.#check(session, id, false, signal);
  }

  /** Returns when the next automatic check of an account is due, by this machine's clock; Infinity if none is. */
  nextCheckMs(accountId: string): number {
    return Math.min(Infinity, ...this.#watched(accountId).map(({ submission }) => this.#dueMs(submission)));
  }

  /**
   * Runs the automatic checks that are due, as far as the account's quota allows. Never rejects; a failed check is
   * repeated later.
   * @returns the runs that this window found, which it must report: other windows don't
   */
  async checkDue(session: Session): Promise<readonly FoundRun[]> {
    const found: FoundRun[] = [];
    if (session.notBeforeMs !== undefined) return found;
    for (const { id, submission } of this.#watched(session.account.id)) {
      if (this.#dueMs(submission) > this.nowMs) continue;
      const result = await this.#check(session, id, true, this.#stop.signal).catch(() => undefined);
      if (result?.verdict === 'charged') found.push({ submission, run: result.run });
    }
    return found;
  }

  /** See `LinkedRuns.link`. */
  linkMarked(session: Session): Promise<readonly FoundRun[]> {
    return this.#linked.link(session);
  }

  /**
   * Settles a submission with the run that the user recognized.
   * @returns false if another window owns it
   * @throws ApiError, KeyMissingError if the run cannot be read
   */
  async adopt(session: Session, id: string, runId: string): Promise<boolean> {
    return (
      (await this.#owning(id, session, (open) => open.adopt(session, runId, 'recognised'))) !== undefined
    );
  }

  /** See `OpenSubmission.discard`. @returns also undefined if another window owns it */
  discard(id: string, ...how: Parameters<OpenSubmission['discard']>): Promise<Discarded | undefined> {
    return this.#owning(id, undefined, (open) => open.discard(...how));
  }

  /**
   * Reads the balance although the service asks submissions to wait. A response ends that wait, also in the records of
   * submissions that were not sent because of it.
   * @throws ApiError, CancelledError, KeyMissingError
   */
  async endLongWait(session: Session): Promise<void> {
    await session.endLongWait();
    for (const one of this.pending) {
      const { id, accountId, submission } = one;
      const isMeant = accountId === session.account.id && canDiscard(one) && !isSent(submission);
      if (isMeant && askedWaitMs(submission, { localMs: this.nowMs }) > 0)
        await this.#owning(id, session, (open) => open.endWait()).catch(() => undefined);
    }
  }

  /** Stops a submission before its last bytes leave. @returns false if it is too late */
  cancel(id: string): boolean {
    const row = this.#pending.get(id);
    const cancel = this.#cancels.get(id);
    if (row === undefined || cancel === undefined || !isCancellable(row)) return false;
    cancel.abort();
    return true;
  }

  dispose(): void {
    this.#stop.abort();
    this.#pending.dispose();
    this.#linked.dispose();
    this.#onDidChange.dispose();
  }

  #inProgress(id: string, sent: Promise<SubmissionResult | undefined>): SubmissionInProgress {
    const onProgress: SubmissionInProgress['onProgress'] = (listener) =>
      this.onDidChange((row) => {
        if (row.id === id) listener(row);
      });
    const result = sent
      .then((end) => end ?? ({ kind: 'elsewhere' } as const))
      .catch((error: unknown) => this.#resultAfterFailure(id, error));
    return { id, onProgress, result };
  }

  /** Creates a submission, which claims its bytes, and sends it. */
  async #createAndSend(
    session: Session,
    draft: Draft & Pick<Submission, 'id'>,
    signal: AbortSignal,
    known: KnownSubmissions,
  ): Promise<SubmissionResult> {
    const { id } = draft;
    const create = async () => {
      await this.#load();
      const submission = newSubmission(
        session.account,
        draft,
        await session.key(),
        momentOf(session, this.#clock),
      );
      // Create the signal before the submission is first shown: the user can cancel whatever is shown.
      const anySignal = this.#cancellable(id, signal);
      this.#pending.show(id, { state: this.#shared.uploads.isBusy ? 'queued' : 'uploading' });
      return { ...(await this.#journal.create(submission, known)), submission, anySignal };
    };
    const created = await create().catch((error: unknown) => ({ error }));
    if ('lease' in created) {
      const { lease, submission } = created;
      const owned = { lease, submission };
      return this.#holding(owned, (open) => open.send(session, created.anySignal));
    }
    this.#cancels.delete(id);
    this.#pending.released(id);
    if ('existing' in created) return { kind: 'open', id: created.existing.id };
    if (isLostOwner(created.error)) return { kind: 'elsewhere' };
    const first = isTaken(created.error) ? await this.#firstOf(session, draft) : undefined;
    return first ? { kind: 'open', id: first } : { kind: 'not-charged', error: created.error, isKept: false };
  }

  /** Returns what the record says after its sending failed. */
  async #resultAfterFailure(id: string, error: unknown): Promise<SubmissionResult> {
    await this.#journal.reload().catch(() => undefined);
    const submission = this.#find(id);
    if (submission === undefined || isLostOwner(error)) return { kind: 'elsewhere' };
    if (submission.stage === 'sent') return { kind: 'unknown', error };
    const isUnchecked = restingState(submission, this.#journal.maySayNotCharged(id)) === 'unchecked';
    return isUnchecked ? { kind: 'unanswered', error } : { kind: 'not-charged', error, isKept: true };
  }

  /** Looks for the run of an open submission. An automatic check that is no longer due has no result. */
  #check(session: Session, id: string, isAutomatic: boolean, signal: AbortSignal | undefined): Check['done'] {
    const quota = isAutomatic ? session.quota : undefined;
    const done = this.#owning(id, session, async (open): Check['done'] => {
      // Read from disk now: another window may have checked it meanwhile.
      if (
        quota !== undefined &&
        !(this.#dueMs(open.submission) <= this.nowMs && this.#take(quota, open.submission))
      )
        return undefined;
      if (isRefused(open.submission)) return { verdict: 'not-charged' };
      if (quota === undefined) this.#assertNotTooOften(session, id);
      this.#pending.show(id, { state: 'checking' });
      return (await open.look(session, { signal, quota })).result;
    }).finally(() => {
      if (this.#checks.get(id)?.done === done) this.#checks.delete(id);
    });
    this.#checks.set(id, { done, isAutomatic });
    return done;
  }

  /** @throws ServiceError `rate_limited`, as if the service had refused the check */
  #assertNotTooOften({ submissionsNotBeforeMs }: Session, id: string): void {
    const sinceMs = this.nowMs - (this.#looks.get(id)?.atMs ?? -Infinity);
    const leftMs = sinceMs < 0 ? 0 : OFTEN_MS - sinceMs;
    if (submissionsNotBeforeMs !== undefined && leftMs > 0)
      throw new ServiceError('rate_limited', 429, '', leftMs);
  }

  #watched(accountId: string): PendingSubmission[] {
    return this.pending.filter((one) => one.accountId === accountId && awaitsCheck(one));
  }

  /** Returns when an automatic check of a submission is due; Infinity if none is. */
  #dueMs(submission: Submission): number {
    const hasAnswer = this.#journal.maySayNotCharged(submission.id);
    return dueMs(submission, this.nowMs, { hasAnswer, ...this.#looks.get(submission.id) });
  }

  /** Takes a request from the quota. Each window may look once; only the reader repeats it. */
  #take(quota: Session['quota'], { id, stage }: Submission): boolean {
    const isFirstLook = stage !== 'sent' && !this.#looks.has(id);
    return (isFirstLook || quota.isReader) && quota.take();
  }

  /** Returns the ID of the submission of these bytes that another window created first; undefined if it can't be read. */
  async #firstOf({ account }: Session, draft: Draft): Promise<string | undefined> {
    const known = await this.#journal.knownOf({ origin: serviceOf(account), ...draft }).catch(() => []);
    return known.at(-1)?.record?.id;
  }

  /** Returns a signal that `cancel` aborts, until this window has released the submission. */
  #cancellable(id: string, signal: AbortSignal): AbortSignal {
    const cancel = new AbortController();
    this.#cancels.set(id, cancel);
    return AbortSignal.any([signal, cancel.signal, this.#stop.signal]);
  }

  /**
   * Runs `work` as the owner of an open submission, after any check in progress.
   * @param session if given, the submission must be its account's
   * @returns undefined if another window owns it, now or during `work`, or if it is over or another account's
   */
  async #owning<T>(
    id: string,
    session: Session | undefined,
    work: (open: OpenSubmission) => Promise<T>,
  ): Promise<T | undefined> {
    // Read this before the first await: a check that calls this must not wait for itself.
    const running = this.#checks.get(id)?.done;
    await this.#load();
    await running?.catch(() => undefined);
    const owned = await this.#journal.acquire(id);
    if (owned === undefined) return undefined;
    const { accountId, origin } = owned.submission;
    const isForeign = session && (accountId !== session.account.id || origin !== serviceOf(session.account));
    return this.#holding(owned, async (open) => {
      if (isForeign) return undefined;
      return work(open).catch((error: unknown) => {
        if (!isLostOwner(error)) throw error;
        open.giveUp();
        return undefined;
      });
    });
  }

  /** Runs `work` with an owned submission, then releases it. */
  async #holding<T>(owned: Owned, work: (open: OpenSubmission) => Promise<T>): Promise<T> {
    const { id } = owned.submission;
    const { OpenSubmission: Loaded } = await this.#load();
    const open = new Loaded(owned, this.#shared, {
      show: (live) => this.#pending.show(id, live),
      onLook: () => {
        this.#looks.set(id, { atMs: this.nowMs, count: (this.#looks.get(id)?.count ?? 0) + 1 });
        this.#pending.lookBegan(id);
      },
    });
    try {
      return await work(open);
    } finally {
      this.#cancels.delete(id);
      this.#pending.released(id, open.release());
    }
  }

  #find(id: string): Submission | undefined {
    return this.#journal.submissions.find((open) => open.id === id);
  }
}
