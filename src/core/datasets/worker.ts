// A thread that judges segments of a dataset. It knows one request at a time, and nothing between two.
import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { findDuplicates, FileRows } from './duplicates.ts';
import { CheckError, type CheckFailure } from './report.ts';
import { Scanner } from './scanner.ts';
import { SegmentReader } from './segments.ts';
import {
  SHARED,
  type Answer,
  type DuplicatesJob,
  type Job,
  type Request,
  type WorkerData,
} from './workerMessages.ts';

const HASH_BYTES = 1024 * 1024;
/** Bytes between two reports of how far the hash is. */
const HASH_STEP_BYTES = 16 * HASH_BYTES;

const scanner = new Scanner((workerData as WorkerData).scanner);

parentPort?.on('message', (request: Request) => {
  try {
    if (request.kind === 'check') check(request);
    else compare(request);
  } catch (error) {
    const reason = failureOf(error);
    // An error that is not about the file ends the thread, so that its cause is known.
    if (reason === undefined) throw error;
    say({ kind: 'failed', reason });
  }
});

function failureOf(error: unknown): CheckFailure | undefined {
  if (error instanceof CheckError) return error.code;
  return (error as NodeJS.ErrnoException).syscall === undefined ? undefined : 'unreadable';
}

function say(answer: Answer, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(answer, transfer);
}

function check(job: Job): void {
  const isStopped = () => Atomics.load(job.shared, SHARED.stopped) !== 0;
  if (job.hashes) hash(job, isStopped);
  scanner.begin(job.locatedLimit, job.findsSecrets, job.hasByteOrderMark);
  const reader = new SegmentReader(scanner, job.fd, job.sizeBytes);
  while (!isStopped()) {
    const number = Atomics.add(job.shared, SHARED.nextSegment, 1);
    if (number >= job.segments) break;
    const segment = reader.read(number, Atomics.load(job.shared, SHARED.hashedEnough) === 0);
    const { places, hashed } = segment;
    const arrays = [hashed.hashes, hashed.starts, hashed.rows, ...places.map(({ fields }) => fields)];
    say(
      { kind: 'segment', segment },
      arrays.flatMap((array) => (array === undefined ? [] : [array.buffer])),
    );
  }
  say({ kind: 'done', counts: scanner.counts(), duplicates: undefined, memoryBytes: scanner.memoryBytes });
}

function hash({ fd, sizeBytes }: Job, isStopped: () => boolean): void {
  const sha256 = createHash('sha256');
  const buffer = Buffer.allocUnsafeSlow(Math.min(HASH_BYTES, sizeBytes));
  let reported = 0;
  for (let at = 0; at < sizeBytes;) {
    if (isStopped()) return;
    const read = readSync(fd, buffer, 0, Math.min(buffer.length, sizeBytes - at), at);
    if (read === 0) throw new CheckError('changing');
    sha256.update(buffer.subarray(0, read));
    at += read;
    if (at - reported >= HASH_STEP_BYTES) {
      say({ kind: 'hashed', bytes: at - reported, sha256: undefined });
      reported = at;
    }
  }
  say({ kind: 'hashed', bytes: sizeBytes - reported, sha256: sha256.digest('hex') });
}

function compare({ fd, sizeBytes, segments, locatedLimit, shared }: DuplicatesJob): void {
  const duplicates = findDuplicates(
    segments,
    new FileRows(fd, sizeBytes),
    locatedLimit,
    () => Atomics.load(shared, SHARED.stopped) === 0,
  );
  say({ kind: 'done', counts: undefined, duplicates, memoryBytes: scanner.memoryBytes });
}
