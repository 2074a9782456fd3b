import { open } from 'node:fs/promises';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { onDisk } from '../base/diskError.ts';
import { throwIfCancelled, unlessCancelled } from '../base/errors.ts';
import { ConvertError, type ConvertFailure } from './convertError.ts';
import type { ConvertCounts, ConvertJob } from './convertRows.ts';
import { modeOf, type DatasetFile } from './fileKind.ts';
import { NewFiles } from './newFiles.ts';
import { CheckError } from './report.ts';

/** Enough for the longest row of a table, if each of its bytes is a value. Objects of earlier rows needn't stay for long. */
const HEAP_MIB = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 8 } as const;

export interface ConvertOptions {
  signal?: AbortSignal;
  /** Called with the fraction done, from 0 to 1. */
  onProgress?: (fraction: number) => void;
}

/** The new file, its rows, and rows that are left out: those of a table that have another number of values than its header. */
export interface Converted extends Pick<ConvertCounts, 'rows' | 'ragged'> {
  path: string;
}

/** What the thread says; `progress` several times, one of the others at the end. */
export type ConvertAnswer =
  | { kind: 'progress'; fraction: number }
  | { kind: 'done'; counts: ConvertCounts }
  | { kind: 'failed'; code: ConvertFailure; row: number | undefined }
  | { kind: 'changing' };

/**
 * Writes the rows of an inspected file beside it as JSONL: of JSON or of a table, in UTF-8 or UTF-16. Objects are copied byte for
 * byte, and the values of a table become strings. No file is replaced, and none that is incomplete gets a name.
 * @param worker the script of the thread
 * @param maxBytes the most that the new file may have
 * @throws ConvertError; CheckError `changing`; DiskError; CancelledError
 */
export function convertDataset(
  source: DatasetFile,
  worker: string,
  maxBytes: number,
  options: ConvertOptions = {},
): Promise<Converted> {
  return onDisk(convert(source, worker, maxBytes, options));
}

async function convert(
  source: DatasetFile,
  worker: string,
  maxBytes: number,
  options: ConvertOptions,
): Promise<Converted> {
  const input = await open(source.path, 'r');
  try {
    const files = new NewFiles(source.path, await modeOf(input, source));
    try {
      const output = await files.add();
      const { name, ext } = path.parse(source.path);
      const job = { inputFd: input.fd, sizeBytes: source.sizeBytes, extension: ext };
      const counts = await runThread(worker, { ...job, outputFd: output.fd, maxBytes }, options);
      await modeOf(input, source);
      throwIfCancelled(options.signal);
      const isJsonl = /^\.(jsonl|ndjson)$/i.test(ext);
      const [file = ''] = await files.name([
        isJsonl ? `${name}.${counts.isUtf16 ? 'utf-8' : 'lines'}` : name,
      ]);
      return { path: file, rows: counts.rows, ragged: counts.ragged };
    } finally {
      await files.dispose();
    }
  } finally {
    await input.close();
  }
}

/** Runs a thread until it has converted the file, failed, or is canceled. Afterwards it no longer uses the files. */
async function runThread(
  worker: string,
  job: ConvertJob,
  { signal, onProgress }: ConvertOptions,
): Promise<ConvertCounts> {
  throwIfCancelled(signal);
  const thread = new Worker(worker, {
    workerData: job,
    resourceLimits: HEAP_MIB,
  });
  const { promise, resolve, reject } = Promise.withResolvers<ConvertCounts>();
  thread.on('message', (answer: ConvertAnswer) => {
    if (answer.kind === 'progress') onProgress?.(answer.fraction);
    else if (answer.kind === 'done') resolve(answer.counts);
    else
      reject(
        answer.kind === 'failed' ? new ConvertError(answer.code, answer.row) : new CheckError('changing'),
      );
  });
  thread.on('error', reject);
  thread.on('exit', () => reject(new Error('the thread ended without an answer')));
  try {
    return await unlessCancelled(promise, signal);
  } finally {
    await thread.terminate();
  }
}
