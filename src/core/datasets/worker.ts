// A thread that checks, copies or compares datasets. It handles one request at a time and keeps nothing between them.
import { parentPort, workerData } from 'node:worker_threads';
import type { ComparedRows } from './comparisonTypes.ts';
import { PreparePass } from './copyPass.ts';
import { PrepareError } from './copyTypes.ts';
import { StoppedError } from './hashIndex.ts';
import { differenceOf, writeKept } from './keptFingerprints.ts';
import { CheckError } from './report.ts';
import { findRepeats, findSameRows } from './sameRows.ts';
import { Scanner } from './scanner.ts';
import { HASH_WRITTEN } from './scanner/codes.ts';
import {
  readSegment,
  SHARED,
  type Answer,
  type CompareRequest,
  type Failure,
  type Job,
  type PrepareRequest,
  type Request,
  type SameRowsJob,
  type WorkerData,
} from './segments.ts';
import { countShared, findRows } from './sharedPrompts.ts';

const { scanner: module } = workerData as WorkerData;
const scanner = new Scanner(module);

parentPort?.on('message', (request: Request) => {
  try {
    if (request.kind === 'check') check(request);
    else if (request.kind === 'same rows') findSame(request);
    else if (request.kind === 'compare') compareRows(request);
    else prepare(request);
  } catch (error) {
    const failure = failureOf(error);
    // Any other error ends the thread, which reports its cause.
    if (failure === undefined) throw error;
    post({ kind: 'failed', failure });
  }
});

function failureOf(error: unknown): Failure | undefined {
  if (error instanceof CheckError) return { of: 'check', code: error.code };
  if (error instanceof PrepareError) return { of: 'prepare', code: error.code, counts: error.counts };
  if (error instanceof StoppedError) return { of: 'stopped' };
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'write') return { of: 'disk', code };
  return syscall === undefined ? undefined : { of: 'check', code: 'unreadable' };
}

function post(answer: Answer, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(answer, transfer);
}

function check(job: Job): void {
  const isSet = (index: number) => Atomics.load(job.shared, index) !== 0;
  const isStopped = () => isSet(SHARED.stopped);
  scanner.begin(job.hasByteOrderMark, HASH_WRITTEN);
  while (!isStopped()) {
    const number = Atomics.add(job.shared, SHARED.nextSegment, 1);
    if (number >= job.segments) break;
    const prompts = !isSet(SHARED.enoughPrompts);
    scanner.hashPrompts(prompts);
    const segment = readSegment(scanner, job, number, { rows: !isSet(SHARED.hashedEnough), prompts });
    const arrays = [
      ...segment.hashed.flatMap(({ hashes, starts, runs, prompts }) =>
        prompts === undefined ? [hashes, starts, runs] : [hashes, starts, runs, prompts],
      ),
      ...segment.places.map(({ fields }) => fields),
    ];
    post(
      { kind: 'segment', segment },
      arrays.map(({ buffer }) => buffer),
    );
  }
  post({ kind: 'done', counts: scanner.counts() });
}

function prepare({ job, shared }: PrepareRequest): void {
  // Changed rows are scanned again in another scanner: the first one's memory still has the source.
  const pass = new PreparePass(scanner, new Scanner(module), job, {
    shouldContinue: () => Atomics.load(shared, SHARED.stopped) === 0,
    onProgress: (fraction) => post({ kind: 'progress', fraction }),
  });
  post({ kind: 'done', prepared: pass.run() });
}

function compareRows({ job, shared }: CompareRequest): void {
  const reader = { scanner, shouldContinue: () => Atomics.load(shared, SHARED.stopped) === 0 };
  const done = (compared: ComparedRows) => post({ kind: 'done', compared });
  if (job.of === 'count') done({ shared: countShared(reader, job.file, job.other) });
  else if (job.of === 'find') done({ found: findRows(reader, job.rows, job.data) });
  else if (job.of === 'keep') done({ isKept: writeKept(reader, job.file, job.kept) });
  else done({ difference: differenceOf(reader, job.now, job.then) });
}

function findSame({ hashes, prompts, shared }: SameRowsJob): void {
  const shouldContinue = () => Atomics.load(shared, SHARED.stopped) === 0;
  const same = findSameRows(hashes, shouldContinue);
  const repeats = findRepeats(prompts, shouldContinue);
  post({ kind: 'done', same, repeats });
}
