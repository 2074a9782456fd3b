import { serviceOf } from '../accounts/account.ts';
import { ServiceError } from '../api/errors.ts';
import type { RunCreation } from '../api/types.ts';
import { unlessCancelled } from '../base/errors.ts';
import type { RequestQuota } from '../runs/pacing.ts';
import type { Session } from '../runs/session.ts';
import {
  askedWaitMs,
  withoutWait,
  type ChargedReceipt,
  type Intent,
  type Moment,
  type Settlement,
} from './intent.ts';
import type { Journal, Owned } from './journal.ts';
import { canCheck, type FoundRun, type PendingSubmissions } from './pendingSubmission.ts';
import { ownerOf } from './ownRuns.ts';
import { creationOf, findRun, type ReconcileResult } from './reconciler.ts';
import { unfinishedUncertaintyOf, withObservation } from './reconcilePolicy.ts';
import { isPastBoundary, isUncertain, stageOf } from './stage.ts';
import { isLostOwner, type Time } from './uploadAttempts.ts';

type How = Extract<Settlement, { kind: 'charged' }>['how'];

/** How often the user can check while the service asks submissions to wait. */
const OFTEN_MS = 60_000;

/** Checks and settles open intents for `Submitter`, which documents the methods, and for `Sender`. */
export class Settler {
  readonly #journal: Journal;
  readonly #pending: PendingSubmissions;
  readonly #time: Time;
  /** Aborted when the extension is deactivated. */
  readonly #stopping: AbortSignal;
  readonly #checks = new Map<string, { done: Promise<ReconcileResult | undefined>; isAutomatic: boolean }>();

  constructor(journal: Journal, pending: PendingSubmissions, time: Time, stopping: AbortSignal) {
    this.#journal = journal;
    this.#pending = pending;
    this.#time = time;
    this.#stopping = stopping;
  }

  check(session: Session, id: string, signal?: AbortSignal): Promise<ReconcileResult | undefined> {
    const running = this.#checks.get(id);
    if (running?.isAutomatic === false) return unlessCancelled(running.done, signal);
    return this.#check(session, id, false, signal);
  }

  /** Never rejects. */
  async checkDue(session: Session): Promise<FoundRun[]> {
    const found: FoundRun[] = [];
    for (const { id, accountId, state, intent } of this.#pending.all) {
      if (accountId !== session.account.id || state !== 'unknown' || !this.#isDue(intent)) continue;
      const result = await this.#check(session, id, true, this.#stopping).catch(() => undefined);
      if (result?.verdict === 'charged') found.push({ intent, run: result.run });
    }
    return found;
  }

  #isDue(intent: Intent): boolean {
    const nowMs = this.#time.clock.nowMs();
    return this.#pending.nextCheckMs(intent, nowMs) <= nowMs;
  }

  #check(
    session: Session,
    id: string,
    isAutomatic: boolean,
    signal: AbortSignal | undefined,
  ): Promise<ReconcileResult | undefined> {
    const quota = isAutomatic ? session.quota : undefined;
    const done = this.owning(id, session, async (owned) => {
      // Read from disk now: another window may have checked it meanwhile.
      if (quota !== undefined && !(this.#isDue(owned.intent) && quota.take())) return undefined;
      if (quota === undefined) this.#assertNotTooOften(session, id);
      this.#pending.set(id, { state: 'checking' });
      return (await this.reconcile(session, owned, signal, quota)).result;
    }).finally(() => {
      if (this.#checks.get(id)?.done === done) this.#checks.delete(id);
    });
    this.#checks.set(id, { done, isAutomatic });
    return done;
  }

  /** @throws ServiceError `rate_limited`, as if the service had refused the check */
  #assertNotTooOften({ submissionsNotBeforeMs }: Session, id: string): void {
    const leftMs = OFTEN_MS - this.#pending.sinceTriedMs(id, this.#time.clock.nowMs());
    if (submissionsNotBeforeMs !== undefined && leftMs > 0)
      throw new ServiceError('rate_limited', 429, '', leftMs);
  }

  /** Never rejects. */
  async settleMarked(session: Session): Promise<FoundRun[]> {
    const { account, runs } = session;
    const found: FoundRun[] = [];
    const records = await this.#journal.records().catch(() => []);
    for (const submission of this.#pending.all) {
      const { id, accountId, intent } = submission;
      if (accountId !== account.id || !canCheck(submission)) continue;
      const isOwn = (label: string | undefined) =>
        ownerOf([intent], label) !== undefined && ownerOf(records, label)?.id === id;
      const row = runs.rows?.find(({ run_id }) => isOwn(runs.label(run_id)));
      const run = row && (await this.adopt(session, id, row.run_id, 'found').catch(() => undefined));
      if (run !== undefined) found.push({ intent, run });
    }
    return found;
  }

  /** @throws ApiError, write errors */
  async link(session: Session, receiptId: string, runId: string): Promise<ChargedReceipt | undefined> {
    const detail = session.runs.detail(runId) ?? (await session.call((client) => client.getRun(runId)));
    const at = this.now();
    const settled = { kind: 'charged', at, run: creationOf(detail), how: 'found' } as const;
    const changed = await this.#journal.addCharge(receiptId, settled);
    if (changed !== undefined) readAgain(session);
    return changed;
  }

  /** @returns the run; undefined if another window owns the intent, or it is resolved */
  adopt(session: Session, id: string, runId: string, how: How): Promise<RunCreation | undefined> {
    return this.owning(id, session, async (owned) => {
      // The details contain the price. Read them only if they are not loaded yet.
      const detail = session.runs.detail(runId) ?? (await session.call((client) => client.getRun(runId)));
      const run = creationOf(detail);
      await this.settleCharged(session, owned, run, how);
      return run;
    });
  }

  async discard(id: string, confirmed: 'may-be-charged' | 'not-charged'): Promise<boolean> {
    const isDone = await this.owning(id, undefined, async (owned) => {
      const stage = stageOf(owned.intent);
      const isOpen = isUncertain(stage);
      if (isOpen && confirmed === 'not-charged') return false;
      const isUnproven = stage.name === 'begun' && confirmed === 'may-be-charged';
      await this.settle(owned, { kind: isOpen || isUnproven ? 'discarded' : 'not-charged', at: this.now() });
      return true;
    });
    return isDone ?? false;
  }

  /** Lets the account's submissions that were not sent be continued at once, whatever the service asked. Never rejects. */
  async endWaits(session: Session): Promise<void> {
    for (const { id, accountId, state, intent } of this.#pending.all) {
      const isMeant = accountId === session.account.id && state === 'unsent';
      if (!isMeant || askedWaitMs(intent, this.now()) === 0) continue;
      const end = (owned: Owned) => this.#journal.write(owned.lease, withoutWait(owned.intent));
      await this.owning(id, session, end).catch(() => undefined);
    }
  }

  /**
   * Runs `work` as the owner of an open intent, after any check in progress.
   * @param session the intent must belong to its account
   * @returns undefined if another window owns the intent, also since `work` began, it is resolved, or it belongs to another account
   */
  async owning<T>(
    id: string,
    session: Session | undefined,
    work: (owned: Owned) => Promise<T>,
  ): Promise<T | undefined> {
    await this.#checks.get(id)?.done.catch(() => undefined);
    const owned = await this.#journal.acquire(id);
    if (owned === undefined) return undefined;
    return this.holding(owned, () => {
      const { accountId, origin } = owned.intent;
      const isForeign =
        session && (accountId !== session.account.id || origin !== serviceOf(session.account));
      return isForeign
        ? Promise.resolve(undefined)
        : work(owned).catch((error: unknown) => {
            if (!isLostOwner(error)) throw error;
            owned.lease.release();
            return undefined;
          });
    });
  }

  async holding<T>({ lease, intent }: Owned, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      // Whoever noticed that another window took over has released it.
      const isOwn = lease.isHeld();
      lease.release();
      this.#pending.rest(intent.id, isOwn);
    }
  }

  /**
   * Checks an intent once, and settles it if its run is found. Otherwise the returned intent contains the
   * observation, which is stored durably.
   * @param quota given for an automatic check, whose first request it has allowed
   * @throws ApiError, CancelledError, KeyMissingError, and write errors
   */
  async reconcile(
    session: Session,
    owned: Owned,
    signal?: AbortSignal,
    quota?: RequestQuota,
  ): Promise<{ result: ReconcileResult; intent: Intent; allRead: boolean; at?: Moment }> {
    const { lease, intent } = owned;
    const stage = stageOf(intent);
    const isUnfinished = stage.name === 'begun';
    if (!isPastBoundary(stage) && !isUnfinished)
      return { result: { verdict: 'not-charged' }, intent, allRead: false };
    const { clock } = this.#time;
    this.#pending.tried(intent.id, clock.nowMs());
    // Read before the balance: a charge whose receipt is written meanwhile stays a reason to doubt.
    const records = (await this.#journal.records()).filter(({ origin }) => origin === intent.origin);
    const { match, further, candidates, allRead, seen } = await session.call((client) =>
      findRun(client, intent, clock, { records, runs: session.runs, quota, signal }),
    );
    if (match !== undefined) {
      const run = creationOf(match);
      await this.settleCharged(session, owned, run, 'found', further.map(creationOf));
      return { result: { verdict: 'charged', run }, intent, allRead };
    }
    // What says nothing about a charge is not stored: each resend checks again.
    const next = isUnfinished ? intent : withObservation(intent, seen);
    if (!isUnfinished) await this.#journal.write(lease, next);
    const after = stageOf(next);
    const reason = isUnfinished
      ? unfinishedUncertaintyOf(intent, seen)
      : 'why' in after
        ? after.why
        : undefined;
    const result: ReconcileResult =
      reason === undefined ? { verdict: 'not-charged' } : { verdict: 'cannot-tell', reason, candidates };
    return { result, intent: next, allRead, at: seen.at };
  }

  /** Settles an intent with its run, and updates the runs and the balance of the session. */
  async settleCharged(
    session: Session,
    owned: Owned,
    run: RunCreation,
    how: How,
    further: RunCreation[] = [],
  ): Promise<void> {
    const { model_id, label } = owned.intent;
    const furtherRuns = further.length > 0 && { furtherRuns: further };
    await this.settle(owned, { kind: 'charged', at: this.now(), run, how, ...furtherRuns });
    session.runs.insertCreated(run, model_id, label);
    if (run.balance_after_cents !== undefined && run.currency !== undefined)
      session.balance.set({ balance_cents: run.balance_after_cents, currency: run.currency });
    readAgain(session);
  }

  /**
   * Settles an intent. A charge that cannot be written is still reported; its file stays open, which leads
   * to a check, never to a charge.
   * @throws write errors of other settlements
   */
  async settle({ lease, intent }: Owned, settled: Settlement): Promise<void> {
    try {
      await this.#journal.settle(lease, { ...intent, settled });
    } catch (error) {
      if (settled.kind !== 'charged') throw error;
      this.#pending.hide(intent.id);
    }
  }

  now(): Moment {
    return { localMs: this.#time.clock.nowMs() };
  }
}

/** Not awaited and never rejects: the result is reported at once, and the data shows up once it is read. */
export function readAgain({ runs, balance }: Session): void {
  void Promise.allSettled([runs.refresh(), balance.refresh()]);
}
