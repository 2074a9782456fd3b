import { open, readFile, type FileHandle } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { lazy, sequencer } from '../base/async.ts';
import { DiskError, isMissing } from '../base/diskError.ts';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError, throwIfCancelled } from '../base/errors.ts';
import { stampOf } from '../base/fileStamp.ts';
import { throttled } from '../base/thread.ts';
import { ReportBuilder } from './buildReport.ts';
import type { ComparedRows, RowComparison } from './comparisonTypes.ts';
import {
  PrepareError,
  type Mendable,
  type PrepareChoices,
  type PrepareCounts,
  type PrepareJob,
} from './copyTypes.ts';
import { hasByteOrderMark, kindOf, recognized, SAMPLE_BYTES, type DatasetFile } from './fileKind.ts';
import type { Reading } from './readFacts.ts';
import { CheckError, isUnread, type Report } from './report.ts';
import {
  SEGMENT_BYTES,
  type Segment,
  SHARED,
  type Answer,
  type Failure,
  type Job,
  type Request,
  type WorkerData,
} from './segments.ts';
import type { Prepared, PrepareOptions } from './writeCopy.ts';

export type { Prepared };

/** Each worker costs about 15 MB. */
const MAX_WORKERS = 4;
/** With less than this per worker, starting another one costs more than it saves. */
const ONE_WORKER_BYTES = 2 * SEGMENT_BYTES;
const IDLE_MS = 30_000;

/** Paths of files that are built beside the extension and loaded at the first check. */
export interface CheckerFiles {
  worker: string;
  /** The WebAssembly module. */
  scanner: string;
}

export interface CheckOptions {
  signal?: AbortSignal | undefined;
  /** Called several times a second with the fraction done, from 0 to 1. */
  onProgress?: (fraction: number) => void;
  /** Number of threads, regardless of the number of cores. */
  workers?: number;
}

/** Owns the workers that check datasets, one file at a time. Starts them when needed, stops them when idle. */
export class DatasetChecker implements Disposable {
  readonly #files: CheckerFiles;
  readonly #idleMs: number;
  readonly #scanner = lazy(async () => WebAssembly.compile(await readFile(this.#files.scanner)));
  readonly #inTurn = sequencer();
  #workers: CheckWorker[] = [];
  #idle: NodeJS.Timeout | undefined;
  #isDisposed = false;

  /** @param idleMs how long the workers stay alive after a check */
  constructor(files: CheckerFiles, idleMs = IDLE_MS) {
    this.#files = files;
    this.#idleMs = idleMs;
  }

  /**
   * Checks every row of a dataset, with its shape, duplicates and secrets.
   * @throws CheckError if the check can't be completed; CancelledError soon after the signal is aborted
   */
  check(path: string, options: CheckOptions = {}): Promise<Report> {
    return this.#inTurn(() => this.#check(path, options));
  }

  /**
   * Copies an open dataset, on one thread. Waits for its turn after running checks.
   * @throws PrepareError; DiskError; CheckError; CancelledError soon after the signal is aborted
   */
  async prepare(
    job: PrepareJob,
    { signal, onProgress }: Omit<CheckOptions, 'workers'> = {},
  ): Promise<PrepareCounts> {
    const following = { onProgress: throttled(onProgress) };
    const { prepared } = await this.#requestOne(
      (shared) => ({ kind: 'prepare', job, shared }),
      signal,
      following,
    );
    if (prepared === undefined) throw new CheckError('worker-died');
    return prepared;
  }

  /**
   * Compares rows with other data, on one thread, for `Fingerprints`. Waits for its turn after running checks.
   * @throws CheckError; DiskError; CancelledError soon after the signal is aborted
   */
  async compareRows(job: RowComparison, signal?: AbortSignal): Promise<ComparedRows> {
    const { compared } = await this.#requestOne((shared) => ({ kind: 'compare', job, shared }), signal);
    if (compared === undefined) throw new CheckError('worker-died');
    return compared;
  }

  /**
   * Writes a prepared copy beside an inspected dataset. It doesn't change the dataset, never replaces a file, and names the
   * copy only when it is complete.
   * @throws PrepareError; CheckError `changing`; DiskError; CancelledError
   */
  async prepareCopy(
    source: DatasetFile,
    choices: PrepareChoices,
    options: PrepareOptions,
  ): Promise<Prepared> {
    return (await import('./writeCopy.ts')).prepareCopy(this, source, choices, options);
  }

  /**
   * Returns what a copy of a checked dataset can change. Tries on each row whether it can be repaired or converted.
   * @param reading what the texts of this version say, if known
   * @throws CheckError `changing`; DiskError; CancelledError
   */
  async mendableIn(
    report: Report,
    reading: Reading | undefined,
    options: Omit<PrepareOptions, 'maxBytes'>,
  ): Promise<Mendable> {
    return (await import('./writeCopy.ts')).mendableIn(this, report, reading, options);
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    clearTimeout(this.#idle);
    await Promise.all(this.#workers.splice(0).map((worker) => worker.dispose()));
  }

  /** Sends a request to one worker, after running checks. @param requestOf gets the shared numbers that stop the worker */
  #requestOne(
    requestOf: (shared: Int32Array<SharedArrayBuffer>) => Request,
    signal: AbortSignal | undefined,
    following: Following = {},
  ): Promise<Done> {
    return this.#inTurn(async () => {
      throwIfCancelled(signal);
      const [worker] = await this.#workersFor(0);
      if (worker === undefined) throw new CheckError('worker-died');
      const { shared, dispose } = sharedNumbers(signal);
      try {
        const done = await worker.request(requestOf(shared), following);
        throwIfCancelled(signal);
        return done;
      } catch (error) {
        throw this.#isDisposed || signal?.aborted === true ? new CancelledError() : error;
      } finally {
        dispose();
        this.#rest();
      }
    });
  }

  async #check(path: string, options: CheckOptions): Promise<Report> {
    throwIfCancelled(options.signal);
    const file = await openFile(path);
    try {
      return await this.#checkFile(path, file, options);
    } catch (error) {
      // After `dispose` the workers ended on purpose.
      throw this.#isDisposed ? new CancelledError() : error;
    } finally {
      await file.close();
      this.#rest();
    }
  }

  /** Lets workers scan the segments, then one of them compare rows. Builds the report if the file didn't change meanwhile. */
  async #checkFile(path: string, file: FileHandle, options: CheckOptions): Promise<Report> {
    const { signal } = options;
    const before = await file.stat({ bigint: true });
    const sizeBytes = Number(before.size);
    const sample = await sampleOf(file, 0);
    const kind = kindOf(sample);
    const segments = isUnread(kind) ? 0 : Math.ceil(sizeBytes / SEGMENT_BYTES);
    throwIfCancelled(signal);
    const { shared, stop } = sharedNumbers(signal);
    const builder = new ReportBuilder();
    const progress = byteCounter(sizeBytes, options.onProgress);
    const take = (segment: Segment) => {
      builder.addSegment(segment);
      if (builder.hasEnoughHashed) Atomics.store(shared, SHARED.hashedEnough, 1);
      if (builder.hasEnoughPrompts) Atomics.store(shared, SHARED.enoughPrompts, 1);
      progress(SEGMENT_BYTES);
    };
    const job: Job = {
      ...{ kind: 'check', fd: file.fd, sizeBytes, segments, shared },
      hasByteOrderMark: hasByteOrderMark(sample),
    };
    const workers = await this.#workersFor(sizeBytes, options.workers);
    const requests = workers.map((worker) => worker.request(job, { onSegment: take }));
    for (const request of requests) request.catch(stop);
    // Wait for all, even if one fails: the others are still reading the file.
    await Promise.allSettled(requests);
    const done = await Promise.all(requests);
    for (const { counts } of done) if (counts !== undefined) builder.addCounts(counts);
    throwIfCancelled(signal);
    const { hashes, prompts } = builder;
    const buffers = [hashes.buffer, prompts.buffer];
    const compared = await workers[0]?.request({ kind: 'same rows', hashes, prompts, shared }, {}, buffers);
    throwIfCancelled(signal);
    const after = await file.stat({ bigint: true });
    if (after.size !== before.size || after.mtimeNs !== before.mtimeNs || after.ctimeNs !== before.ctimeNs)
      throw new CheckError('changing');
    const report = builder.build({ path, ...stampOf(before) }, kind, compared);
    if (isUnread(kind)) return report;
    const end = await sampleOf(file, Math.max(sizeBytes - SAMPLE_BYTES, 0));
    return recognized(report, sample, end);
  }

  async #workersFor(
    sizeBytes: number,
    wanted = Math.min(availableParallelism(), MAX_WORKERS),
  ): Promise<CheckWorker[]> {
    clearTimeout(this.#idle);
    const scanner = await this.#scanner().catch((cause: unknown) => {
      throw new CheckError('worker-died', { cause });
    });
    const count = Math.max(1, Math.min(wanted, Math.ceil(sizeBytes / ONE_WORKER_BYTES)));
    this.#workers = this.#workers.filter(({ isAlive }) => isAlive);
    if (this.#isDisposed) throw new CancelledError();
    while (this.#workers.length < count) this.#workers.push(new CheckWorker(this.#files.worker, { scanner }));
    return this.#workers.slice(0, count);
  }

  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      for (const worker of this.#workers.splice(0)) void worker.dispose();
    }, this.#idleMs).unref();
  }
}

/** Creates the numbers that workers share. When the signal is aborted, they stop the workers. */
function sharedNumbers(signal: AbortSignal | undefined) {
  const shared = new Int32Array(new SharedArrayBuffer(SHARED.length * 4));
  const stop = () => Atomics.store(shared, SHARED.stopped, 1);
  signal?.addEventListener('abort', stop, { once: true });
  return { shared, stop, dispose: () => signal?.removeEventListener('abort', stop) };
}

/** Returns a function that adds up the bytes done and reports progress several times a second. */
function byteCounter(totalBytes: number, onProgress?: (fraction: number) => void): (bytes: number) => void {
  let done = 0;
  const report = throttled(onProgress);
  return (bytes) => {
    done += bytes;
    report(Math.min(done / totalBytes, 1));
  };
}

function openFile(path: string): Promise<FileHandle> {
  return open(path, 'r').catch((cause: unknown) => {
    throw new CheckError(isMissing(cause) ? 'missing' : 'unreadable', { cause });
  });
}

async function sampleOf(file: FileHandle, position: number): Promise<Uint8Array> {
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, position);
    return buffer.subarray(0, bytesRead);
  } catch (cause) {
    throw new CheckError('unreadable', { cause });
  }
}

type Done = Extract<Answer, { kind: 'done' }>;

/** What to call before a request ends. */
interface Following {
  onSegment?: (segment: Segment) => void;
  onProgress?: (fraction: number) => void;
}

function errorOf(failure: Failure): Error {
  if (failure.of === 'check') return new CheckError(failure.code);
  if (failure.of === 'prepare') return new PrepareError(failure.code, failure.counts);
  if (failure.of === 'stopped') return new CancelledError();
  return new DiskError({ name: 'Error', message: '', code: failure.code });
}

/** Owns a worker thread, which handles one request at a time. */
class CheckWorker implements Disposable {
  readonly #worker: Worker;
  #isAlive = true;
  #request: (Following & { done: (answer: Done) => void; failed: (error: unknown) => void }) | undefined;

  constructor(script: string, data: WorkerData) {
    this.#worker = new Worker(script, { workerData: data, name: 'dataset check' });
    this.#worker.on('message', (answer: Answer) => this.#take(answer));
    this.#worker.on('error', (error) => this.#die(error));
    this.#worker.on('exit', () => this.#die(undefined));
    // An idle worker must not keep the process alive.
    this.#worker.unref();
  }

  /** Whether its thread still runs. */
  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Sends a request, and moves the buffers of `transfer` to the thread. @throws CheckError; PrepareError; DiskError; CancelledError */
  request(request: Request, following: Following = {}, transfer: ArrayBuffer[] = []): Promise<Done> {
    return new Promise((done, failed) => {
      if (!this.#isAlive) {
        failed(new CheckError('worker-died'));
        return;
      }
      this.#request = { done, failed, ...following };
      this.#worker.ref();
      this.#worker.postMessage(request, transfer);
    });
  }

  /** Terminates the thread, even if it is busy. */
  dispose(): Promise<unknown> {
    return this.#worker.terminate();
  }

  #take(answer: Answer): void {
    const request = this.#request;
    if (answer.kind === 'segment') return request?.onSegment?.(answer.segment);
    if (answer.kind === 'progress') return request?.onProgress?.(answer.fraction);
    this.#request = undefined;
    this.#worker.unref();
    if (answer.kind === 'done') request?.done(answer);
    else request?.failed(errorOf(answer.failure));
  }

  #die(cause: unknown): void {
    this.#isAlive = false;
    this.#request?.failed(new CheckError('worker-died', { cause }));
    this.#request = undefined;
  }
}
