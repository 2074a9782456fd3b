import { open } from 'node:fs/promises';
import path from 'node:path';
import { onDisk } from '../base/diskError.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { runThread } from '../base/thread.ts';
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

/** What the thread says of an error: of the conversion, or that the file was written to meanwhile. */
export type ConvertFault = { code: ConvertFailure; row: number | undefined } | 'changing';

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
      const counts = await runThread<number, ConvertCounts, ConvertFault>(
        worker,
        { ...job, outputFd: output.fd, maxBytes } satisfies ConvertJob,
        { limits: HEAP_MIB, errorOf, waitsForEnd: true, ...options },
      );
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

function errorOf(fault: ConvertFault): Error {
  return fault === 'changing' ? new CheckError('changing') : new ConvertError(fault.code, fault.row);
}
