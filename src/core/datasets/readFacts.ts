import { open } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { isMissing } from '../base/diskError.ts';
import { isSameStamp, stampOf } from '../base/fileStamp.ts';
import { runThread, throttled } from '../base/thread.ts';
import type { Reading } from './facts/reading.ts';
import { CheckError } from './report.ts';
import type { Job } from './segments.ts';

export type { Reading };
export { findingsToRead, isFactName } from './facts/table.ts';
export type { Finding, FactName } from './facts/fact.ts';
export type { CommonText, Tokens } from './facts/reading.ts';

/** Beside this file, also where both are built. */
export const FACTS_WORKER = join(
  dirname(import.meta.filename),
  `factsWorker${extname(import.meta.filename)}`,
);
/** Bytes of a segment. A row belongs to the one in which it begins. */
export const READ_BYTES = 1024 * 1024;
/** For the longest row that is read, if each of its bytes is a value. Objects of earlier rows needn't stay for long. */
export const FACTS_HEAP = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 4 } as const;

/** An open file to read. Each thread takes the next free segment. */
export interface FactsJob extends Pick<Job, 'fd' | 'sizeBytes' | 'segments'> {
  next: Int32Array<SharedArrayBuffer>;
  isHelper?: boolean;
}

/** Why a file wasn't read. */
export type FactsFault = 'changing' | 'unreadable';

/**
 * Reads what the rows of a JSONL file say, in up to two threads of low priority. Nothing waits for it.
 * @throws CheckError; CancelledError
 */
export async function readFacts(
  path: string,
  { signal, onProgress }: { signal?: AbortSignal | undefined; onProgress?: (fraction: number) => void } = {},
): Promise<Reading> {
  const file = await open(path, 'r').catch((cause: unknown) => {
    throw new CheckError(isMissing(cause) ? 'missing' : 'unreadable', { cause });
  });
  try {
    const stamp = stampOf(await file.stat({ bigint: true }));
    const { sizeBytes } = stamp;
    const segments = Math.ceil(sizeBytes / READ_BYTES);
    const next = new Int32Array(new SharedArrayBuffer(4));
    const job: FactsJob = { fd: file.fd, sizeBytes, segments, next };
    const result = await runThread<number, Omit<Reading, keyof typeof stamp | 'path'>, FactsFault>(
      FACTS_WORKER,
      job,
      {
        ...{ limits: FACTS_HEAP, signal, onProgress: throttled(onProgress), waitsForEnd: true },
        errorOf: (fault) => new CheckError(fault),
      },
    );
    if (!isSameStamp(stampOf(await file.stat({ bigint: true })), stamp)) throw new CheckError('changing');
    return { path, ...stamp, ...result };
  } finally {
    await file.close();
  }
}
