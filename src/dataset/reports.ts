import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { DatasetChecker } from './checker.ts';
import type { Report } from './report.ts';

/** What is known of one file: a check under way, its report, or why there is none. */
export interface CheckState {
  path: string;
  /** From 0 to 1 while a check is under way, else undefined. */
  progress: number | undefined;
  /** The last report, which a check under way may be about to replace. */
  report: Report | undefined;
}

/** Owns the last report of each file that was checked in this window, and joins checks of the same bytes. */
export class Reports implements Disposable {
  readonly #checker: DatasetChecker;
  readonly #states = new Map<string, CheckState>();
  readonly #store = new DisposableStore();
  readonly #changed = this.#store.add(new Emitter<CheckState>());
  /** Fires when a check begins, goes on, ends, or a report is dropped. */
  readonly onDidChange = this.#changed.event;

  constructor(checker: DatasetChecker) {
    this.#checker = checker;
  }

  /** What is known of a file. */
  get(path: string): CheckState | undefined {
    return this.#states.get(path);
  }

  /** Every file of which something is known. */
  get all(): readonly CheckState[] {
    return [...this.#states.values()];
  }

  /**
   * Checks a file as it is now, from its first byte to its last.
   * @throws CheckError, CancelledError
   */
  async check(path: string, signal?: AbortSignal, onProgress?: (fraction: number) => void): Promise<Report> {
    try {
      const report = await this.#checker.check(path, {
        signal,
        onProgress: (progress) => {
          onProgress?.(progress);
          this.#set({ path, progress, report: this.get(path)?.report });
        },
      });
      this.#set({ path, progress: undefined, report });
      return report;
    } catch (error) {
      this.#set({ path, progress: undefined, report: this.get(path)?.report });
      throw error;
    }
  }

  /** Forgets a file, as when it is closed or gone. */
  drop(path: string): void {
    if (this.#states.delete(path)) this.#changed.fire({ path, progress: undefined, report: undefined });
  }

  dispose(): void {
    this.#store.dispose();
    this.#states.clear();
  }

  #set(state: CheckState): void {
    if (this.#store.disposed) return;
    this.#states.set(state.path, state);
    this.#changed.fire(state);
  }
}
