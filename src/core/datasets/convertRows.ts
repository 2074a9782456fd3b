import { createHash } from 'node:crypto';
import { readSync, writeSync } from 'node:fs';
import { ConvertError, MAX_REQUESTS, type ConvertCounts, type ConvertJob } from './convert.ts';
import { kindOf, SAMPLE_BYTES } from './fileKind.ts';
import { JsonRows, JsonToLines } from './jsonToLines.ts';
import { CheckError } from './report.ts';
import { convertRequests, requestRows, type RequestText } from './requestRows.ts';
import { batchId, isOnlyRequest, isRequestRow } from './requestShapes.ts';
import { tableOf } from './table.ts';
import { TableRows } from './tableRows.ts';

/** Bytes that are converted at a time. */
const SLICE_BYTES = 64 * 1024;

type Chunks = Iterable<Uint8Array>;
type Write = (lines: Uint8Array) => void;
type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';
type Counted = Omit<ConvertCounts, 'isUtf16'>;

/**
 * Converts JSON, a table, or requests and answers, in UTF-8 or UTF-16, to JSONL. It occupies its thread.
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
  const isUtf16 = encoding !== 'utf-8';
  const all = (onRead?: (bytes: number) => void) =>
    isUtf16 ? decoded(slices(job, onRead), encoding) : slices(job, onRead);
  const write = writerOf(job);
  const [first] = /^\s*\{/.test(text) ? requestRows(all()) : [];
  if (typeof first?.json === 'object' && isRequestRow(first.json.value)) {
    if (isOnlyRequest(first.json.value)) throw new ConvertError('only-requests');
    return { ...convertRequests(all(onProgress), requestsOf(job.batchInput), write), isUtf16 };
  }
  const { rows, ragged } = /^\s*[[{]/.test(text)
    ? convertJson(text, isUtf16, all(onProgress), write)
    : await convertTable(text, job.extension, decoded(slices(job, onProgress), encoding), write);
  if (rows === 0) throw new ConvertError(ragged > 0 ? 'ragged' : 'no-rows');
  return { rows, ragged, isUtf16 };
}

/** Indexes the input of a batch. If an ID has several requests, the last one counts. */
function requestsOf(input: ConvertJob['batchInput']): RequestText {
  // An ID may have megabytes.
  const keyOf = (id: string) => createHash('sha256').update(id).digest('base64');
  const places = new Map<string, readonly [offset: number, sizeBytes: number]>();
  for (const { offset, sizeBytes, json } of input === undefined ? [] : requestRows(slices(input))) {
    const id = typeof json === 'object' ? batchId(json.value) : undefined;
    if (id !== undefined) places.set(keyOf(id), [offset, sizeBytes]);
    if (places.size > MAX_REQUESTS) throw new ConvertError('too-many-requests');
  }
  return (id) => {
    if (input === undefined) throw new ConvertError('needs-input');
    const place = places.get(keyOf(id));
    return place && new TextDecoder().decode(read(input.inputFd, ...place));
  };
}

function convertJson(text: string, isUtf16: boolean, chunks: Chunks, write: Write): Counted {
  // Rows that need no other change are copied even if they aren't valid: the check of the new file finds where.
  const lines = isUtf16 && areRows(text) ? new JsonRows() : new JsonToLines();
  for (const chunk of chunks) write(lines.push(chunk));
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
  { inputFd, sizeBytes }: Pick<ConvertJob, 'inputFd' | 'sizeBytes'>,
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
