import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { throwIfCancelled, unlessCancelled } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import { isStill } from '../base/fileStamp.ts';
import type { DatasetChecker } from './checker.ts';
import { CheckError, type Report } from './report.ts';

/** What is known of one file: a check under way, its report, or why there is none. */
export interface CheckState {
  path: string;
  /** From 0 to 1 while a check is under way, else undefined. */
  progress: number | undefined;
  /** The last report, which a check under way may be about to replace. */
  report: Report | undefined;
}

type ProgressListener = (fraction: number) => void;

/** A check under way, which several may wait for; it is stopped when the last of them has gone. */
interface Running {
  report: Promise<Report>;
  stop: AbortController;
  waiting: Set<ProgressListener>;
}

/** Owns the last report of each file that was checked in this window, and joins checks of the same bytes. */
export class Reports implements Disposable {
  readonly #checker: Pick<DatasetChecker, 'check'>;
  readonly #states = new Map<string, CheckState>();
  readonly #running = new Map<string, Running>();
  /** Open files that the user asked to check or submit, and reports of such: these stay when the file is closed. */
  readonly #asked = new Set<string>();
  readonly #askedFor = new WeakSet<Report>();
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new Emitter<CheckState>());
  /** Fires when a check begins, progresses or ends, and when a report is dropped. */
  readonly onDidChange = this.#changed.event;
  readonly #checked = this.#store.add(new Emitter<void>());
  /** Fires when a check that the user asked for has ended. */
  readonly onDidCheck = this.#checked.event;

  constructor(checker: Pick<DatasetChecker, 'check'>) {
    this.#checker = checker;
  }

  /** What is known of a file. */
  get(path: string): CheckState | undefined {
    return this.#states.get(path);
  }

  /**
   * The report of a file as it is now: the last one where size and times are still the same, else that of a check.
   * @throws CheckError, CancelledError
   */
  async fresh(path: string, signal?: AbortSignal, onProgress?: ProgressListener): Promise<Report> {
    const known = this.get(path)?.report;
    return known !== undefined && (await isStill(path, known))
      ? known
      : this.#check(path, signal, onProgress);
  }

  /**
   * Checks a file as it is now, from its first byte to its last, because the user asked for it: `release` does not drop the report.
   * @throws CheckError, CancelledError
   */
  async check(path: string, signal?: AbortSignal, onProgress?: ProgressListener): Promise<Report> {
    this.ask(path);
    const report = await this.#check(path, signal, onProgress);
    this.#checked.fire();
    return report;
  }

  /** Notes that the user asked to check or submit a file. */
  ask(path: string): void {
    this.#asked.add(path);
    const state = this.get(path);
    if (state?.report !== undefined) this.#set(state);
  }

  /** Whether the user asked to check or submit a file since it was opened, or asked for what is known of it. */
  isAskedFor(path: string): boolean {
    const report = this.get(path)?.report;
    return this.#asked.has(path) || (report !== undefined && this.#askedFor.has(report));
  }

  /** Drops the report of a file that is no longer open, unless the user asked for its check. */
  release(path: string): void {
    if (!this.isAskedFor(path)) this.drop(path);
    if (!this.#running.has(path)) this.#asked.delete(path);
  }

  /** Forgets a file whose last report is of other bytes than it has now. */
  async dropIfOld(path: string): Promise<void> {
    const report = this.get(path)?.report;
    if (report !== undefined && !(await isStill(path, report)) && this.get(path)?.report === report)
      this.drop(path);
  }

  /** Forgets a file, as when it is gone. */
  drop(path: string): void {
    if (this.#states.delete(path)) this.#changed.fire({ path, progress: undefined, report: undefined });
  }

  dispose(): void {
    this.#store.dispose();
    for (const { stop } of this.#running.values()) stop.abort();
    this.#states.clear();
  }

  /** Joins a check that is under way, if the file stayed as it was. */
  async #check(path: string, signal?: AbortSignal, onProgress?: ProgressListener): Promise<Report> {
    throwIfCancelled(signal);
    const running = this.#running.get(path);
    if (running !== undefined) {
      const joined = await this.#wait(path, running, signal, onProgress).catch((error: unknown) => {
        if (error instanceof CheckError && error.code === 'changing') return undefined;
        throw error;
      });
      if (joined !== undefined && (await isStill(path, joined))) return joined;
      throwIfCancelled(signal);
    }
    return this.#wait(path, this.#running.get(path) ?? this.#start(path), signal, onProgress);
  }

  #start(path: string): Running {
    const stop = new AbortController();
    const waiting = new Set<ProgressListener>();
    const isCurrent = () => this.#running.get(path) === running;
    const onProgress = (fraction: number) => {
      if (!isCurrent()) return;
      this.#set({ path, progress: fraction, report: this.get(path)?.report });
      for (const listener of [...waiting]) listener(fraction);
    };
    const end = (report: Report | undefined) => {
      if (isCurrent()) this.#end(path, report);
    };
    this.#set({ path, progress: 0, report: this.get(path)?.report });
    const check = Promise.resolve().then(() =>
      this.#checker.check(path, { signal: stop.signal, onProgress }),
    );
    const running: Running = { report: check, stop, waiting };
    // What was known before is not true of a file that cannot be checked now. Callers that wait get the error.
    check.then(end, () => end(undefined));
    this.#running.set(path, running);
    return running;
  }

  /** @param report undefined if it is not known, or no longer true */
  #end(path: string, report: Report | undefined): void {
    this.#running.delete(path);
    this.#set({ path, progress: undefined, report });
  }

  /** @throws CancelledError at once when the signal is aborted, whatever the check does */
  async #wait(
    path: string,
    running: Running,
    signal: AbortSignal | undefined,
    onProgress: ProgressListener | undefined,
  ): Promise<Report> {
    const listener: ProgressListener = (fraction) => onProgress?.(fraction);
    running.waiting.add(listener);
    try {
      return await unlessCancelled(running.report, signal);
    } finally {
      running.waiting.delete(listener);
      if (running.waiting.size === 0 && this.#running.get(path) === running) {
        this.#end(path, this.get(path)?.report);
        running.stop.abort();
      }
    }
  }

  #set(state: CheckState): void {
    if (this.#store.disposed) return;
    const isNothing = state.progress === undefined && state.report === undefined;
    if (state.report !== undefined && this.#asked.has(state.path)) this.#askedFor.add(state.report);
    if (isNothing) this.#states.delete(state.path);
    else this.#states.set(state.path, state);
    this.#changed.fire(state);
  }
}
