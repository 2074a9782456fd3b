import { CancelledError } from '../base/errors.ts';
import { RETRIES, retryDelayMs } from '../base/retry.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { FolderWatch } from '../storage/folderWatch.ts';
import type { Lease } from '../storage/lease.ts';
import { LookMark } from './lookMark.ts';
import { nextLookMs, OFFLINE_MS } from './pace.ts';
import type { SharedList } from './sharedList.ts';
import type { WatchOptions } from './watchOptions.ts';

/** How long another window counts as looked at after it asked. */
const SEEN_MS = 10 * 60_000;
/** How soon is looked again where somebody asked while a look was under way. */
const AGAIN_MS = 5_000;
/** Whatever is planned: a fault must not become a storm. */
const SOONEST_MS = 50;
/** The balance is read again at most this often, when somebody looks. */
const BALANCE_MS = 10_000;
/** Time that passed between two beats though none of it was waited for: the machine slept. */
const SLEPT_MS = 2 * 60_000;

/** The one window that looks for all: it reads the list as often as needed and the budget allows, and tells the others. */
export class WatchOwner implements Disposable {
  readonly #options: WatchOptions;
  readonly #lease: Lease | undefined;
  readonly #shared: SharedList;
  readonly #mark: LookMark;
  readonly #marks: FolderWatch;
  readonly #disposables = new DisposableStore();
  #plan = new AbortController();
  #looking: Promise<void> | undefined;
  #isAskedAgain = false;
  /** Another window waits to hear, also that nothing is new. */
  #isOtherWaiting = false;
  #isBalanceDue = false;
  #balanceReadAtMs: number;
  #lookedAtMs: number | undefined;
  #seenAtMs = -Infinity;
  #awaitedSinceMs: number | undefined;
  #failures = 0;
  #backoffMs = 0;
  #toldError = '';
  #beatAtMs: number;

  /**
   * @param lease undefined where the file system does not lock: then each window looks for itself, and tells nobody
   * @param isAfterAnother whether another window looked until now
   */
  constructor(options: WatchOptions, shared: SharedList, lease: Lease | undefined, isAfterAnother: boolean) {
    this.#options = options;
    this.#lease = lease;
    this.#shared = shared;
    const { session, folder, clock } = options;
    this.#beatAtMs = clock.nowMs();
    this.#disposables.add(session.budget.open(isAfterAnother));
    this.#balanceReadAtMs = clock.monotonicMs();
    this.#disposables.add(session.balance.onDidChange(() => (this.#balanceReadAtMs = clock.monotonicMs())));
    this.#mark = new LookMark(folder.look);
    this.#marks = this.#disposables.add(new FolderWatch(folder.path, 'look', () => this.#asked()));
    for (const { onDidChange } of [session.runs, session.balance, session.models])
      this.#disposables.add(onDidChange(() => this.#changed()));
    this.#disposables.add(session.onDidChangeState(() => this.#changed()));
    // What the one before has read is as good as a look of this one.
    if (isAfterAnother) this.#lookedAtMs = clock.monotonicMs();
    // It may have ended before it had read anything.
    this.#isAskedAgain = isAfterAnother && session.runs.rows === undefined;
    if (isAfterAnother) this.#planNext();
  }

  /** Looks now, as far as the service and the budget allow, and goes on as long as something is watched. Never rejects. */
  look(): Promise<void> {
    this.#isBalanceDue = this.#options.clock.monotonicMs() - this.#balanceReadAtMs > BALANCE_MS;
    if (this.#looking === undefined) return this.#begin();
    this.#isAskedAgain = true;
    return this.#looking;
  }

  /** To be called now and then. @returns whether this window may go on */
  beat(): boolean {
    const { session, clock } = this.#options;
    const beforeMs = this.#beatAtMs;
    this.#beatAtMs = clock.nowMs();
    if (session.isLocked || this.#lease?.isHeld() === false) return false;
    this.#marks.renew();
    if (this.#beatAtMs - beforeMs > SLEPT_MS) void this.look();
    else if (this.#mark.wasSet()) void this.#lookForOther();
    else if (this.#looking === undefined) this.#planNext();
    return true;
  }

  dispose(): void {
    this.#plan.abort();
    this.#disposables.dispose();
    this.#lease?.release();
  }

  async #asked(): Promise<void> {
    if (this.#mark.wasSet()) await this.#lookForOther();
  }

  #lookForOther(): Promise<void> {
    this.#seenAtMs = this.#options.clock.monotonicMs();
    this.#isOtherWaiting = true;
    return this.look();
  }

  #changed(): void {
    // A look tells at its end.
    if (this.#looking !== undefined) return;
    void this.#tell(false);
    this.#planNext();
  }

  #begin(): Promise<void> {
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
      this.#planNext();
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { session, isAwaiting, clock } = this.#options;
    this.#plan.abort();
    if (this.#disposables.disposed || session.isLocked) return;
    // What was asked for waits with it: the plan looks when it may.
    if (this.#heldMs > 0 || !session.budget.take()) {
      this.#isAskedAgain = true;
      this.#lookedAtMs ??= clock.monotonicMs();
      return;
    }
    this.#isAskedAgain = false;
    try {
      await session.runs.poll(session.budget);
      if (isAwaiting() || this.#isBalanceDue) await this.#readBalance();
      this.#failures = 0;
      this.#toldError = '';
    } catch (error) {
      this.#backoffMs = retryDelayMs(RETRIES.watch, this.#failures++, this.#options.random()) ?? 0;
      this.#report(error);
    }
    this.#lookedAtMs = clock.monotonicMs();
    const isWaitedFor = this.#isOtherWaiting;
    this.#isOtherWaiting = false;
    await this.#tell(isWaitedFor);
  }

  /** @throws ApiError, KeyMissingError */
  async #readBalance(): Promise<void> {
    const { session } = this.#options;
    if (!session.budget.take()) return;
    const { balance } = session;
    const before = balance.current;
    const read = await session.call((client) => client.getBalance({ isBackground: true }));
    this.#isBalanceDue = false;
    // What a submission told meanwhile is newer than this answer may be.
    if (balance.current === before) balance.set(read);
  }

  async #tell(isWaitedFor: boolean): Promise<void> {
    if (this.#lease?.isHeld() !== true || this.#disposables.disposed) return;
    try {
      await this.#shared.write(isWaitedFor);
    } catch (error) {
      this.#report(error);
    }
  }

  /** When nothing may be sent yet, how long. */
  get #heldMs(): number {
    const { session, clock } = this.#options;
    return Math.max(0, (session.notBeforeMs ?? 0) - clock.nowMs());
  }

  /** Plans the next look, counted from the end of the last one. */
  #planNext(): void {
    this.#plan.abort();
    const { session, clock } = this.#options;
    if (this.#disposables.disposed || session.isLocked || this.#lookedAtMs === undefined) return;
    const everyMs = this.#everyMs();
    if (everyMs === undefined) return;
    const dueMs = this.#lookedAtMs + everyMs - clock.monotonicMs();
    void this.#lookIn(Math.max(SOONEST_MS, dueMs, this.#heldMs, session.budget.waitMs));
  }

  #everyMs(): number | undefined {
    const { session, clock, isFocused } = this.#options;
    if (this.#failures > 0) return this.#backoffMs;
    const activeMs = nextLookMs({
      ageMs: this.#ageMs(),
      isSeen: isFocused() || clock.monotonicMs() - this.#seenAtMs < SEEN_MS,
      isScarce: session.budget.isScarce,
    });
    // Something else than a look found the service out of reach.
    const paceMs = session.state === 'offline' ? Math.min(OFFLINE_MS, activeMs ?? OFFLINE_MS) : activeMs;
    return this.#isAskedAgain ? Math.min(AGAIN_MS, paceMs ?? AGAIN_MS) : paceMs;
  }

  #ageMs(): number | undefined {
    const { session, clock, isAwaiting } = this.#options;
    const nowMs = clock.nowMs();
    const changedMs = session.runs.watched.map((run) => session.runs.changedAtMs(run));
    this.#awaitedSinceMs = isAwaiting() ? (this.#awaitedSinceMs ?? nowMs) : undefined;
    if (this.#awaitedSinceMs !== undefined) changedMs.push(this.#awaitedSinceMs);
    return changedMs.length === 0
      ? undefined
      : Math.max(0, nowMs - changedMs.reduce((a, b) => Math.max(a, b)));
  }

  async #lookIn(ms: number): Promise<void> {
    const plan = new AbortController();
    this.#plan = plan;
    try {
      await this.#options.clock.sleep(ms, plan.signal);
    } catch (error) {
      if (error instanceof CancelledError) return;
      throw error;
    }
    if (!plan.signal.aborted && this.#looking === undefined) await this.#begin();
  }

  /** Tells each cause once, not at each look. */
  #report(error: unknown): void {
    const text = String(error);
    if (text === this.#toldError) return;
    this.#toldError = text;
    this.#options.onError(error);
  }
}
