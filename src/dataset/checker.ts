import type { Disposable } from '../base/disposable.ts';
import type { Report } from './report.ts';

/** What is built beside the extension and loaded at the first check. */
export interface CheckerFiles {
  /** The worker's script. */
  worker: string;
  /** The scanner, WebAssembly. */
  scanner: string;
}

export interface CheckOptions {
  signal?: AbortSignal | undefined;
  /** Called several times a second with what is done, from 0 to 1. */
  onProgress?: (fraction: number) => void;
}

/** Owns the workers that check datasets: started at the first check, stopped when idle. */
export class DatasetChecker implements Disposable {
  readonly #files: CheckerFiles;

  constructor(files: CheckerFiles) {
    this.#files = files;
  }

  /**
   * Checks a dataset whole: every row, its shape, duplicates, secrets, and the SHA-256 of the same bytes.
   * @throws CheckError where it comes to no verdict
   * @throws CancelledError at once when the signal is aborted
   */
  check(path: string, options: CheckOptions = {}): Promise<Report> {
    return Promise.reject(
      new Error(`not built yet: ${path} ${this.#files.worker} ${String(options.signal)}`),
    );
  }

  dispose(): void {
    return undefined;
  }
}
