import { isDeepStrictEqual } from 'node:util';
import { serviceOf } from '../accounts/account.ts';
import { ServiceError } from '../api/errors.ts';
import type { RunCreation } from '../api/types.ts';
import { CancelledError, unlessCancelled } from '../base/errors.ts';
import type { RequestQuota } from '../runs/pacing.ts';
import type { Session } from '../runs/session.ts';
import {
  askedWaitMs,
  hasBoundary,
  withoutWait,
  type ChargedReceipt,
  type Intent,
  type Moment,
  type Settlement,
} from './intent.ts';
import type { Journal, Owned } from './journal.ts';
import {
  canCheck,
  type FoundRun,
  type PendingSubmissions,
  type SubmissionState,
} from './pendingSubmission.ts';
import { ownerOf } from './ownRuns.ts';
import { localMoment } from './moments.ts';
import { creationOf, findRun, type ReconcileResult } from './reconciler.ts';
import { withEnds, withObservation } from './reconcilePolicy.ts';
import { isUncertain, stageOf } from './stage.ts';
import { isLostOwner, type Time } from './uploadAttempts.ts';

type How = Extract<Settlement, { kind: 'charged' }>['how'];

/** What became of a submission that the user discards. `charged`: a look before it found its run. */
export type Discarded = { kind: 'not-charged' | 'discarded' } | { kind: 'charged'; run: RunCreation };
export type Withdrawn = { kind: 'withdrawn' } | { kind: 'charged'; run: RunCreation };

interface LookOptions {
  signal?: AbortSignal | undefined;
  /** Given for an automatic check, whose first request it has allowed. */
  quota?: RequestQuota | undefined;
  /** Whether it is written before the look in any case, as what is sent afterwards needs. */
  claims?: boolean;
}

interface Look {
  result: ReconcileResult;
  intent: Intent;
  /** Whether everything that could be its run was listed and read, so that it would have been found. */
  isAnswered: boolean;
}

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
      if (accountId !== session.account.id || !isWaiting(state) || !this.#isDue(intent)) continue;
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
    const done = this.owning(id, session, async (owned): Promise<ReconcileResult | undefined> => {
      // Read from disk now: another window may have checked it meanwhile.
      if (quota !== undefined && !(this.#isDue(owned.intent) && quota.take())) return undefined;
      if (owned.intent.refused !== undefined) return { verdict: 'not-charged' };
      if (quota === undefined) this.#assertNotTooOften(session, id);
      this.#pending.set(id, { state: 'checking' });
      return (await this.reconcile(session, owned, { signal, quota })).result;
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

  /**
   * Looks for the run of an intent before it ends it, unless it may have been charged in any case, was refused, or this process
   * created it and sent no boundary.
   * @param session of its account, if signed in: without it, no look is answered
   * @returns what it was; undefined if another window owns it, or it may be charged and that isn't confirmed
   * @throws write errors, CancelledError
   */
  async discard(
    id: string,
    confirmed: 'may-be-charged' | 'not-charged',
    session?: Session,
    signal?: AbortSignal,
  ): Promise<Discarded | undefined> {
    return this.owning(id, undefined, async (owned) => {
      let intent = owned.intent;
      let isKnown = intent.refused !== undefined || (this.#journal.isCreated(id) && !hasBoundary(intent));
      if (!isKnown && !isUncertain(stageOf(intent)) && session?.account.id === intent.accountId) {
        const look = await this.reconcile(session, owned, { signal }).catch((error: unknown) => {
          if (isLostOwner(error) || error instanceof CancelledError) throw error;
        });
        if (look?.result.verdict === 'charged') return { kind: 'charged', run: look.result.run };
        isKnown = look?.result.verdict === 'not-charged' && look.isAnswered;
        intent = look?.intent ?? intent;
      }
      if (!isKnown && confirmed === 'not-charged') return undefined;
      const kind = isKnown ? 'not-charged' : 'discarded';
      await this.settle({ ...owned, intent }, { kind, at: this.now() });
      return { kind };
    });
  }

  /**
   * Ends a submission of which no closing boundary was sent and that is never sent again, as too old or begun with another API key.
   * @returns undefined if another window has it, a boundary may have been sent, it was refused, or a look for its run wasn't answered
   * @throws as `reconcile`
   */
  async withdraw(session: Session, id: string, signal?: AbortSignal): Promise<Withdrawn | undefined> {
    return this.owning(id, session, async (owned) => {
      if (hasBoundary(owned.intent) || owned.intent.refused !== undefined) return undefined;
      const { result, intent, isAnswered } = await this.reconcile(session, owned, { signal });
      if (result.verdict === 'charged') return { kind: 'charged', run: result.run };
      if (!isAnswered) return undefined;
      await this.settle({ ...owned, intent }, { kind: 'withdrawn', at: this.now() });
      return { kind: 'withdrawn' };
    });
  }

  /** Lets the account's submissions that were not sent be continued at once, whatever the service asked. Never rejects. */
  async endWaits(session: Session): Promise<void> {
    for (const { id, accountId, state, intent } of this.#pending.all) {
      const isMeant = accountId === session.account.id && (state === 'unsent' || state === 'stopped');
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
   * Looks for the run of an intent once, and settles the intent if it is found. Before it looks, it writes the end of attempts that
   * have none: their window can send nothing after that (R3 in docs/journal.md). The returned intent has the observation, which is
   * stored durably.
   * @throws ApiError, CancelledError, KeyMissingError, and write errors; a run is settled even if the disk is full
   */
  async reconcile(
    session: Session,
    owned: Owned,
    { signal, quota, claims = false }: LookOptions,
  ): Promise<Look> {
    const { lease, intent } = owned;
    const { clock } = this.#time;
    this.#pending.tried(intent.id, clock.nowMs());
    const claim = withEnds(intent, localMoment(clock));
    const isClaimed = claims || intent.attempts.some(({ ended }) => ended === undefined);
    const claiming = isClaimed ? this.#journal.write(lease, claim) : Promise.resolve();
    const failure: { error: unknown } | undefined = await claiming.then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (isLostOwner(failure?.error)) throw failure?.error;
    // Read before the balance: a charge whose receipt is written meanwhile stays a reason to doubt.
    const records = (await this.#journal.records()).filter(({ origin }) => origin === intent.origin);
    const { match, further, candidates, allRead, seen } = await session.call((client) =>
      findRun(client, intent, clock, { records, runs: session.runs, quota, signal }),
    );
    // Another API key may belong to another account; what has no marker may be any of the possible runs.
    const isSeen = hasBoundary(intent)
      ? seen.otherKey === undefined
      : intent.marker !== undefined || candidates.length === 0;
    const isAnswered = allRead && isSeen;
    if (match !== undefined) {
      const run = creationOf(match);
      await this.settleCharged(session, owned, run, 'found', further.map(creationOf));
      return { result: { verdict: 'charged', run }, intent, isAnswered };
    }
    if (failure !== undefined) throw failure.error;
    const next = { ...withObservation(claim, seen), ...(isAnswered && { looked: seen.at }) };
    // What says nothing new leaves no version.
    if (isDeepStrictEqual(next, claim)) await this.#journal.assertLatest(lease);
    else await this.#journal.write(lease, next);
    const after = stageOf(next);
    const unanswered = seen.otherKey ? 'key-replaced' : allRead ? 'candidates' : 'incomplete';
    const reason = 'why' in after ? after.why : isAnswered ? undefined : unanswered;
    const result: ReconcileResult =
      reason === undefined ? { verdict: 'not-charged' } : { verdict: 'cannot-tell', reason, candidates };
    return { result, intent: next, isAnswered };
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

/** Whether what it is waits for a look or a check. */
function isWaiting(state: SubmissionState): boolean {
  return state === 'unknown' || state === 'stopped';
}

/** Not awaited and never rejects: the result is reported at once, and the data shows up once it is read. */
export function readAgain({ runs, balance }: Session): void {
  void Promise.allSettled([runs.refresh(), balance.refresh()]);
}
