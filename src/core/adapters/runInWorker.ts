import { runThread } from '../base/thread.ts';
import { NotAnAdapterError, type Verdict } from './problems.ts';
import type { AdapterReport, Measurements, Progress } from './report.ts';

/** Enough for the longest headers. */
const LIMITS = { maxOldGenerationSizeMb: 1024 } as const;

/** Tasks of the worker thread: reading an adapter's headers, or every value once. */
export interface Tasks {
  inspect: AdapterReport;
  measure: Measurements;
}

export interface WorkerOptions {
  /** The script of the worker thread: `worker.ts`. */
  worker: string;
  signal?: AbortSignal | undefined;
  /** Called for each piece that was measured. */
  onProgress?: (progress: Progress) => void;
}

/**
 * Runs a task in a worker thread so that nothing blocks: a header may have a hundred megabytes.
 * @throws NotAnAdapterError from `measure`; CancelledError as soon as the signal is aborted
 */
export function runInWorker<T extends keyof Tasks>(
  task: T,
  file: string,
  { worker, ...following }: WorkerOptions,
): Promise<Tasks[T]> {
  const errorOf = (verdict: Verdict) => new NotAnAdapterError(verdict);
  return runThread(worker, { task, file }, { limits: LIMITS, errorOf, ...following });
}
