import { serviceOf, type Account } from '../accounts/account.ts';
import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import { lazy } from '../base/async.ts';
import type { Session } from '../runs/session.ts';
import { isCharged, isRunOf, isSettled, newIntent, type ChargedReceipt, type Draft } from './intent.ts';
import type { Journal } from './journal.ts';
import {
  PendingSubmissions,
  type FoundRun,
  type PendingSubmission,
  type Submission,
  type SubmissionResult,
} from './pendingSubmission.ts';
import { ownerOf } from './ownRuns.ts';
import { isFromThen } from './reconcilePolicy.ts';
import { momentOf } from './moments.ts';
import type { Settler } from './settler.ts';
import type { KnownSubmissions } from './rivals.ts';
import type { ReconcileResult } from './reconciler.ts';
import type { Sender } from './sender.ts';
import { isUncertain, stageOf } from './stage.ts';
import type { Time } from './uploadAttempts.ts';

/**
 * Owns the way from a draft to at most one charge, with one upload at a time. Each draft becomes an intent
 * with one Idempotency-Key; `sender.ts`, loaded at the first use, sends it.
 */
export class Submitter implements Disposable {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #pending: PendingSubmissions;
  readonly #stop = new AbortController();
  readonly #onDidChange = new Emitter<PendingSubmission>();
  readonly #sender: () => Promise<Sender>;
  /** Runs of which no receipt lacks the marker, until the journal changes. */
  readonly #linked = new Set<string>();
  readonly #subscription: Disposable;

  /** Fires with its latest state when a submission started, progressed, ended, or was dismissed anywhere. */
  readonly onDidChange = this.#onDidChange.event;

  /**
   * @param time for tests: the clock, and the random numbers for jitter (at least 0, less than 1)
   * @param load for tests: loads the module that sends
   */
  constructor(
    journal: Journal,
    { clock = SYSTEM_CLOCK, random = Math.random }: Partial<Time> = {},
    load: () => Promise<typeof import('./sender.ts')> = () => import('./sender.ts'),
  ) {
    this.#journal = journal;
    this.#clock = clock;
    this.#pending = new PendingSubmissions(journal, (submission) => this.#onDidChange.fire(submission));
    this.#subscription = journal.onDidChange(() => this.#linked.clear());
    this.#sender = lazy(async () => {
      const { Sender: Loaded } = await load();
      return new Loaded(journal, this.#pending, { clock, random }, this.#stop.signal);
    });
  }

  /** The time by the clock of the records; milliseconds since the epoch. */
  get nowMs(): number {
    return this.#clock.nowMs();
  }

  /** The pending submissions, oldest first. */
  get pending(): readonly PendingSubmission[] {
    return this.#pending.all;
  }

  /** Returns the open submissions of these bytes at a service, of any account: two may be the same there. */
  openOnesOf(account: Account, sha256: string): readonly PendingSubmission[] {
    return this.pending.filter(
      ({ state, intent: { origin, dataset } }) =>
        origin === serviceOf(account) && state !== 'refused' && dataset.sha256 === sha256,
    );
  }

  /** Probes which submissions other windows own; before that, all may be theirs. Never rejects. */
  probe(): Promise<void> {
    return this.#pending.probe();
  }

  /** Whether a submission of this account may have been charged, and no checks have proven otherwise. */
  hasUncertain(accountId: string): boolean {
    return this.pending.some(({ accountId: id, intent }) => id === accountId && isUncertain(stageOf(intent)));
  }

  /**
   * Creates an intent from a draft and sends it after the uploads that are already queued. A `charged` result
   * updates the runs and the balance of the session; they are also refreshed after `unknown`.
   * @param known the submissions of the same bytes that the user knew of when consenting
   */
  submit(session: Session, draft: Draft, signal: AbortSignal, known: KnownSubmissions = {}): Submission {
    const intent = newIntent(session.account, draft, momentOf(session, this.#clock));
    return this.#submission(intent.id, (sender) => sender.submit(session, intent, signal, known));
  }

  /**
   * Resends an open intent with the same Idempotency-Key and bytes, after its run was looked for.
   */
  resume(session: Session, id: string, signal: AbortSignal): Submission {
    return this.#submission(id, (sender) => sender.resume(session, id, signal));
  }

  /**
   * Checks what became of an open intent; only reads. Undefined if another window owns it or it is resolved.
   * @throws ApiError, CancelledError, KeyMissingError
   */
  async check(session: Session, id: string, signal?: AbortSignal): Promise<ReconcileResult | undefined> {
    return (await this.#sender()).settler.check(session, id, signal);
  }

  /** Whether this window has begun to look for the run of an open intent, answered or not. */
  wasTried(id: string): boolean {
    return this.#pending.wasTried(id);
  }

  /** Returns when the next automatic check of an account is due, by this machine's clock; Infinity if none is. */
  nextCheckMs(accountId: string): number {
    const isWaiting = ({ state }: PendingSubmission) => state === 'unknown' || state === 'stopped';
    const waiting = this.pending.filter((one) => one.accountId === accountId && isWaiting(one));
    const nowMs = this.#clock.nowMs();
    return Math.min(Infinity, ...waiting.map(({ intent }) => this.#pending.nextCheckMs(intent, nowMs)));
  }

  /**
   * Runs the due automatic checks of what may have been charged, as far as the account's quota allows. Never
   * rejects; a failed check is repeated later.
   * @returns the runs that this window found, which it reports; others leave them to it
   */
  async checkDue(session: Session): Promise<readonly FoundRun[]> {
    const isDue = this.nextCheckMs(session.account.id) <= this.#clock.nowMs();
    if (!isDue || !session.quota.canTake || session.notBeforeMs !== undefined) return [];
    const sender = await this.#sender().catch(() => undefined);
    return (await sender?.settler.checkDue(session)) ?? [];
  }

  /**
   * Settles submissions that may have been charged and whose marker is in the label of a loaded run. Until
   * then, both the run and the submission are shown. Never rejects.
   * @returns as `checkDue`
   */
  async settleMarked(session: Session): Promise<readonly FoundRun[]> {
    const sender = await this.#sender().catch(() => undefined);
    return (await sender?.settler.settleMarked(session)) ?? [];
  }

  /**
   * Adds loaded runs with the marker of a settled submission to its receipt: one that was discarded or found not charged
   * is charged after all, one that was charged has two runs. Never rejects.
   * @returns the receipts that changed, whose charge `Journal.unreported` has now
   */
  async linkMarked(session: Session): Promise<readonly ChargedReceipt[]> {
    const { account, runs } = session;
    const changed: ChargedReceipt[] = [];
    const rows = runs.rows?.filter(({ run_id }) => !this.#linked.has(run_id) && runs.label(run_id)) ?? [];
    if (rows.length === 0) return changed;
    const records = await this.#journal.records().catch(() => undefined);
    if (records === undefined) return changed;
    for (const row of rows) {
      const receipt = ownerOf(records, runs.label(row.run_id));
      if (
        receipt?.accountId === account.id &&
        isSettled(receipt) &&
        !isRunOf(receipt, row.run_id) &&
        isFromThen(receipt, row, isCharged(receipt))
      )
        try {
          const linked = await (await this.#sender()).settler.link(session, receipt.id, row.run_id);
          if (linked !== undefined) changed.push(linked);
        } catch {
          // Tried again when the runs change.
          continue;
        }
      this.#linked.add(row.run_id);
    }
    return changed;
  }

  /**
   * Settles an intent with the run that the user recognized.
   * @returns false if another window owns it
   * @throws ApiError, KeyMissingError if the run cannot be read
   */
  async adopt(session: Session, id: string, runId: string): Promise<boolean> {
    return (await (await this.#sender()).settler.adopt(session, id, runId, 'recognised')) !== undefined;
  }

  /**
   * Discards an intent, which may be looked for before: see `Settler.discard`.
   * @param confirmed what the user agreed to discard: `not-charged` never discards one that may have been charged
   */
  async discard(...how: Parameters<Settler['discard']>): ReturnType<Settler['discard']> {
    return (await this.#sender()).settler.discard(...how);
  }

  /**
   * Ends an intent of which no closing boundary was sent and that is never sent again: it is too old, or was begun with another API
   * key: see `Settler.withdraw`.
   */
  async withdraw(...how: Parameters<Settler['withdraw']>): ReturnType<Settler['withdraw']> {
    return (await this.#sender()).settler.withdraw(...how);
  }

  /**
   * Reads the balance although the service asked submissions to wait. If it answers, that wait is over, also for what it left
   * unsent.
   * @throws ApiError, CancelledError, KeyMissingError
   */
  async endLongWait(session: Session): Promise<void> {
    await session.endLongWait();
    await (await this.#sender()).settler.endWaits(session);
  }

  /**
   * Stops a submission before its closing boundary is sent.
   * @returns false if it is too late
   */
  cancel(id: string): boolean {
    return this.#pending.cancel(id);
  }

  /** Stops all work in progress; the journal records how far it got. */
  dispose(): void {
    this.#stop.abort();
    this.#pending.dispose();
    this.#subscription.dispose();
    this.#onDidChange.dispose();
  }

  #submission(id: string, send: (sender: Sender) => Promise<SubmissionResult>): Submission {
    const onProgress: Submission['onProgress'] = (listener) =>
      this.onDidChange((submission) => {
        if (submission.id === id) listener(submission);
      });
    // If the sender module could not be loaded, nothing was sent now.
    const failed = (error: unknown): SubmissionResult => {
      const intent = this.#journal.intents.find((open) => open.id === id);
      if (intent === undefined) return { kind: 'not-charged', error, kept: false };
      const stage = stageOf(intent, { nowMs: this.#clock.nowMs(), isLooked: this.#journal.isLooked(id) });
      if (isUncertain(stage)) return { kind: 'unknown', error };
      return stage.mustLook ? { kind: 'unanswered', error } : { kind: 'not-charged', error, kept: true };
    };
    return { id, onProgress, result: this.#sender().then(send, failed) };
  }
}
