import { parentPort, Worker, workerData, type ResourceLimits } from 'node:worker_threads';
import { throwIfCancelled, unlessCancelled } from './errors.ts';

/** The messages of a thread: `progress` several times, then one of the others. */
type ThreadMessage<Progress, Result, Failure> =
  | { kind: 'progress'; progress: Progress }
  | { kind: 'done'; result: Result }
  | { kind: 'failed'; failure: Failure };

export interface ThreadOptions<Progress, Failure> {
  limits: ResourceLimits;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Converts a failure that `serveThread` posted to an error. */
  errorOf: (failure: Failure) => Error;
  /** Whether to wait until the thread has ended, because it uses files that this thread opened. */
  waitsForEnd?: boolean;
}

/**
 * Runs a script in a thread of its own until its job is done, fails, or is canceled. The script calls `serveThread`.
 * @throws what `errorOf` returns; CancelledError as soon as the signal aborts; errors that ended the thread
 */
export async function runThread<Progress, Result, Failure>(
  script: string,
  job: unknown,
  { limits, signal, onProgress, errorOf, waitsForEnd = false }: ThreadOptions<Progress, Failure>,
): Promise<Result> {
  throwIfCancelled(signal);
  const thread = new Worker(script, { workerData: job, resourceLimits: limits });
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  thread.on('message', (message: ThreadMessage<Progress, Result, Failure>) => {
    // Messages that the thread sent before its end still arrive.
    if (signal?.aborted === true) return;
    if (message.kind === 'progress') onProgress?.(message.progress);
    else if (message.kind === 'done') resolve(message.result);
    else reject(errorOf(message.failure));
  });
  thread.on('error', reject);
  thread.on('exit', () => reject(new Error('the thread ended without an answer')));
  try {
    return await unlessCancelled(promise, signal);
  } finally {
    const ended = thread.terminate();
    if (waitsForEnd) await ended;
  }
}

/**
 * Does the job of this thread, which `runThread` started.
 * @param failureOf converts an expected error to what is posted. Undefined for others: they end the thread
 */
export function serveThread(
  work: (job: never, onProgress: (progress: unknown) => void) => Promise<unknown>,
  failureOf: (error: unknown) => unknown,
): void {
  const post = (message: ThreadMessage<unknown, unknown, unknown>) => parentPort?.postMessage(message);
  void work(workerData as never, (progress) => post({ kind: 'progress', progress })).then(
    (result) => post({ kind: 'done', result }),
    (error: unknown) => {
      const failure = failureOf(error);
      if (failure === undefined) throw error;
      post({ kind: 'failed', failure });
    },
  );
}

const PROGRESS_MS = 100;

/** Returns a function that reports progress at most ten times a second. */
export function throttled(onProgress?: (fraction: number) => void): (fraction: number) => void {
  let reportedMs = -Infinity;
  return (fraction) => {
    const nowMs = performance.now();
    if (nowMs - reportedMs < PROGRESS_MS) return;
    reportedMs = nowMs;
    onProgress?.(fraction);
  };
}
