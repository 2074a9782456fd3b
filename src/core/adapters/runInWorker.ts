import { Worker } from 'node:worker_threads';
import { throwIfCancelled, unlessCancelled } from '../base/errors.ts';
import { NotAnAdapterError, type Verdict } from './problems.ts';
import type { AdapterReport, Measurements, Progress } from './report.ts';

/** Enough for the longest headers. */
const MAX_HEAP_MIB = 1024;

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

export type WorkerAnswer =
  | { kind: 'progress'; progress: Progress }
  | { kind: 'done'; result: Tasks[keyof Tasks] }
  | { kind: 'failed'; verdict: Verdict };

/**
 * Runs a task in a worker thread so that nothing blocks: a header may have a hundred megabytes.
 * @throws NotAnAdapterError from `measure`; CancelledError as soon as the signal is aborted
 */
export async function runInWorker<T extends keyof Tasks>(
  task: T,
  file: string,
  { worker, signal, onProgress }: WorkerOptions,
): Promise<Tasks[T]> {
  throwIfCancelled(signal);
  const thread = new Worker(worker, {
    workerData: { task, file },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Tasks[T]>();
  thread.on('message', (answer: WorkerAnswer) => {
    if (answer.kind === 'progress') onProgress?.(answer.progress);
    else if (answer.kind === 'done') resolve(answer.result as Tasks[T]);
    else reject(new NotAnAdapterError(answer.verdict));
  });
  thread.on('error', reject);
  thread.on('exit', () => reject(new Error('the worker thread ended without an answer')));
  try {
    return await unlessCancelled(promise, signal);
  } finally {
    void thread.terminate();
  }
}
