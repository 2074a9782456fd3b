// A thread that checks segments of a dataset: one request at a time, without state between requests.
import { parentPort, workerData } from 'node:worker_threads';
import { CheckError, type CheckFailure } from './report.ts';
import { Scanner } from './scanner.ts';
import {
  findSameRows,
  readSegment,
  SHARED,
  type Answer,
  type Job,
  type Request,
  type SameRowsJob,
  type WorkerData,
} from './segments.ts';

const scanner = new Scanner((workerData as WorkerData).scanner);

parentPort?.on('message', (request: Request) => {
  try {
    if (request.kind === 'check') check(request);
    else compare(request);
  } catch (error) {
    const reason = failureOf(error);
    // Other errors end the thread, so that their cause is known.
    if (reason === undefined) throw error;
    post({ kind: 'failed', reason });
  }
});

function failureOf(error: unknown): CheckFailure | undefined {
  if (error instanceof CheckError) return error.code;
  return (error as NodeJS.ErrnoException).syscall === undefined ? undefined : 'unreadable';
}

function post(answer: Answer, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(answer, transfer);
}

function check(job: Job): void {
  const isStopped = () => Atomics.load(job.shared, SHARED.stopped) !== 0;
  scanner.begin(job.hasByteOrderMark);
  while (!isStopped()) {
    const number = Atomics.add(job.shared, SHARED.nextSegment, 1);
    if (number >= job.segments) break;
    const segment = readSegment(scanner, job, number, Atomics.load(job.shared, SHARED.hashedEnough) === 0);
    const arrays = [
      ...segment.hashed.flatMap(({ hashes, starts, runs }) => [hashes, starts, runs]),
      ...segment.places.map(({ fields }) => fields),
    ];
    post(
      { kind: 'segment', segment },
      arrays.map(({ buffer }) => buffer),
    );
  }
  post({ kind: 'done', counts: scanner.counts(), memoryBytes: scanner.memoryBytes });
}

function compare({ hashes, shared }: SameRowsJob): void {
  const same = findSameRows(hashes, () => Atomics.load(shared, SHARED.stopped) === 0);
  post({ kind: 'done', same, memoryBytes: scanner.memoryBytes });
}
