import path from 'node:path';
import { sequencer, shared } from '../base/async.ts';
import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { counted } from '../base/rareCases.ts';
import { RETRIES, retryDelayMs } from '../base/retry.ts';
import { FolderWatch } from '../storage/folderWatch.ts';
import { CacheFile, EMPTY_CACHE, type Cache } from './cacheFile.ts';
import { FinalDetails } from './finalDetails.ts';
import { OFFLINE_MS, pollEveryMs } from './pacing.ts';
import type { Latest, Session } from './session.ts';

const TICK_MS = 5_000;
/** Data that was read within this time is fresh enough for a window that opens, gets the focus or wakes up. */
const FRESH_MS = 30_000;
/** The list of models rarely changes. */
const MODELS_MS = 60 * 60_000;
/** The retry interval for models and balance that could not be read while the service is reachable. */
const MISSING_MS = 5 * 60_000;
/** How many of the newest runs have their labels read. */
const LABELED = 50;
/** If a tick took longer, the machine slept. A connection state that is older isn't taken over. */
const SLEPT_MS = 2 * 60_000;
/** The reader says at least this often that it is there. After a longer silence, another window takes its place. */
const SILENT_MS = 6 * 60_000;

export interface RefreshOptions {
  session: Session;
  /** The account's cache file. */
  file: string;
  /** Whether this window has the focus. */
  isFocused: () => boolean;
  /** Whether rows are visible, so that their details are needed. */
  areRowsShown: () => boolean;
  /** Whether a submission may have been charged and its run is not listed yet. */
  isAwaiting: () => boolean;
  /** Adds runs that other windows submitted after the list was read. Returns whether there were any. */
  recallSubmitted: () => Promise<boolean>;
  /** Called with errors of reading and sharing, but not twice in a row with the same error. */
  onError: (error: unknown) => void;
  clock?: Clock;
  /** At least 0, less than 1; for jitter. */
  random?: () => number;
  /** Whether to watch the file's folder; otherwise changes are read at the next tick. */
  isWatched?: boolean;
}

/**
 * Keeps the data of one account up to date. Every five seconds, all windows read one file. The window that asked the
 * service last (the reader) asks again when it is due. Another one asks if that stays due for a tick or two.
 */
export class Refresher implements Disposable {
  readonly #options: Required<RefreshOptions>;
  readonly #file: CacheFile;
  readonly #details: FinalDetails;
  readonly #watch: FolderWatch | undefined;
  readonly #disposables = new DisposableStore();
  readonly #end = new AbortController();
  readonly #inTurn = sequencer();
  /** Overlapping calls share one request. */
  readonly #ask = shared(() => this.#askOnce());
  readonly #readLabels = shared(() => this.#readMissingLabels());
  /** The last reported errors of the service, and of the file. */
  readonly #reported = new Map<'service' | 'file', string>();
  /** The content of the file that was merged or written last. */
  #cache: Cache = EMPTY_CACHE;
  /** Whether newer data than the file has is wanted at once. */
  #isWanted = false;
  /** Until when this window lets the reader ask, by the monotonic clock. Starts over when any window asks. */
  #standby: { askedAtMs: number; untilMs: number } | undefined;
  #awaitedSinceMs: number | undefined;
  #missingAtMs = -Infinity;

  constructor(options: RefreshOptions) {
    this.#options = { clock: SYSTEM_CLOCK, random: Math.random, isWatched: true, ...options };
    const { session, file, isWatched, onError } = this.#options;
    const folder = path.dirname(file);
    this.#file = new CacheFile(file);
    this.#details = new FinalDetails(session.runs, path.join(folder, 'details.jsonl'), onError);
    const look = () => this.#readShared().then(() => this.#details.readShared());
    if (isWatched) this.#watch = this.#disposables.add(new FolderWatch(folder, '', look));
    for (const one of [
      this.#details,
      session.runs.onDidChange(() => this.readMissing()),
      session.onDidChangeState((now) => {
        if (now === 'connecting') void this.#readAgain();
        else this.readMissing();
      }),
    ])
      this.#disposables.add(one);
    void this.#start();
  }

  /** Reads the models, the balance and the labels that the visible views lack. */
  readMissing(): void {
    if (this.#end.signal.aborted || this.#options.session.state !== 'ready') return;
    this.#readModelsAndBalance();
    void this.#readLabels();
  }

  /** Asks the service now, unless any window has fresh data. Never rejects: errors show as the session's state. */
  async poll(): Promise<void> {
    const { models } = this.#options.session;
    await this.#readShared();
    if (this.#isOld(models.readAtMs, MODELS_MS)) this.#follow(models.refresh());
    this.#isWanted = !this.#isFresh();
    if (this.#isWanted) await this.#ask();
  }

  dispose(): void {
    this.#end.abort();
    this.#disposables.dispose();
  }

  /** Reads the shared file, asks if this window has the focus and the data is old, then ticks until the end. */
  async #start(): Promise<void> {
    await this.#readShared();
    await this.#recall();
    if (this.#end.signal.aborted) return;
    // VS Code opens all windows at once: only the focused one asks at once.
    this.#isWanted = !this.#isFresh();
    if (this.#options.isFocused()) await this.poll();
    await this.#ticks();
  }

  /** Reads everything after the connection changed. All windows see that at once, so only one of them hurries. */
  async #readAgain(): Promise<void> {
    const { models, balance, quota } = this.#options.session;
    // A request in progress may use the earlier connection.
    if (this.#ask.isRunning()) await this.#ask();
    this.#isWanted = true;
    if (!this.#options.isFocused() && !quota.isReader) return;
    for (const one of [models, balance]) this.#follow(one.refresh());
    await this.#ask();
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
      this.#watch?.renew();
      await this.#tick(counted('sleep', clock.nowMs() - beforeMs > SLEPT_MS)).catch(onError);
      this.readMissing();
    }
  }

  /** Reads the shared file, then asks, says that this window is the reader, or shares its own data. */
  async #tick(hasSlept: boolean): Promise<void> {
    const { session, clock, isAwaiting } = this.#options;
    await this.#readShared();
    if (session.isLocked) return;
    this.#awaitedSinceMs = isAwaiting() ? (this.#awaitedSinceMs ?? clock.nowMs()) : undefined;
    // The journal knows new submissions sooner than the list, in which a run may appear late.
    const isAnyNew = await this.#recall();
    if (hasSlept || isAnyNew) this.#isWanted = !this.#isFresh();
    if (this.#isDue()) await this.#ask();
    else if (this.#isReaderMissing()) await this.#write({ by: session.windowId, askedAtMs: clock.nowMs() });
    else await this.#save();
  }

  /** Whether this window has to say that it is the reader, while nothing has to be asked. */
  #isReaderMissing(): boolean {
    const { session, clock } = this.#options;
    const silentMs = Math.abs(clock.nowMs() - this.#cache.askedAtMs);
    return this.#everyMs() === Infinity && silentMs > SILENT_MS / (session.quota.isReader ? 2 : 1);
  }

  /** Whether this window asks now: the reader as soon as it is due; another one if it stays due for a tick or two. */
  #isDue(): boolean {
    const { session, clock, random } = this.#options;
    const { askedAtMs, failures } = this.#cache;
    const sinceMs = clock.nowMs() - askedAtMs;
    const everyMs = this.#isWanted && failures === 0 ? 0 : this.#everyMs();
    // A time in the future is old: the clock was set back. Half a tick early is closer than half a tick late.
    const isTime = sinceMs < 0 || sinceMs >= everyMs - TICK_MS / 2;
    if (!isTime || session.notBeforeMs !== undefined || session.quota.waitMs > 0) this.#standby = undefined;
    else if (session.quota.isReader) return true;
    else if (this.#standby?.askedAtMs !== askedAtMs)
      this.#standby = { askedAtMs, untilMs: clock.monotonicMs() + TICK_MS * (1 + random()) };
    return this.#standby !== undefined && clock.monotonicMs() >= this.#standby.untilMs;
  }

  /** Returns the interval from the last request to the next; Infinity if nothing is active. */
  #everyMs(): number {
    const { session } = this.#options;
    const { failures, untilMs, askedAtMs } = this.#cache;
    if (failures > 0) return Math.min(untilMs - askedAtMs, RETRIES.watch.longestMs);
    const activeMs = pollEveryMs(this.#ageMs(), session.quota.isScarce);
    // Even if nothing is active, a request may have found the service unreachable.
    return Math.min(session.state === 'offline' ? OFFLINE_MS : Infinity, activeMs);
  }

  /** Returns the time since the latest change of anything watched; Infinity if there is nothing. */
  #ageMs(): number {
    const { session, clock } = this.#options;
    const changedMs = session.runs.watched.map((run) => session.runs.changedAtMs(run));
    if (this.#awaitedSinceMs !== undefined) changedMs.push(this.#awaitedSinceMs);
    return Math.max(0, clock.nowMs() - changedMs.reduce((a, b) => Math.max(a, b), -Infinity));
  }

  /** Asks the service for the list, and for an old balance if newer data is wanted. Writes the result to the file. */
  async #askOnce(): Promise<void> {
    const { session, clock, random } = this.#options;
    const { quota, runs, balance } = session;
    if (session.isLocked || this.#end.signal.aborted || session.notBeforeMs !== undefined || !quota.take())
      return;
    const isWanted = this.#isWanted;
    // Write first, so that the other windows see that they need not ask.
    if (this.#cache.by !== session.windowId)
      await this.#write({ by: session.windowId, askedAtMs: clock.nowMs() });
    let [failures, waitMs] = [0, 0];
    try {
      await runs.poll(quota);
      this.#isWanted = false;
      const isBalanceOld = !balance.refresh.isRunning() && this.#isOld(balance.readAtMs, FRESH_MS);
      if (isWanted && isBalanceOld && quota.take()) await balance.readInBackground();
      this.#reported.delete('service');
    } catch (error) {
      failures = this.#cache.failures + 1;
      waitMs = Math.round(retryDelayMs(RETRIES.watch, failures - 1, random()) ?? 0);
      this.#report('service', error);
    }
    await this.#writeAsked(clock.nowMs(), failures, waitMs);
  }

  /** Writes that this window asked last, and the result. */
  #writeAsked(askedAtMs: number, failures = 0, waitMs = 0): Promise<void> {
    const { windowId: by, offlineSince: offlineSinceMs } = this.#options.session;
    return this.#write({ by, askedAtMs, failures, untilMs: askedAtMs + waitMs, offlineSinceMs });
  }

  /** Shares the results of this window's other requests, and the tokens that they took. */
  async #save(): Promise<void> {
    const { runs, balance, models, quota, waits } = this.#options.session;
    const known = this.#cache;
    const isAnyNewer =
      (balance.readAtMs ?? 0) > (known.balance?.readAtMs ?? 0) ||
      (models.readAtMs ?? 0) > (known.models?.readAtMs ?? 0);
    if (runs.readAtMs > known.readAtMs) await this.#writeAsked(runs.readAtMs);
    else if (isAnyNewer || quota.unshared > 0 || JSON.stringify(waits) !== JSON.stringify(known.waits))
      await this.#write({});
  }

  /** Merges what another window wrote, including its waits, then replaces the file. */
  #write(asked: Partial<Cache>): Promise<void> {
    return this.#inTurn(async () => {
      await this.#merge(false);
      if (this.#end.signal.aborted) return;
      const { session, clock } = this.#options;
      const { runs, balance, models, waits, quota } = session;
      const next: Cache = {
        ...this.#cache,
        ...asked,
        ...{ version: 1, readAtMs: runs.readAtMs, waits },
        tokens: { left: quota.share(), atMs: clock.nowMs() },
        runs: runs.save(),
        balance: balance.current && { readAtMs: balance.readAtMs ?? 0, value: balance.current },
        models: models.current && { readAtMs: models.readAtMs ?? 0, value: models.current },
      };
      this.#setCache(next);
      await this.#file.write(next).then(
        () => this.#reported.delete('file'),
        // The error has the name of the temporary file, which always differs: report only its code.
        (error: unknown) => this.#report('file', `runs-not-shared: ${(error as NodeJS.ErrnoException).code}`),
      );
    });
  }

  #readShared(): Promise<void> {
    return this.#inTurn(() => this.#merge(true));
  }

  /** Takes over what is newer in the shared file. @param isOfLiving whether the window that wrote it may still run */
  async #merge(isOfLiving: boolean): Promise<void> {
    const found = await this.#file.read();
    if (found === undefined || this.#end.signal.aborted) return;
    const { session, clock } = this.#options;
    const nowMs = clock.nowMs();
    this.#setCache(found);
    // Set the models first: the views of runs show their names.
    takeNewer(session.models, found.models, nowMs);
    if (found.runs !== undefined) session.runs.acceptSaved(found.runs, found.readAtMs);
    takeNewer(session.balance, found.balance, nowMs);
    acceptLimits(session, found, nowMs);
    if (this.#isFresh()) this.#isWanted = false;
    session.acceptShared(found, isOfLiving && Math.abs(nowMs - found.askedAtMs) < SLEPT_MS);
  }

  #setCache(cache: Cache): void {
    const { quota, windowId } = this.#options.session;
    this.#cache = cache;
    quota.isReader = cache.by === windowId;
  }

  /** Reads models and balance if they are missing, every five minutes at most. */
  #readModelsAndBalance(): void {
    const { session, clock, isFocused } = this.#options;
    const { models, balance, quota } = session;
    const isBeingRead = this.#ask.isRunning() || models.refresh.isRunning();
    if (isBeingRead || clock.monotonicMs() - this.#missingAtMs < MISSING_MS) return;
    const due = [models, balance].filter(
      ({ current }) => current === undefined && quota.takeForExtras(isFocused()),
    );
    if (due.length > 0) this.#missingAtMs = clock.monotonicMs();
    for (const one of due) this.#follow(one.readInBackground());
  }

  /** Reads the missing labels of the newest runs, within the quota. Only details have labels. */
  async #readMissingLabels(): Promise<void> {
    const { session, areRowsShown, isFocused } = this.#options;
    const { runs, quota } = session;
    await this.#details.readShared();
    for (;;) {
      const mayRead = areRowsShown() && session.state === 'ready' && session.notBeforeMs === undefined;
      const run = runs.rows
        ?.slice(0, LABELED)
        .find(
          ({ run_id: id }) => (runs.label(id) ?? runs.detail(id) ?? runs.detailFailure(id)) === undefined,
        );
      // Leave enough quota to poll a new submission often.
      const isSpare =
        mayRead && run !== undefined && quota.leavesForPolls(1) && quota.takeForExtras(isFocused());
      if (!isSpare || this.#end.signal.aborted) return;
      // The run store records why it failed.
      await runs.loadDetail(run.run_id, { isBackground: true }).catch(() => undefined);
    }
  }

  /** Shares the result of a request, or reports its error. */
  #follow(read: Promise<unknown>): void {
    read.then(() => this.#save()).catch((error: unknown) => this.#report('service', error));
  }

  async #recall(): Promise<boolean> {
    return this.#options.recallSubmitted().catch((error: unknown) => {
      this.#report('service', error);
      return false;
    });
  }

  #isFresh(): boolean {
    return !this.#isOld(this.#options.session.runs.readAtMs, FRESH_MS);
  }

  /** Whether data was read longer ago than this. A time in the future is old, too: the clock was set back. */
  #isOld(readAtMs: number | undefined, ms: number): boolean {
    const agoMs = this.#options.clock.nowMs() - (readAtMs ?? -Infinity);
    return agoMs < 0 || agoMs > ms;
  }

  /** Reports an error, unless it is the same as the last one. */
  #report(what: 'service' | 'file', error: unknown): void {
    const text = String(error);
    if (text === this.#reported.get(what) || this.#end.signal.aborted) return;
    this.#reported.set(what, text);
    this.#options.onError(error);
  }
}

/** Runs automatic checks of an account that this window doesn't show, as its reader unless another one asked lately. */
export async function asReader<T>(session: Session, file: string, work: () => Promise<T>): Promise<T> {
  const { quota, windowId } = session;
  const cacheFile = new CacheFile(file);
  const found = (await cacheFile.read()) ?? EMPTY_CACHE;
  acceptLimits(session, found, Date.now());
  const sinceMs = Date.now() - found.askedAtMs;
  quota.isReader = found.by === windowId || sinceMs < 0 || sinceMs > SILENT_MS;
  const result = await work();
  if (quota.unshared === 0) return result;
  // Another window may have written meanwhile.
  const now = (await cacheFile.read()) ?? found;
  acceptLimits(session, now, Date.now());
  const atMs = Date.now();
  const asked = quota.isReader ? { by: windowId, askedAtMs: atMs } : {};
  const limits = { waits: session.waits, tokens: { left: quota.share(), atMs } };
  await cacheFile.write({ ...now, ...asked, ...limits }).catch(() => undefined);
  return result;
}

function acceptLimits(session: Session, { tokens, waits }: Cache, nowMs: number): void {
  if (tokens.atMs > 0) session.quota.adopt(tokens.left, nowMs - tokens.atMs);
  session.acceptShared({ waits }, false);
}

/** Takes over what another window read, if it is newer, or if this window's time is in the future. */
function takeNewer<T>(
  own: Latest<T>,
  found: { readAtMs: number; value: T } | undefined,
  nowMs: number,
): void {
  const { readAtMs = 0 } = own;
  if (found !== undefined && (found.readAtMs > readAtMs || readAtMs > nowMs))
    own.set(found.value, found.readAtMs);
}
