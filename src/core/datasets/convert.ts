import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { onDisk } from '../base/diskError.ts';
import { ExpectedError, throwIfCancelled } from '../base/errors.ts';
import { runThread } from '../base/thread.ts';
import type { Encoding } from './encodings.ts';
import { modeOf, type DatasetFile } from './fileKind.ts';
import { NewFiles } from './newFiles.ts';
import type { Columns } from './otherForms.ts';
import { CheckError } from './report.ts';
import type { LeftOutRow } from './requestShapes.ts';
import type { RowCounts } from './rowStage.ts';

export { ENCODINGS, type Encoding } from './encodings.ts';
export type { Columns, LeftOutRow };

/** Enough for the longest row of a table, even if each of its bytes is a value. The objects of earlier rows die young. */
const HEAP_MIB = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 8 } as const;

/** The most columns of a spreadsheet. */
export const MAX_COLUMNS = 16_384;

/** The most requests in a batch's input; only their places are kept in memory. Services take at most 100,000. */
export const MAX_REQUESTS = 1_000_000;

/** What the user answered. */
export interface ConvertAnswers {
  /** The encoding of a file that is neither UTF-8 nor UTF-16. */
  encoding?: Encoding | undefined;
  /** Which list of an object has the rows. */
  part?: string | undefined;
  /** The columns of a table that become chat, or `all` to keep all as they are. Asked if no name is a training field. */
  columns?: Columns | 'all' | undefined;
}

/** An open file to convert, and the open file to write. */
export interface ConvertJob extends ConvertAnswers {
  inputFd: number;
  sizeBytes: number;
  /** With its dot. */
  extension: string;
  outputFd: number;
  /** The most that the new file may have. */
  maxBytes: number;
  /** The open input of a batch, which has the requests. */
  batchInput?: { inputFd: number; sizeBytes: number } | undefined;
}

/** What a conversion did. */
export interface ConvertCounts extends RowCounts {
  /** Whether rows of another form became chat. */
  isChat: boolean;
  /** The file's encoding, unless it is UTF-8. */
  encoding: Encoding | 'utf-16' | undefined;
  /** The first column of a table that has values in Python's notation. */
  python: string | undefined;
}

/**
 * Why a file can't be converted to JSONL. `unknown`: it is neither JSON nor a table. `ragged`: no row of a table has as many
 * values as its header. `quote`: a quote inside a value isn't doubled. `too-large`: the result would exceed the limit.
 * `too-much`: too many messages to group, or one object that is too large. `needs-…`: the user has to answer. `no-answers`: no
 * row has an answer. `only-requests`: it is a batch's input.
 */
export type ConvertFailure = Question | BrokenFile | BrokenTable | NoAnswers | 'too-large' | 'too-much';

type Question = 'needs-input' | 'needs-encoding' | 'needs-part' | 'needs-columns';
type BrokenFile = 'unknown' | 'not-json' | 'not-objects' | 'not-encoding' | 'utf-32' | 'no-rows';
type BrokenTable = 'ragged' | 'too-many-columns' | 'row-too-long' | 'quote' | 'quote-not-closed';
type NoAnswers = 'only-requests' | 'no-answers' | 'too-many-requests';

/** Thrown if a file can't be converted; nothing was written. */
export class ConvertError extends ExpectedError {
  readonly code: ConvertFailure;
  /** The row of a table that can't be read; the header is row 1. */
  readonly row: number | undefined;
  /** What the user can choose from: names, or the first lines in each encoding. */
  readonly choices: readonly string[];
  /** With `no-answers`. */
  readonly counts: ConvertCounts | undefined;

  constructor(code: ConvertFailure, more: Partial<Pick<ConvertError, 'row' | 'choices' | 'counts'>> = {}) {
    super(`the file could not be converted: ${code}`);
    this.code = code;
    this.row = more.row;
    this.choices = more.choices ?? [];
    this.counts = more.counts;
  }
}

export interface ConvertOptions extends ConvertAnswers {
  signal?: AbortSignal;
  /** Called with the fraction done, from 0 to 1. */
  onProgress?: (fraction: number) => void;
  /** The inspected input of a batch, if the user chose one. */
  batchInput?: DatasetFile | undefined;
}

/** The new file, its rows, and rows that are left out. */
export interface ConvertedFile extends ConvertCounts {
  path: string;
}

/** An error as plain data, for the other thread. `changing`: the file was written to meanwhile. */
export type ConvertFault = Pick<ConvertError, 'code' | 'row' | 'choices'> | 'changing';

/**
 * Writes the rows of an inspected file (JSON or a table) as JSONL beside it. Objects are copied byte for byte, values of a table
 * become strings, and requests with their answers become chat. Never replaces a file, and names the new one only when it is
 * complete.
 * @param worker the script of the thread
 * @param maxBytes the most that the new file may have
 * @throws ConvertError; CheckError `changing`; DiskError; CancelledError
 */
export function convertDataset(
  source: DatasetFile,
  worker: string,
  maxBytes: number,
  options: ConvertOptions = {},
): Promise<ConvertedFile> {
  return onDisk(convert(source, worker, maxBytes, options));
}

async function convert(
  source: DatasetFile,
  worker: string,
  maxBytes: number,
  options: ConvertOptions,
): Promise<ConvertedFile> {
  const handles: FileHandle[] = [];
  const opened = async (file: DatasetFile) => {
    const handle = await open(file.path, 'r');
    handles.push(handle);
    return { handle, file, mode: await modeOf(handle, file) };
  };
  try {
    const input = await opened(source);
    const batch = options.batchInput && (await opened(options.batchInput));
    const files = new NewFiles(source.path, input.mode);
    try {
      const output = await files.add();
      const { name, ext } = path.parse(source.path);
      const job = { inputFd: input.handle.fd, sizeBytes: source.sizeBytes, extension: ext };
      const batchInput = batch && { inputFd: batch.handle.fd, sizeBytes: batch.file.sizeBytes };
      const { encoding, part, columns, ...run } = options;
      const counts = await runThread<number, ConvertCounts, ConvertFault>(
        worker,
        { ...job, outputFd: output.fd, maxBytes, batchInput, encoding, part, columns } satisfies ConvertJob,
        { limits: HEAP_MIB, errorOf, waitsForEnd: true, ...run },
      );
      await modeOf(input.handle, source);
      if (batch !== undefined) await modeOf(batch.handle, batch.file);
      throwIfCancelled(options.signal);
      if (counts.rows === 0) throw new ConvertError('no-answers', { counts });
      const isJsonl = /^\.(jsonl|ndjson)$/i.test(ext);
      const added = isJsonl ? (counts.encoding === undefined ? '.lines' : '.utf-8') : '';
      const [file = ''] = await files.name([name + (counts.isChat ? '.chat' : added)]);
      return { path: file, ...counts };
    } finally {
      await files.dispose();
    }
  } finally {
    for (const handle of handles) await handle.close();
  }
}

function errorOf(fault: ConvertFault): Error {
  return fault === 'changing' ? new CheckError('changing') : new ConvertError(fault.code, fault);
}
