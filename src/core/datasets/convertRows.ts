import { readSync, writeSync } from 'node:fs';
import { ConvertError, type ConvertCounts, type ConvertJob } from './convert.ts';
import { kindOf, SAMPLE_BYTES } from './fileKind.ts';
import { JsonRows, JsonToLines } from './jsonToLines.ts';
import { CheckError } from './report.ts';
import { tableOf } from './table.ts';
import { TableRows } from './tableRows.ts';

/** Bytes that are converted at a time. */
const SLICE_BYTES = 64 * 1024;

type Chunks = Iterable<Uint8Array>;
type Write = (lines: Uint8Array) => void;
type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';
type Counted = Pick<ConvertCounts, 'rows' | 'ragged'>;

/**
 * Converts JSON or a table, in UTF-8 or UTF-16, to JSONL. It occupies its thread.
 * @param onProgress called with the bytes done
 * @throws ConvertError; CheckError `changing`; errors of the file system
 */
export async function convertRows(
  job: ConvertJob,
  onProgress?: (bytes: number) => void,
): Promise<ConvertCounts> {
  const sample = read(job.inputFd, 0, Math.min(SAMPLE_BYTES, job.sizeBytes));
  const encoding = encodingOf(sample);
  const text = new TextDecoder(encoding).decode(sample);
  const chunks = slices(job, onProgress);
  const write = writerOf(job);
  const { rows, ragged } = /^\s*[[{]/.test(text)
    ? convertJson(text, encoding, chunks, write)
    : await convertTable(text, job.extension, decoded(chunks, encoding), write);
  if (rows === 0) throw new ConvertError(ragged > 0 ? 'ragged' : 'no-rows');
  return { rows, ragged, isUtf16: encoding !== 'utf-8' };
}

function convertJson(text: string, encoding: Encoding, chunks: Chunks, write: Write): Counted {
  const isUtf8 = encoding === 'utf-8';
  // Rows that need no other change are copied even if they aren't valid: the check of the new file finds where.
  const lines = !isUtf8 && areRows(text) ? new JsonRows() : new JsonToLines();
  for (const chunk of isUtf8 ? chunks : decoded(chunks, encoding)) write(lines.push(chunk));
  write(lines.end());
  return { rows: lines.rows, ragged: 0 };
}

async function convertTable(text: string, extension: string, chunks: Chunks, write: Write): Promise<Counted> {
  const table = tableOf(text, extension);
  if (table === undefined) throw new ConvertError('unknown');
  const rows = new TableRows(table);
  await rows.convert(chunks, write);
  return rows;
}

/** @throws ConvertError `unknown` or `not-utf-8` if the bytes are neither UTF-8 nor UTF-16 */
function encodingOf(sample: Uint8Array): Encoding {
  const kind = kindOf(sample);
  if (kind === 'utf-32') throw new ConvertError('not-utf-8');
  if (kind === 'rows') return 'utf-8';
  if (kind !== 'utf-16') throw new ConvertError('unknown');
  const [first, second] = sample;
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const evenZeros = sample.filter((byte, index) => byte === 0 && index % 2 === 0).length;
  const zeros = sample.filter((byte) => byte === 0).length;
  return first === 0xff || 2 * evenZeros < zeros ? 'utf-16le' : 'utf-16be';
}

/** Whether most lines are rows: an object may stand on one line before others that don't. */
function areRows(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return 2 * lines.filter(isRow).length >= lines.length;
}

function isRow(line: string): boolean {
  try {
    return line.startsWith('{') && JSON.parse(line) !== null;
  } catch {
    return false;
  }
}

/** Returns the text in UTF-8. @throws ConvertError `not-utf-8` or `not-utf-16` at the first character that isn't valid */
function* decoded(chunks: Chunks, encoding: Encoding): Generator<Uint8Array> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = (chunk: Uint8Array, stream: boolean): string => {
    try {
      return decoder.decode(chunk, { stream });
    } catch {
      throw new ConvertError(encoding === 'utf-8' ? 'not-utf-8' : 'not-utf-16');
    }
  };
  for (const chunk of chunks) {
    const text = decode(chunk, true);
    yield encoding === 'utf-8' ? chunk : Buffer.from(text);
  }
  decode(new Uint8Array(), false);
}

/** Reads no further than the inspected size, so that a file which never ends can't fill the disk. */
function* slices(
  { inputFd, sizeBytes }: ConvertJob,
  onProgress?: (bytes: number) => void,
): Generator<Uint8Array> {
  for (let position = 0; position < sizeBytes;) {
    // In new memory each time: the parser keeps what it can't read yet.
    const slice = read(inputFd, position, Math.min(SLICE_BYTES, sizeBytes - position));
    yield slice;
    position += slice.length;
    onProgress?.(position);
  }
}

function read(fd: number, position: number, most: number): Uint8Array {
  const buffer = Buffer.allocUnsafe(most);
  const length = readSync(fd, buffer, 0, most, position);
  if (length === 0) throw new CheckError('changing');
  return buffer.subarray(0, length);
}

function writerOf({ outputFd, maxBytes }: ConvertJob): Write {
  let bytes = 0;
  return (lines) => {
    bytes += lines.length;
    if (bytes > maxBytes) throw new ConvertError('too-large');
    for (let at = 0; at < lines.length;) at += writeSync(outputFd, lines, at);
  };
}
