import { open } from 'node:fs/promises';
import path from 'node:path';
import { onDisk } from '../base/diskError.ts';
import { ExpectedError, throwIfCancelled } from '../base/errors.ts';
import { runThread } from '../base/thread.ts';
import { modeOf, type DatasetFile } from './fileKind.ts';
import { NewFiles } from './newFiles.ts';
import { CheckError } from './report.ts';

/** Enough for the longest row of a table, if each of its bytes is a value. Objects of earlier rows needn't stay for long. */
const HEAP_MIB = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 8 } as const;

/** The most columns of a spreadsheet. */
export const MAX_COLUMNS = 16_384;

/** An open file to convert, and the open file to write. */
export interface ConvertJob {
  inputFd: number;
  sizeBytes: number;
  /** With its dot. */
  extension: string;
  outputFd: number;
  /** The most that the new file may have. */
  maxBytes: number;
}

/** What was written. */
export interface ConvertCounts {
  rows: number;
  /** Rows of a table with another number of values than its header; they are left out. */
  ragged: number;
  /** Whether the file was in UTF-16. */
  isUtf16: boolean;
}

/**
 * Why a file can't be converted to JSONL. `unknown`: it is neither JSON nor a table. `ragged`: no row of a table
 * has as many values as its header. `quote`: one is neither doubled nor at the start or end of its value. `too-large`: the
 * result would exceed the limit.
 */
export type ConvertFailure =
  | 'unknown'
  | 'not-json'
  | 'not-utf-8'
  | 'not-utf-16'
  | 'no-rows'
  | 'ragged'
  | 'too-large'
  | 'too-many-columns'
  | 'row-too-long'
  | 'quote'
  | 'quote-not-closed';

/** Thrown if a file can't be converted; nothing was written. */
export class ConvertError extends ExpectedError {
  readonly code: ConvertFailure;
  /** The row of a table that prevents it; the header is row 1. */
  readonly row: number | undefined;

  constructor(code: ConvertFailure, row?: number) {
    super(`the file could not be converted: ${code}`);
    this.code = code;
    this.row = row;
  }
}

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
