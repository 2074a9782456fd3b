import { Worker } from 'node:worker_threads';
import { CancelledError } from '../../base/errors.ts';
import { NotAnAdapterError, type Verdict } from '../faults.ts';
import type { Measurements, Progress } from '../report.ts';

/** Enough for headers of the greatest length. */
const MAX_HEAP_MIB = 1024;

export interface MeasureOptions {
  /** The script of the worker thread: `measureWorker`. */
  worker: string;
  signal?: AbortSignal | undefined;
  /** Called several times a second. */
  onProgress?: (progress: Progress) => void;
}

/** A message of the worker thread. */
export type MeasureAnswer =
  | { kind: 'progress'; progress: Progress }
  | { kind: 'done'; measurements: Measurements }
  | { kind: 'failed'; verdict: Verdict };

/**
 * Reads every value of an adapter once, in a worker thread.
 * @throws NotAnAdapterError; CancelledError at once when the signal is aborted
 */
export function measureAdapter(
  file: string,
  { worker, signal, onProgress }: MeasureOptions,
): Promise<Measurements> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(new CancelledError());
      return;
    }
    const thread = new Worker(worker, {
      workerData: { file },
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    });
    const settle = (settled: () => void) => {
      signal?.removeEventListener('abort', cancel);
      settled();
      void thread.terminate();
    };
    const cancel = () => settle(() => reject(new CancelledError()));
    signal?.addEventListener('abort', cancel, { once: true });
    thread.on('message', (answer: MeasureAnswer) => {
      if (answer.kind === 'progress') onProgress?.(answer.progress);
      else if (answer.kind === 'done') settle(() => resolve(answer.measurements));
      else settle(() => reject(new NotAnAdapterError(answer.verdict)));
    });
    thread.on('error', (error) => settle(() => reject(error)));
    thread.on('exit', () => settle(() => reject(new Error('the worker thread ended without an answer'))));
  });
}
