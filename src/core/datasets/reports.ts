import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { throwIfCancelled, unlessCancelled } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import { isStill, type FileStamp } from '../base/fileStamp.ts';
import type { CheckOptions } from './checker.ts';
import { CheckError, type Report } from './report.ts';

/** The state of one file: its running check, its last report, or both. */
export interface CheckState<R = Report> {
  path: string;
  /** From 0 to 1 while a check is running, otherwise undefined. */
  progress: number | undefined;
  /** The last report. A running check may replace it. */
  report: R | undefined;
}

type ProgressListener = (fraction: number) => void;

/** A running check. Several callers may wait for it; it is canceled when the last one stops waiting. */
interface Running<R> {
  report: Promise<R>;
  stop: AbortController;
  waiting: Set<ProgressListener>;
}

/** Checks a file, or reads what it says. */
interface Checker<R> {
  check(path: string, options: CheckOptions): Promise<R>;
}

/** Owns the last report (or reading) of each file in this window. Callers that want the same version share one check. */
export class Reports<R extends FileStamp = Report> implements Disposable {
  readonly #checker: Checker<R>;
  readonly #states = new Map<string, CheckState<R>>();
  readonly #running = new Map<string, Running<R>>();
  /** Files that the user asked to check or submit; their reports survive closing the file. */
  readonly #requested = new Set<string>();
  readonly #requestedReports = new WeakSet<R>();
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new Emitter<CheckState<R>>());
  /** Fires when a check starts, progresses, or ends, and when a report is asked for or dropped. */
  readonly onDidChange = this.#changed.event;
  readonly #checked = this.#store.add(new Emitter<void>());
  /** Fires when a check that the user asked for has ended with a report. */
  readonly onDidCheck = this.#checked.event;

  constructor(checker: Checker<R>) {
    this.#checker = checker;
  }

  get(path: string): CheckState<R> | undefined {
    return this.#states.get(path);
  }

  /** Returns the last report if size and times are unchanged, or a new one. @throws CheckError, CancelledError */
  async currentReport(path: string, signal?: AbortSignal, onProgress?: ProgressListener): Promise<R> {
    const known = this.get(path)?.report;
    return known !== undefined && (await isStill(path, known))
      ? known
      : this.#check(path, signal, onProgress);
  }

  /** Checks a file at the user's request: `release` keeps its report. @throws CheckError, CancelledError */
  async check(path: string, signal?: AbortSignal, onProgress?: ProgressListener): Promise<R> {
    this.markRequested(path);
    const report = await this.#check(path, signal, onProgress);
    this.#checked.fire();
    return report;
  }

  /** Records that the user asked to check or submit a file. */
  markRequested(path: string): void {
    this.#requested.add(path);
    const state = this.get(path);
    if (state?.report !== undefined) this.#set(state);
  }

  /** Whether the user has asked to check or submit a file, or for its report, since it was opened. */
  isAskedFor(path: string): boolean {
    const report = this.get(path)?.report;
    return this.#requested.has(path) || (report !== undefined && this.#requestedReports.has(report));
  }

  /** Drops the report of a closed file unless the user asked for its check. */
  release(path: string): void {
    if (!this.isAskedFor(path)) this.drop(path);
    if (!this.#running.has(path)) this.#requested.delete(path);
  }

  /** Drops the report of a file that has changed. */
  async dropIfOld(path: string): Promise<void> {
    const report = this.get(path)?.report;
    if (report !== undefined && !(await isStill(path, report)) && this.get(path)?.report === report)
      this.drop(path);
  }

  /** Drops the state of a file, for example after it was deleted. */
  drop(path: string): void {
    if (this.#states.delete(path)) this.#changed.fire({ path, progress: undefined, report: undefined });
  }

  dispose(): void {
    this.#store.dispose();
    for (const { stop } of this.#running.values()) stop.abort();
    this.#states.clear();
  }

  /** Joins a running check if the file is unchanged. */
  async #check(path: string, signal?: AbortSignal, onProgress?: ProgressListener): Promise<R> {
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

  #start(path: string): Running<R> {
    const stop = new AbortController();
    const waiting = new Set<ProgressListener>();
    const isCurrent = () => this.#running.get(path) === running;
    const onProgress = (fraction: number) => {
      if (!isCurrent()) return;
      this.#set({ path, progress: fraction, report: this.get(path)?.report });
      for (const listener of [...waiting]) listener(fraction);
    };
    const end = (report: R | undefined) => {
      if (isCurrent()) this.#end(path, report);
    };
    this.#set({ path, progress: 0, report: this.get(path)?.report });
    const check = Promise.resolve().then(() =>
      this.#checker.check(path, { signal: stop.signal, onProgress }),
    );
    const running: Running<R> = { report: check, stop, waiting };
    // A file that can't be checked now invalidates its earlier report. Waiting callers get the error.
    check.then(end, () => end(undefined));
    this.#running.set(path, running);
    return running;
  }

  /** @param report undefined if there is none or it is outdated */
  #end(path: string, report: R | undefined): void {
    this.#running.delete(path);
    this.#set({ path, progress: undefined, report });
  }

  /** @throws CancelledError immediately when the signal is aborted, even if the check continues */
  async #wait(
    path: string,
    running: Running<R>,
    signal: AbortSignal | undefined,
    onProgress: ProgressListener | undefined,
  ): Promise<R> {
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

  #set(state: CheckState<R>): void {
    if (this.#store.disposed) return;
    const isNothing = state.progress === undefined && state.report === undefined;
    if (state.report !== undefined && this.#requested.has(state.path))
      this.#requestedReports.add(state.report);
    if (isNothing) this.#states.delete(state.path);
    else this.#states.set(state.path, state);
    this.#changed.fire(state);
  }
}
