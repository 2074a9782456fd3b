import { parentPort, Worker, workerData, type ResourceLimits } from 'node:worker_threads';
import { throwIfCancelled, unlessCancelled } from './errors.ts';

/** What a thread says: progress several times, one of the others at the end. */
type ThreadMessage<Progress, Result, Failure> =
  | { kind: 'progress'; progress: Progress }
  | { kind: 'done'; result: Result }
  | { kind: 'failed'; failure: Failure };

export interface ThreadOptions<Progress, Failure> {
  limits: ResourceLimits;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Makes an error of what `serveThread` posted as a failure. */
  errorOf: (failure: Failure) => Error;
  /** Whether to wait until the thread has ended, because it uses files that are open here. */
  waitsForEnd?: boolean;
}

/**
 * Runs a script, which calls `serveThread`, in a thread of its own until it has done a job, failed, or is canceled.
 * @throws what `errorOf` returns; CancelledError as soon as the signal is aborted; errors that ended the thread
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
    // What the thread said before it is terminated still arrives.
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
 * @param failureOf returns what is posted of an expected error. Others end the thread, so that their cause is known
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
