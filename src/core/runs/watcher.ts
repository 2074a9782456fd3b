import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { RETRIES, retryDelayMs } from '../base/retry.ts';
import { shared } from '../base/async.ts';
import { Lease } from '../storage/lease.ts';
import type { StateStore } from '../storage/state.ts';
import { OFFLINE_MS, pollEveryMs } from './pacing.ts';
import type { RunChange } from './runStore.ts';
import type { Session } from './session.ts';
import { LIST_TOPIC, SharedList, type Backoff } from './sharedList.ts';
import { StoredDetails } from './storedDetails.ts';

const TICK_MS = 5_000;
/** The topic by which a window asks the one that polls to do so now. */
const POLL_TOPIC = 'poll';
/** How long another window counts as in use after it asked. */
const SEEN_MS = 10 * 60_000;
/** How often a window with the focus asks, while runs are active. */
const FOCUS_MS = 5 * 60_000;
/** How often a window asks for a run that the one that polls does not know yet, and for how long. */
const MISSED_MS = 30_000;
const MISSED_FOR_MS = 10 * 60_000;
/** The balance is read again at most this often when somebody asks. */
const BALANCE_MS = 10_000;
/** How often models and balance are read again where they cannot be read, while the service answers. */
const MISSING_MS = 5 * 60_000;
/** Of so many of the newest runs the labels are read. */
const LABELED = 50;
/** More than a tick: the machine slept. */
const SLEPT_MS = 2 * 60_000;

export interface WatchOptions {
  session: Session;
  state: StateStore;
  /** The account's lock file: for `Lease` alone. */
  lockFile: string;
  /** Whether this window has the focus. */
  isFocused: () => boolean;
  /** Whether the rows are on the screen: then the details that they show are read. */
  areRowsShown: () => boolean;
  /** Whether something of the account may have been charged and is not listed yet. */
  isAwaiting: () => boolean;
  /** Adds what was submitted since the stored list was read: a window may have ended before a list named it. */
  recallSubmitted: () => Promise<void>;
  /** Gets why polling or storing failed, once for each cause in a row. */
  onError: (error: unknown) => void;
  clock?: Clock;
  /** From 0 up to 1; for the jitter. */
  random?: () => number;
}

/**
 * Keeps what this window knows of one account fresh. One window of the machine holds the lock and polls; the others read what
 * it stores, ask it to poll, and one of them takes over when it ends. Every window ticks every 5 seconds, and nothing else
 * sends by itself.
 */
export class Watcher implements Disposable {
  readonly #options: Required<WatchOptions>;
  readonly #list: SharedList;
  readonly #stored: StoredDetails;
  readonly #disposables = new DisposableStore();
  readonly #end = new AbortController();
  readonly #started: Promise<void>;
  /** While this window polls; without a lease only where nothing can be shared with other windows. */
  #polls: { lease: Lease | undefined } | undefined;
  #takingOver: Promise<boolean> | undefined;
  /** One at a time. */
  readonly #poll = shared(() => this.#pollOnce());
  readonly #readLabels = shared(() => this.#readMissingLabels());
  /** Somebody asked for a poll that could not be sent yet. */
  #isWanted = false;
  #isBalanceWanted = false;
  /** How many readings of models and balance are under way, and when the next one is due: 0 as soon as the service answers. */
  #readings = 0;
  #missingAtMs = Infinity;
  readonly #startedAtMs: number;
  #polledAtMs: number | undefined;
  #seenAtMs = -Infinity;
  #askedAtMs: number;
  #awaitedSinceMs: number | undefined;
  #backoff: Backoff | undefined;
  #reportedError = '';

  constructor(options: WatchOptions) {
    this.#options = { clock: SYSTEM_CLOCK, random: Math.random, ...options };
    const { session, state, clock, onError } = this.#options;
    const { runs, models, balance, account } = session;
    this.#startedAtMs = clock.nowMs();
    this.#askedAtMs = clock.monotonicMs();
    this.#list = new SharedList(state, session, () => clock.nowMs());
    this.#stored = new StoredDetails(runs, state, account.id, onError);
    for (const one of [
      this.#stored,
      // Where this window polls, the file has become another one.
      state.follow(LIST_TOPIC, account.id, () => void (this.#polls ? this.#store() : this.#read())),
      state.follow(POLL_TOPIC, account.id, () => this.#asked()),
      runs.onDidChange((change) => this.#runsChanged(change)),
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

  /** Reads runs, models and balance, as at the start and after the connection changed. */
  readAll(): void {
    const { models, balance } = this.#options.session;
    void this.poll();
    this.#missingAtMs = 0;
    void this.#follow([models.refresh(), balance.refresh()]);
  }

  /** Reads what is missing of what the views show, if that is due: they came to the screen, or the service answers again. */
  readMissing(): void {
    if (this.#end.signal.aborted || this.#options.session.state !== 'ready') return;
    void this.#readLists();
    void this.#readLabels();
  }

  /**
   * Polls now, or asks the window that polls, and continues while anything is active. Never rejects: errors show as the
   * session's state.
   */
  async poll(): Promise<void> {
    await this.#started;
    if (this.#polls === undefined && !(await this.#takeOver(true))) return this.#ask();
    const { session, clock } = this.#options;
    const { readAtMs = this.#startedAtMs } = session.balance;
    this.#isBalanceWanted = Math.abs(clock.nowMs() - readAtMs) > BALANCE_MS;
    // One that is under way may have begun before what is looked for.
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
    if (this.#polls === undefined) await this.#read();
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

  async #readLists(): Promise<void> {
    const { session, isFocused, clock } = this.#options;
    const { models, balance, budget } = session;
    if (this.#readings > 0 || clock.monotonicMs() < this.#missingAtMs) return;
    // A window that does not poll has nothing to spare, and reads while the user waits in it.
    const mayRead = () =>
      this.#missingAtMs === 0 || budget.takeSpare() || (this.#polls === undefined && isFocused());
    const due = [models, balance].filter(({ current }) => current === undefined && mayRead());
    if (due.length === 0) return;
    this.#missingAtMs = clock.monotonicMs() + MISSING_MS;
    await this.#follow(due.map((one) => one.readInBackground()));
  }

  async #follow(reads: readonly Promise<unknown>[]): Promise<void> {
    this.#readings++;
    for (const end of await Promise.allSettled(reads))
      if (end.status === 'rejected') this.#options.onError(end.reason);
    this.#readings--;
  }

  /** Reads the details of the newest runs whose label nobody knows, as far as the budget reaches: the list has no labels. */
  async #readMissingLabels(): Promise<void> {
    const { session, areRowsShown } = this.#options;
    const { runs, budget } = session;
    for (;;) {
      await this.#stored.idle();
      const mayRead = areRowsShown() && session.state === 'ready' && !this.#isHeld;
      const run = runs.rows
        ?.slice(0, LABELED)
        .find(
          ({ run_id: id }) => (runs.label(id) ?? runs.detail(id) ?? runs.detailFailure(id)) === undefined,
        );
      // What is submitted meanwhile can be polled often.
      const isSpare = mayRead && run !== undefined && budget.hasPlenty(1) && budget.takeSpare();
      if (!isSpare || this.#end.signal.aborted) break;
      // Why it failed is known by the run.
      await runs.loadDetail(run.run_id, { isBackground: true }).catch(() => undefined);
    }
  }

  async #tick(hasSlept: boolean): Promise<void> {
    const { session, state, clock } = this.#options;
    await state.check();
    if (session.isLocked || this.#polls?.lease?.isHeld() === false) this.#stopPolling();
    if (this.#polls === undefined && !(await this.#takeOver(true))) {
      if (clock.monotonicMs() - this.#askedAtMs > this.#askEveryMs()) await this.#ask();
      return;
    }
    if (hasSlept) await this.poll();
    else if (this.#isDue()) await this.#poll();
    // It could not be stored earlier.
    else await this.#store();
  }

  /** Becomes the window that polls, if no other one is. @param isAfterAnother whether one was until now */
  #takeOver(isAfterAnother: boolean): Promise<boolean> {
    this.#takingOver ??= this.#takeLock(isAfterAnother).finally(() => (this.#takingOver = undefined));
    return this.#takingOver;
  }

  async #takeLock(isAfterAnother: boolean): Promise<boolean> {
    const { session, state, lockFile, clock, recallSubmitted, onError } = this.#options;
    if (isAfterAnother && session.isLocked) return false;
    let lease: Lease | undefined;
    try {
      await state.open();
      // Busy is for a while: what is read is stored then.
      if (state.problem !== 'busy') await state.requireShared();
      lease = await Lease.take(lockFile, isAfterAnother ? 1 : undefined);
      if (lease === undefined) return false;
      // What was stored before this window polls: the first answer is compared to it.
      this.#backoff = (await this.#list.read(false))?.backoff;
      await recallSubmitted().catch(onError);
    } catch (error) {
      this.#report(error);
      // Without a store or locks each window polls for itself.
      if (isAfterAnother && !isUnshared(error)) {
        lease?.release();
        return false;
      }
    }
    if (this.#end.signal.aborted) {
      lease?.release();
      return false;
    }
    session.budget.open(isAfterAnother);
    this.#polls = { lease };
    if (isAfterAnother) {
      // What the window before has read is as good as a poll of this one, unless it ended before it had read anything.
      this.#polledAtMs = clock.monotonicMs();
      this.#isWanted = session.runs.rows === undefined;
    }
    return true;
  }

  #stopPolling(): void {
    if (this.#polls === undefined) return;
    this.#options.session.budget.close();
    this.#polls.lease?.release();
    this.#polls = undefined;
  }

  async #read(): Promise<void> {
    await this.#list.read(true).catch((error: unknown) => this.#report(error));
  }

  #asked(): void {
    if (this.#polls === undefined) return;
    this.#seenAtMs = this.#options.clock.monotonicMs();
    void this.poll();
  }

  /** Asks the window that polls to do so soon. */
  async #ask(): Promise<void> {
    const { session, state, clock } = this.#options;
    this.#askedAtMs = clock.monotonicMs();
    await state
      .transaction((tables) => tables.touch(POLL_TOPIC, session.account.id))
      .catch((error: unknown) => this.#report(error));
    await this.#read();
  }

  #askEveryMs(): number {
    const { session, isFocused } = this.#options;
    if (session.isLocked) return Infinity;
    const { watched } = session.runs;
    if (watched.some(({ run_id }) => this.#isMissed(run_id))) return MISSED_MS;
    if (session.state === 'offline') return OFFLINE_MS;
    return watched.length > 0 && isFocused() ? FOCUS_MS : Infinity;
  }

  #runsChanged({ added }: RunChange): void {
    this.readMissing();
    // Without rows: the sandbox was reset here.
    if (this.#polls !== undefined) void this.#store();
    else if (this.#options.session.runs.rows === undefined || added.some((id) => this.#isMissed(id)))
      void this.poll();
  }

  /** A run that was submitted or found here, and that the window that polls does not know. */
  #isMissed(runId: string): boolean {
    const { session, clock } = this.#options;
    if (this.#list.has(runId)) return false;
    const run = session.runs.watched.find(({ run_id }) => run_id === runId);
    return run !== undefined && clock.nowMs() - session.runs.changedAtMs(run) < MISSED_FOR_MS;
  }

  async #pollOnce(): Promise<void> {
    const { session, isAwaiting, clock, random } = this.#options;
    if (session.isLocked || this.#end.signal.aborted) return;
    if (this.#isHeld || !session.budget.take()) {
      this.#isWanted = true;
      return;
    }
    this.#isWanted = false;
    try {
      await session.runs.poll(session.budget);
      if ((isAwaiting() || this.#isBalanceWanted) && session.budget.take()) {
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

  /** Stores what changed beside polls, which do so at their end. */
  async #store(): Promise<void> {
    if (!this.#poll.isRunning()) await this.#storeNow();
  }

  async #storeNow(): Promise<void> {
    if (this.#polls?.lease?.isHeld() !== true || this.#end.signal.aborted) return;
    await this.#list.write(this.#backoff).catch((error: unknown) => this.#report(error));
  }

  /** Whether the service asked for nothing to be sent yet. */
  get #isHeld(): boolean {
    return this.#options.session.notBeforeMs !== undefined;
  }

  #isDue(): boolean {
    const { session, clock } = this.#options;
    if (this.#isHeld || session.budget.waitMs > 0) return false;
    if (this.#isWanted) return true;
    if (this.#polledAtMs === undefined) return false;
    // Half a tick early is nearer than half a tick late.
    return clock.monotonicMs() - this.#polledAtMs >= this.#everyMs() - TICK_MS / 2;
  }

  /** How long after the last poll the next one is due; Infinity where nothing is active. */
  #everyMs(): number {
    const { session, clock, isFocused } = this.#options;
    const backoffMs = (this.#backoff?.untilMs ?? 0) - clock.nowMs();
    // The clock may have been set back since.
    if (backoffMs > 0 && backoffMs <= RETRIES.watch.longestMs) return Infinity;
    if (this.#backoff !== undefined) return 0;
    const activeMs = pollEveryMs({
      ageMs: this.#ageMs(),
      isSeen: isFocused() || clock.monotonicMs() - this.#seenAtMs < SEEN_MS,
      isScarce: session.budget.isScarce,
    });
    // Something else than a poll found the service unreachable.
    return Math.min(session.state === 'offline' ? OFFLINE_MS : Infinity, activeMs);
  }

  /** How long ago the youngest of what is watched changed; Infinity where nothing is. */
  #ageMs(): number {
    const { session, clock, isAwaiting } = this.#options;
    const nowMs = clock.nowMs();
    this.#awaitedSinceMs = isAwaiting() ? (this.#awaitedSinceMs ?? nowMs) : undefined;
    const changedMs = session.runs.watched.map((run) => session.runs.changedAtMs(run));
    if (this.#awaitedSinceMs !== undefined) changedMs.push(this.#awaitedSinceMs);
    return Math.max(0, nowMs - changedMs.reduce((a, b) => Math.max(a, b), -Infinity));
  }

  /** Reports each cause once, not at each poll. */
  #report(error: unknown): void {
    const text = String(error);
    if (text === this.#reportedError || this.#end.signal.aborted) return;
    this.#reportedError = text;
    this.#options.onError(error);
  }
}

function isUnshared(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'state-unavailable' || code === 'lease-unavailable';
}
