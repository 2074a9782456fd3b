import { CancelledError } from '../base/errors.ts';
import { runThread } from '../base/thread.ts';
import { NotAnAdapterError, type InspectionVerdict } from './problems.ts';
import type { AdapterReport, Measurements, Progress } from './report.ts';

/** Enough to unpack the largest archives, but not for ever: no file may keep a processor busy. */
const INSPECTION_MS = 10 * 60_000;
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
  /** Milliseconds that an inspection may take. Measuring shows progress, and ends when the user cancels it. */
  limitMs?: number;
}

/**
 * Runs a task in a worker thread so that nothing blocks: a header may have a hundred megabytes.
 * @throws NotAnAdapterError from `measure`; CancelledError as soon as the signal is aborted; an error if inspecting takes too long
 */
export async function runInWorker<T extends keyof Tasks>(
  task: T,
  file: string,
  { worker, signal, onProgress, limitMs = INSPECTION_MS }: WorkerOptions,
): Promise<Tasks[T]> {
  const errorOf = (verdict: InspectionVerdict) => new NotAnAdapterError(verdict);
  const limit = task === 'inspect' ? AbortSignal.timeout(limitMs) : undefined;
  const ends = AbortSignal.any([signal, limit].filter((one) => one !== undefined));
  try {
    return await runThread(worker, { task, file }, { limits: LIMITS, errorOf, signal: ends, onProgress });
  } catch (error) {
    const isLate = error instanceof CancelledError && signal?.aborted !== true;
    throw isLate ? new Error('the inspection took too long') : error;
  }
}
