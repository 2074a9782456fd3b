import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { RETRIES, retryDelayMs } from '../base/retry.ts';
import { shared } from '../base/async.ts';
import { Lease } from '../storage/lease.ts';
import type { StateStore } from '../storage/state.ts';
import { OFFLINE_MS, pollEveryMs } from './pacing.ts';
import type { Session } from './session.ts';
import { LIST_TOPIC, StoredRuns, type Backoff } from './storedRuns.ts';
import { StoredDetails } from './storedDetails.ts';

const TICK_MS = 5_000;
/** The minimum interval between balance reads on request. */
const BALANCE_MS = 10_000;
/** The retry interval for models and balance that could not be read while the service is reachable. */
const MISSING_MS = 5 * 60_000;
/** How many of the newest runs have their labels read. */
const LABELED = 50;
/** A tick that took longer than this means that the machine slept. */
const SLEPT_MS = 2 * 60_000;

export interface WatchOptions {
  session: Session;
  state: StateStore;
  /** The account's lock file, used by `Lease` only. */
  lockFile: string;
  /** Whether this window has the focus. */
  isFocused: () => boolean;
  /** Whether rows are visible, so that their details are needed. */
  areRowsShown: () => boolean;
  /** Whether a submission may have been charged and is not listed yet. */
  isAwaiting: () => boolean;
  /** Adds submissions of other windows that are newer than the list. Returns whether there were any. */
  recallSubmitted: () => Promise<boolean>;
  /** Called with errors of polling or storing, but not twice in a row with the same cause. */
  onError: (error: unknown) => void;
  clock?: Clock;
  /** At least 0, less than 1; for jitter. */
  random?: () => number;
}

/**
 * Keeps the data of one account up to date. One window on this machine holds the account's lock and polls;
 * the others read the data that it stores. When it closes, another one takes over. The only timer is a tick
 * every 5 seconds, in every window.
 */
export class Watcher implements Disposable {
  readonly #options: Required<WatchOptions>;
  readonly #list: StoredRuns;
  readonly #stored: StoredDetails;
  readonly #disposables = new DisposableStore();
  readonly #end = new AbortController();
  readonly #started: Promise<void>;
  /** Set while this window polls; without a lease only where windows can't share anything. */
  #polls: { lease: Lease | undefined } | undefined;
  #takingOver: Promise<boolean> | undefined;
  /** Overlapping calls share one poll. */
  readonly #poll = shared(() => this.#pollOnce());
  readonly #readLabels = shared(() => this.#readMissingLabels());
  /** A poll was requested but could not be sent yet. */
  #isWanted = false;
  #isBalanceWanted = false;
  /** Reads of models and balance in progress, and when to retry: 0 means as soon as the service answers. */
  #readsInProgress = 0;
  #nextReadAtMs = Infinity;
  readonly #startedAtMs: number;
  #polledAtMs: number | undefined;
  #awaitedSinceMs: number | undefined;
  #backoff: Backoff | undefined;
  #reportedError = '';

  constructor(options: WatchOptions) {
    this.#options = { clock: SYSTEM_CLOCK, random: Math.random, ...options };
    const { session, state, clock, onError } = this.#options;
    const { runs, models, balance, account } = session;
    this.#startedAtMs = clock.nowMs();
    this.#list = new StoredRuns(state, session, () => clock.nowMs());
    this.#stored = new StoredDetails(runs, state, account.id, onError);
    for (const one of [
      this.#stored,
      // If this window polls, another one shared a wait, or the file was replaced.
      state.follow(LIST_TOPIC, account.id, () => void (this.#polls ? this.#store() : this.#readStored())),
      runs.onDidChange(() => this.#runsChanged()),
      models.onDidChange(() => void this.#store()),
      balance.onDidChange(() => void this.#store()),
      session.onDidChangeState((now) => {
        void this.#store();
        if (now === 'connecting') this.readAll();
        else this.readMissing();
      }),
    ])
      this.#disposables.add(one);
    this.#started = this.#start();
  }

  /** Reads runs, models, and balance, at the start and after the connection changed. */
  readAll(): void {
    const { models, balance } = this.#options.session;
    void this.poll();
    this.#nextReadAtMs = 0;
    void this.#follow([models.refresh(), balance.refresh()]);
  }

  /** Reads what visible views lack, if due: they became visible, or the service is reachable again. */
  readMissing(): void {
    if (this.#end.signal.aborted || this.#options.session.state !== 'ready') return;
    void this.#readModelsAndBalance();
    void this.#readLabels();
  }

  /**
   * Polls now if no other window does, else reads what that one stored. Never rejects: errors show as the
   * session's state.
   */
  async poll(): Promise<void> {
    await this.#started;
    if (this.#polls === undefined && !(await this.#takeOver(true))) return this.#readStored();
    const { session, clock } = this.#options;
    const { readAtMs = this.#startedAtMs } = session.balance;
    this.#isBalanceWanted = Math.abs(clock.nowMs() - readAtMs) > BALANCE_MS;
    // A poll in progress may have started before the change that the caller expects.
    this.#isWanted = true;
    return this.#poll();
  }

  dispose(): void {
    this.#end.abort();
    this.#disposables.dispose();
    this.#stopPolling();
  }

  async #start(): Promise<void> {
    await this.#takeOver(false);
    if (this.#polls === undefined) await this.#readStored();
    void this.#ticks();
  }

  async #ticks(): Promise<void> {
    const { clock, onError } = this.#options;
    for (;;) {
      const beforeMs = clock.nowMs();
      try {
        await clock.sleep(TICK_MS, this.#end.signal);
      } catch {
        return;
      }
      this.readMissing();
      await this.#tick(clock.nowMs() - beforeMs > SLEPT_MS).catch(onError);
    }
  }

  async #readModelsAndBalance(): Promise<void> {
    const { session, isFocused, clock } = this.#options;
    const { models, balance, quota } = session;
    if (this.#readsInProgress > 0 || clock.monotonicMs() < this.#nextReadAtMs) return;
    // A window that doesn't poll has no quota, so it reads only while it has the focus.
    const mayRead = () =>
      this.#nextReadAtMs === 0 || quota.takeForExtras() || (this.#polls === undefined && isFocused());
    const due = [models, balance].filter(({ current }) => current === undefined && mayRead());
    if (due.length === 0) return;
    this.#nextReadAtMs = clock.monotonicMs() + MISSING_MS;
    await this.#follow(due.map((one) => one.readInBackground()));
  }

  async #follow(reads: readonly Promise<unknown>[]): Promise<void> {
    this.#readsInProgress++;
    for (const end of await Promise.allSettled(reads))
      if (end.status === 'rejected') this.#options.onError(end.reason);
    this.#readsInProgress--;
  }

  /** Reads missing labels of the newest runs from their details (the list has none), within the quota. */
  async #readMissingLabels(): Promise<void> {
    const { session, areRowsShown } = this.#options;
    const { runs, quota } = session;
    for (;;) {
      await this.#stored.idle();
      const mayRead = areRowsShown() && session.state === 'ready' && !this.#mustWait;
      const run = runs.rows
        ?.slice(0, LABELED)
        .find(
          ({ run_id: id }) => (runs.label(id) ?? runs.detail(id) ?? runs.detailFailure(id)) === undefined,
        );
      // Leave enough quota to poll a new submission often.
      const isSpare = mayRead && run !== undefined && quota.leavesForPolls(1) && quota.takeForExtras();
      if (!isSpare || this.#end.signal.aborted) break;
      // The run store records why it failed.
      await runs.loadDetail(run.run_id, { isBackground: true }).catch(() => undefined);
    }
  }

  async #tick(hasSlept: boolean): Promise<void> {
    const { session, state, clock, isAwaiting } = this.#options;
    await state.check();
    if (session.isLocked || this.#polls?.lease?.isHeld() === false) this.#stopPolling();
    if (this.#polls === undefined && !(await this.#takeOver(true))) {
      if (session.waits !== undefined) await this.#store();
      // This window's own request failed. What the polling window stored may say that it answers again.
      if (clock.nowMs() - (session.offlineSince ?? Infinity) > OFFLINE_MS) await this.#readStored();
      return;
    }
    this.#awaitedSinceMs = isAwaiting() ? (this.#awaitedSinceMs ?? clock.nowMs()) : undefined;
    // The journal knows new submissions sooner than the list, in which a run may appear late.
    const isAnyNew = await this.#recall();
    if (hasSlept || isAnyNew) await this.poll();
    else if (this.#isDue()) await this.#poll();
    // Retry what could not be stored earlier.
    else await this.#store();
  }

  /**
   * Starts polling if no other window does.
   * @param isAfterAnother whether another window polled until now
   */
  #takeOver(isAfterAnother: boolean): Promise<boolean> {
    this.#takingOver ??= this.#takeLock(isAfterAnother).finally(() => (this.#takingOver = undefined));
    return this.#takingOver;
  }

  async #takeLock(isAfterAnother: boolean): Promise<boolean> {
    const { session, state, lockFile, clock } = this.#options;
    if (isAfterAnother && session.isLocked) return false;
    let lease: Lease | undefined;
    let isAnyNew = false;
    try {
      await state.open();
      // A busy store is temporary: the data is stored later.
      if (state.problem !== 'busy') await state.requireShared();
      lease = await Lease.take(lockFile, isAfterAnother ? 1 : undefined);
      if (lease === undefined) return false;
      // Read the stored list before polling, so that the first response is compared to it.
      this.#backoff = (await this.#list.read(false))?.backoff;
      isAnyNew = await this.#recall();
    } catch (error) {
      this.#report(error);
      // Without a store or locks, each window polls for itself.
      if (isAfterAnother && !isUnshared(error)) {
        lease?.release();
        return false;
      }
    }
    if (this.#end.signal.aborted) {
      lease?.release();
      return false;
    }
    session.quota.open(isAfterAnother);
    this.#polls = { lease };
    if (isAfterAnother) {
      // The previous window's last read counts as a poll, unless it closed before reading anything.
      this.#polledAtMs = clock.monotonicMs();
      this.#isWanted = isAnyNew || session.runs.rows === undefined;
    }
    return true;
  }

  async #recall(): Promise<boolean> {
    try {
      return await this.#options.recallSubmitted();
    } catch (error) {
      this.#report(error);
      return false;
    }
  }

  #stopPolling(): void {
    if (this.#polls === undefined) return;
    this.#options.session.quota.close();
    this.#polls.lease?.release();
    this.#polls = undefined;
  }

  async #readStored(): Promise<void> {
    await this.#list.read(true).catch((error: unknown) => this.#report(error));
  }

  #runsChanged(): void {
    this.readMissing();
    if (this.#polls !== undefined) void this.#store();
  }

  async #pollOnce(): Promise<void> {
    const { session, clock, random } = this.#options;
    if (session.isLocked || this.#end.signal.aborted) return;
    if (this.#mustWait || !session.quota.take()) {
      this.#isWanted = true;
      return;
    }
    this.#isWanted = false;
    try {
      await session.runs.poll(session.quota);
      if (this.#isBalanceWanted && session.quota.take()) {
        await session.balance.readInBackground();
        this.#isBalanceWanted = false;
      }
      this.#backoff = undefined;
      this.#reportedError = '';
    } catch (error) {
      const failures = (this.#backoff?.failures ?? 0) + 1;
      const waitMs = retryDelayMs(RETRIES.watch, failures - 1, random()) ?? 0;
      this.#backoff = { failures, untilMs: clock.nowMs() + Math.round(waitMs) };
      this.#report(error);
    }
    this.#polledAtMs = clock.monotonicMs();
    await this.#storeNow();
  }

  /** Stores changes between polls; a poll stores its own at the end. */
  async #store(): Promise<void> {
    if (!this.#poll.isRunning()) await this.#storeNow();
  }

  async #storeNow(): Promise<void> {
    if (this.#end.signal.aborted || (this.#polls && !this.#polls.lease?.isHeld())) return;
    await this.#list.write(this.#backoff, !this.#polls).catch((error: unknown) => this.#report(error));
  }

  /** Whether the service requested that nothing be sent yet. */
  get #mustWait(): boolean {
    return this.#options.session.notBeforeMs !== undefined;
  }

  #isDue(): boolean {
    const { session, clock } = this.#options;
    if (this.#mustWait || session.quota.waitMs > 0) return false;
    if (this.#isWanted) return true;
    if (this.#polledAtMs === undefined) return false;
    // Polling half a tick early is closer to the schedule than half a tick late.
    return clock.monotonicMs() - this.#polledAtMs >= this.#pollDelayMs() - TICK_MS / 2;
  }

  /** Returns the interval from the last poll to the next; Infinity during a backoff or if nothing is active. */
  #pollDelayMs(): number {
    const { session, clock } = this.#options;
    const backoffMs = (this.#backoff?.untilMs ?? 0) - clock.nowMs();
    // Longer than the longest backoff: the clock was set back, so poll now.
    if (backoffMs > 0 && backoffMs <= RETRIES.watch.longestMs) return Infinity;
    if (this.#backoff !== undefined) return 0;
    const activeMs = pollEveryMs(this.#ageMs(), session.quota.isScarce);
    // A request other than a poll may have found the service unreachable.
    return Math.min(session.state === 'offline' ? OFFLINE_MS : Infinity, activeMs);
  }

  /** Returns the time since the latest change of anything watched; Infinity if there is nothing. */
  #ageMs(): number {
    const { session, clock } = this.#options;
    const changedMs = session.runs.watched.map((run) => session.runs.changedAtMs(run));
    if (this.#awaitedSinceMs !== undefined) changedMs.push(this.#awaitedSinceMs);
    return Math.max(0, clock.nowMs() - changedMs.reduce((a, b) => Math.max(a, b), -Infinity));
  }

  /** Reports a cause only once in a row, not at every poll. */
  #report(error: unknown): void {
    const text = String(error);
    if (text === this.#reportedError || this.#end.signal.aborted) return;
    this.#reportedError = text;
    this.#options.onError(error);
  }
}

function isUnshared(error: unknown): boolean {
  return ['state-unavailable', 'lease-unavailable'].includes((error as { code?: string }).code ?? '');
}
